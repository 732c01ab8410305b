/* server: HTTPS in, answer out. review.c is the engine, bytes to bytes; http.c is libmicrohttpd and
 * its limits. */
#ifndef TAFFRAIL_SERVER_SERVER_H
#define TAFFRAIL_SERVER_SERVER_H

#include "certs/certs.h"
#include "policy/policy.h"

struct manifests;

/* ---- world: what decisions depend on ---- */

struct world_options {
    const char *const *policy_paths;
    size_t policy_path_count;
    const struct policy_text *policy_texts; /* beside them; they must outlive the world */
    size_t policy_text_count;
    const char *state_dir;    /* NULL: no cluster is visible */
    const char *catalog_file; /* NULL: the built-in catalogue */
    /* Objects of a cluster that was listed (NULL: none), and the kinds of which there may be
     * others. They must outlive the world. */
    const struct manifests *listed;
    kind_set unseen;
    /* Objects of a change; they are visible besides the state and win over it; NULL: none. Must
     * outlive the world. */
    const struct manifests *change;
    int64_t today_unix_s; /* where it is later than now_unix_s: what maxDuration counts from */
    bool serves;          /* requests have a user, so it matters which owners can be seen */
    bool watches;         /* there will also be a watched cluster */
};

/* Builds the next world completely and checks it. False when a policy, the catalogue or the state
 * folder is invalid: then *errors has every problem. Unreadable files of the state, and policy
 * values that cannot work, are warnings. world_destroy(world) frees it. */
bool world_load(const struct world_options *options, uint64_t generation, int64_t now_unix_s,
                struct world **world, struct problems *errors,
                struct problems *warnings) MUST_CHECK;
void world_destroy(void *world);
/* Whether a world's warning is about a part of the state that cannot be read, so that objects are
 * missing. */
bool world_warning_is_hole(const struct error *warning);
/* Those of a world of world_load. */
const struct problems *world_holes(const struct world *world);

/* ---- publish: worlds, one after the other ----
 * The threads that make parts of a world publish through it (publish.h). */

struct publisher;
struct publisher *publisher_create(unsigned slot_count) MUST_CHECK; /* NULL: malloc failed */
/* Destroys all worlds; call it when nobody answers, reloads or watches any more. NULL is fine. */
void publisher_destroy(struct publisher *publisher);
struct cell *publisher_cell(struct publisher *publisher);
/* Takes a world of world_load, the first or the next, and publishes it together with the current
 * view of a watched cluster. False: malloc failed, the caller owns the world again and the last one
 * stays. */
bool publisher_set_policies(struct publisher *publisher, struct world *rules) MUST_CHECK;

/* ---- review: the engine ---- */

enum review_phase { REVIEW_VALIDATE, REVIEW_MUTATE };

struct review_variables;
/* The result of a review, for metrics and the trail; texts are in the arena or in the body. */
struct review_record {
    struct text uid, operation, kind, namespace, name, user;
    bool dry_run, allowed;
    struct verdict verdict;
    /* Nothing was found, and Pods that differ in these alone get the same answer
     * (server/known_review.h). NULL: none do. */
    const struct review_variables *variables;
};

/* An AdmissionReview v1 in, the answer out (docs/reference/admission.md 1). Once uid and kind are
 * read it is decided, also at a limit (record->verdict.limit). The arena's watch returns enum
 * review_limit, and its reserve holds the answer when nothing else is left. False when no answer is
 * possible: the body is not a review or has no uid, or the caller's time is over (LIMIT_TIMEOUT,
 * LIMIT_CLIENT_GONE); *error then says why. The answer and the record are in the arena. */
bool review_answer(const struct world *world, enum review_phase phase, struct text body,
                   int64_t now_unix_s, struct arena *arena, struct text *answer,
                   struct review_record *record, struct error *error) MUST_CHECK;

/* One line of JSON for the trail (taffrail.dev/trail/v1), without the newline. */
struct text trail_line(const struct review_record *record, int64_t now_unix_ms,
                       struct arena *arena);
/* Writes it to standard output, without waiting for a reader. NULL, or why it is lost. */
const char *trail_write(struct text line) MUST_CHECK;

/* ---- metrics ---- */

struct metrics;
struct metrics *metrics_create(void) MUST_CHECK; /* NULL: malloc failed */
void metrics_destroy(struct metrics *metrics);
/* Lock-free; called by many threads. */
void metrics_count_review(struct metrics *metrics, enum review_phase phase,
                          const struct review_record *record, uint64_t micros, size_t body_bytes);
