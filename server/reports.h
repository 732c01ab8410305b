/* What the elected replica reports: it audits the cluster now and then, and writes a report for
 * each namespace. A thread of its own does it, with a connection of its own, and no review waits
 * for it.
 *
 *   reports_audit.c   judges objects, keeps what is found by namespace
 *   reports_list.c    lists the objects
 *   reports_write.c   compares with the reports that are there, and writes
 *   reports_thread.c  when, and from when to when
 *   reports_status.c  what people and Prometheus see of it */
#ifndef TAFFRAIL_SERVER_REPORTS_H
#define TAFFRAIL_SERVER_REPORTS_H

#include "live/client.h"
#include "report/openreports.h"
#include "server/server.h"

/* ---- auditing: objects in, findings by namespace out ---- */

struct reports_audit;
/* bytes: for all findings that are kept. NULL: malloc failed. */
struct reports_audit *reports_audit_create(size_t bytes) MUST_CHECK;
void reports_audit_destroy(struct reports_audit *audit); /* NULL is fine */
/* Forgets the audit before. */
void reports_audit_begin(struct reports_audit *audit, int64_t now_unix_s);
/* Put owners before what is made of them. */
void reports_audit_put(struct reports_audit *audit, const struct world *world,
                       const struct object *object);
/* These are not audited; why is for people. */
void reports_audit_miss(struct reports_audit *audit, const char *plural, const char *why);

/* A report has at most so many results, and so many bytes: etcd takes 1.5 MB. */
enum { REPORT_RESULTS_MAX = 500, REPORT_BYTES_MAX = 768 << 10 };
size_t reports_audit_space_count(const struct reports_audit *audit);
/* The space as a report has it, with at most that many results. Under a guard of the arena. */
struct report_space reports_audit_space(const struct reports_audit *audit, size_t index,
                                        size_t results_max, struct arena *arena);

struct reports_audit_sums {
    size_t object_count, unjudged_count, finding_count;
    size_t lost; /* findings for which there was no memory, and that no space counts */
    char unjudged[200];
    const size_t (*of)[AUDIT_OUTCOMES]; /* findings of each rail, in their order */
};
struct reports_audit_sums reports_audit_sums(const struct reports_audit *audit);

/* ---- asking the API server ---- */

struct reports_link {
    struct client *client;
    bool (*goes_on)(void *context); /* false: the replica leads no more, or ends */
    void *context;
    bool answered;
    struct call_answer answer;
    char *body; /* of the answer */
};
/* Waits. False: it is over. */
bool reports_wait(struct reports_link *link, int64_t for_ms) MUST_CHECK;
/* Asks, and asks again what the server had no time for. The answer is valid until the next one.
 * False: it is over. */
bool reports_ask(struct reports_link *link, const struct call_request *request) MUST_CHECK;

/* Lists what the policies judge, and puts it into the audit. False with *error: nothing can be said
 * of the cluster now (ERROR_NONE: it is over, or the policies changed meanwhile). */
bool reports_list(struct reports_link *link, struct cell *worlds, unsigned slot,
                  struct reports_audit *audit, struct error *error) MUST_CHECK;

/* ---- writing ---- */

struct reports_writer;
struct reports_writer *reports_writer_create(void) MUST_CHECK; /* NULL: malloc failed */
void reports_writer_destroy(struct reports_writer *writer);    /* NULL is fine */

#define REPORTS_NO_API REPORT_API_COUNT
enum { REPORTS_PROBLEM_BYTES = 480 };
/* Which API the server has, the newer one first; REPORTS_NO_API: neither. False with *error. */
bool reports_discover(struct reports_link *link, enum report_api *api,
                      struct error *error) MUST_CHECK;
struct reports_written {
    uint64_t written, unchanged, removed, failed;
    size_t left_out;                     /* findings that no report holds */
    char problem[REPORTS_PROBLEM_BYTES]; /* the last one; empty: none */
};
/* Makes the reports in the cluster those of the audit. False with *error: it broke off. */
bool reports_write(struct reports_writer *writer, struct reports_link *link, enum report_api api,
                   const struct reports_audit *audit, struct reports_written *written,
                   struct error *error) MUST_CHECK;

/* ---- the state, for people ---- */

struct reports_report {
    bool leads;
    enum report_api api; /* REPORTS_NO_API: none, or not known */
    bool looked;         /* for an API */
    int64_t interval_s;
    int64_t succeeded_unix_s;       /* when the reports were last known to be right; 0: never */
    int64_t audit_ms;               /* the length of the last audit */
    struct reports_written written; /* since the start */
    uint64_t audits, failures;
    size_t object_count, left_out, report_count;
    char problem[REPORTS_PROBLEM_BYTES];
};
void reports_status_set(struct reports_status *status, const struct reports_report *report,
                        const struct reports_audit_sums *sums); /* sums NULL: as before */
/* Adds "; reports: ..." to the line of /readyz, without its end. */
void reports_status_add_line(struct reports_status *status, struct text_builder *out);
void reports_status_add_metrics(struct reports_status *status, struct text_builder *out);

#endif