/* Counts one that was answered as a known one was, beside metrics_count_review. */
void metrics_count_known_review(struct metrics *metrics);
/* Counts a review that reached a limit and has no answer; one with an answer is counted with it. */
void metrics_count_limit(struct metrics *metrics, const struct verdict *verdict);
enum refusal {
    REFUSED_MALFORMED, /* not HTTP as the API server speaks it, or not a review */
    REFUSED_TOO_LARGE,
    REFUSED_OVERLOAD,
    REFUSED_TIMEOUT,     /* the caller's time ended before the verdict */
    REFUSED_CLIENT_GONE, /* the caller did not wait any more */
    REFUSAL_COUNT
};
void metrics_count_refusal(struct metrics *metrics, enum refusal refusal);
enum reload_subject { RELOAD_WORLD, RELOAD_CERTIFICATE, RELOAD_SUBJECT_COUNT };
void metrics_count_reload_failure(struct metrics *metrics, enum reload_subject subject);
/* Whether what was read last is no good. */
void metrics_set_reload_failing(struct metrics *metrics, enum reload_subject subject, bool failing);
void metrics_set_timeout(struct metrics *metrics, int64_t timeout_us); /* the caller's */
void metrics_set_in_flight(struct metrics *metrics, int64_t delta);
void metrics_set_body_bytes_in_flight(struct metrics *metrics, size_t bytes);
void metrics_set_world(struct metrics *metrics, uint64_t generation, int64_t loaded_unix_s);
void metrics_set_certificate(struct metrics *metrics, int64_t not_after_unix_s);
/* Prometheus text format. */
struct text metrics_text(const struct metrics *metrics, struct arena *arena);

/* ---- http ---- */

struct cluster_status;

struct server_options {
    const char *listen;     /* "ADDR:PORT"; port 0 takes any free one */
    const char *ops_listen; /* plain HTTP: /livez /readyz /metrics; NULL: none */
    struct cert_pair certificate;
    size_t body_limit_bytes;   /* 0: 40 MiB, more than the API server sends */
    unsigned connection_limit; /* 0: CONNECTIONS_MOST */
    unsigned review_limit;     /* judged at the same time; 0: 4 a core, at least 16 */
    /* Half of it for bodies, half for the arenas of reviews, each with a share of its own for small
     * ones; 0: 256 MiB. A request beyond it, or beyond the reviews, waits at most half a second and
     * then gets 429. */
    size_t bytes_in_flight_limit;
    unsigned request_timeout_s;    /* a whole request must have arrived by then; 0: 15 */
    struct metrics *metrics;       /* not owned */
    struct cluster_status *status; /* of a watched cluster, not owned; NULL: there is none */
    /* Of the certificate in a Secret, not owned; NULL: it does not come from one. Until that
     * certificate is there, /readyz is not ready. */
    struct webhook_manager_status *webhook_manager_status;
    struct reports_status *reports_status; /* not owned; NULL: no reports are written */
};

struct webhook_manager_status;
struct reports_status;
struct server;

/* The rights that a serving process still needs. */
enum process_need {
    PROCESS_BINDS, /* ports below 1024, if it may now */
    PROCESS_NEEDS_NOTHING
};

/* Gives up all other rights: new privileges, core dumps and debuggers, capabilities. Each thread
 * has its own capabilities, so call it before any other thread starts. */
bool process_confine(enum process_need need, struct error *error) MUST_CHECK;

/* Opens the ports, and starts no thread yet. The cell has at least server_slot_count() slots. */
bool server_open(const struct server_options *options, struct cell *world, struct server **server,
                 struct error *error) MUST_CHECK;
/* Starts answering; the world in the cell must have been published. A trail line for each review
 * with a finding goes to stdout. False: close the server. */
bool server_start(struct server *server, struct error *error) MUST_CHECK;
/* For a server that did not start, or need not be drained; NULL is fine. */
void server_close(struct server *server);
unsigned server_slot_count(const struct server_options *options);
uint16_t server_port(const struct server *server); /* the port really bound */
uint16_t server_ops_port(const struct server *server);
/* The certificate for new handshakes; one thread at a time. False when the pair is invalid: then
 * the one before stays. */
bool server_set_certificate(struct server *server, const struct cert_pair *certificate,
                            struct error *error) MUST_CHECK;
/* The last reload's failure for /readyz, in one line that is copied; NULL: it succeeded. */
void server_set_reload_failure(struct server *server, enum reload_subject subject,
                               const char *failure, int64_t failed_unix_s);
/* Stops without losing a reply. /readyz turns 503 and every reply says Connection: close. After
 * settle_ms accepting stops, and requests in flight are answered. At the deadline (counted from the
 * call) the remaining connections are closed. Frees the server. */
void server_drain(struct server *server, int64_t settle_ms, int64_t deadline_ms);

/* ---- reload -----------------------------------------------------------------------------------
 * A thread that watches a server's files. When they change, it builds the next world completely and
 * publishes it. Errors are reported in the log, a metric and /readyz, and the last good world
 * stays. */

struct reload_options {
    struct world_options world;              /* its texts must outlive the reload */
    const char *certificate_file, *key_file; /* NULL: the certificate does not change */
};

/* What the first load made. */
struct reload_target {
    struct publisher *publisher;
    struct server *server;
    struct metrics *metrics;
    uint64_t generation;
};

struct reload;
/* Call it before the first world and the certificate are loaded: changes from here on are noticed.
 */
bool reload_create(const struct reload_options *options, struct reload **reload,
                   struct error *error) MUST_CHECK;
/* From here on nobody else sets rules or the certificate. */
bool reload_start(struct reload *reload, const struct reload_target *target,
                  struct error *error) MUST_CHECK;
void reload_now(struct reload *reload);     /* tries again what was refused, too */
void reload_stop(struct reload *reload);    /* before the server is drained */
void reload_destroy(struct reload *reload); /* stops it too; NULL is fine */
/* Most problems that a list for the log needs; those that it leaves out are counted, too. */
enum { LOGGED_PROBLEMS_MOST = LOG_LINES_A_SECOND };
/* A line for each of a few problems, in their order; of many, the last line says how many more
 * there are. A problem is the message of its line, or with a message its error. */
void log_problems(enum log_level level, const char *component, const char *message,
                  const struct problems *problems);

/* ---- cluster ----------------------------------------------------------------------------------
 * A thread that watches a cluster and publishes what it shows. Before the first look, and for
 * unreadable kinds, nothing is seen, and what depends on them is not decided. */

/* The cluster's state for the ops port. */
struct cluster_status *cluster_status_create(void) MUST_CHECK; /* NULL: malloc failed */
void cluster_status_destroy(struct cluster_status *status);    /* NULL is fine */

struct client_config;
struct informer_thread;
/* After that, destroy the publisher before the cluster. */
bool informer_thread_create(const struct client_config *config, struct publisher *publisher,
                            struct cluster_status *status, struct informer_thread **cluster,
                            struct error *error) MUST_CHECK;
bool informer_thread_start(struct informer_thread *cluster, struct error *error) MUST_CHECK;
void informer_thread_stop(struct informer_thread *cluster);    /* NULL is fine */
void informer_thread_destroy(struct informer_thread *cluster); /* likewise */

/* ---- webhook manager --------------------------------------------------------------------------
 * A thread that serves the certificate of a Secret, and elects one replica by a Lease. The elected
 * replica keeps the Secret and the CA bundles of the webhook configurations right
 * (webhook_manager.h). Without a Secret it only elects, for those who write reports. */

struct webhook_manager_settings {
    const char *namespace;
    const char *secret; /* NULL: the certificate does not come from one */
    const char *lease_namespace, *lease;
    int64_t lease_duration_ms, renew_deadline_ms, retry_ms;
    const char *configuration; /* the name of both webhook configurations */
    const char *service;       /* in namespace; entries that call another service are left alone */
    struct cert_names names;   /* of the certificate */
    struct rotation_times times;
};

struct webhook_thread;
/* *settings must outlive it. The status is server_options.webhook_manager_status. */
bool webhook_thread_create(const struct client_config *config,
                           const struct webhook_manager_settings *settings,
                           struct webhook_manager_status *status,
                           struct webhook_thread **webhook_thread, struct error *error) MUST_CHECK;
bool webhook_thread_start(struct webhook_thread *webhook_thread, struct server *server,
                          struct metrics *metrics, struct error *error) MUST_CHECK;
/* From here on it does not use the server, which may be drained, and begins to give the Lease back;
 * NULL is fine. */
void webhook_thread_leave(struct webhook_thread *webhook_thread);
void webhook_thread_stop(
    struct webhook_thread *webhook_thread); /* leaves, too, and waits for it, 2 s at most */
void webhook_thread_destroy(struct webhook_thread *webhook_thread); /* likewise */
/* Whether this replica is the elected one. Called by any thread. */
bool webhook_thread_leads(const struct webhook_thread *webhook_thread);

/* ---- reports ----------------------------------------------------------------------------------
 * A thread of the elected replica that audits the cluster and writes reports (reports.h). */

struct reports_status *reports_status_create(void) MUST_CHECK; /* NULL: malloc failed */
void reports_status_destroy(struct reports_status *status);    /* NULL is fine */

struct reports_options {
    int64_t interval_s;                    /* between two audits */
    const struct webhook_thread *election; /* who leads writes */
    struct cell *worlds;
    unsigned slot; /* of the cell, for this thread */
    struct cluster_status *cluster;
    struct reports_status *status;
};
struct reports_thread;
bool reports_thread_create(const struct client_config *config,
                           const struct reports_options *options, struct reports_thread **thread,
                           struct error *error) MUST_CHECK;
bool reports_thread_start(struct reports_thread *thread, struct error *error) MUST_CHECK;
/* Breaks off what it does; NULL is fine. */
void reports_thread_stop(struct reports_thread *thread);
void reports_thread_destroy(struct reports_thread *thread); /* likewise */

#endif
