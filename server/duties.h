/* What is done around the certificate: every replica takes the leaf from the Secret that all share;
 * the one that leads keeps the Secret right, and the CA bundle in the webhook configurations. It
 * asks for one request after the other; duties_http.c sends them. */
#ifndef TAFFRAIL_SERVER_DUTIES_H
#define TAFFRAIL_SERVER_DUTIES_H

#include "live/client.h"
#include "server/server.h"

struct duties_options {
    const struct duties_settings *settings;
    /* Serves the leaf from now on; false when it cannot be. again: nor could it the last time. */
    bool (*serve)(void *context, const struct cert_pair *leaf, bool again, struct error *error);
    void *context;
};

struct duties_step {
    bool ask;         /* send request now; its answer follows */
    int64_t until_ms; /* else there is nothing to do until then */
    struct call_request request;
};

struct duties;
struct duties *duties_create(const struct duties_options *options) MUST_CHECK; /* NULL: malloc */
void duties_destroy(struct duties *duties);                                    /* NULL is fine */
/* What to do now. now_ms only goes forward; leads: now, by the Lease. */
void duties_next(struct duties *duties, int64_t now_ms, int64_t now_unix_s, bool leads,
                 struct duties_step *step);
void duties_take(struct duties *duties, int64_t now_ms, const struct call_answer *answer);

/* ---- what is read and written ----
 * Under a guard of the arena, in which all of it lies. */

/* Of an answer, with a guard of its own; NULL: it is no object of that kind. */
const struct node *object_of(enum resource resource, struct text body, struct arena *arena);
void rotation_secret_read(const struct node *object, struct arena *arena,
                          struct rotation_secret *secret);
/* A configuration's webhook entries: those that call our service, and the names of the others. */
struct webhook_entries {
    const struct node **ours;
    size_t count;
    struct text others; /* "a, b"; empty: there are none */
};
struct webhook_entries entries_of(const struct duties_settings *settings,
                                  const struct node *configuration, struct arena *arena);
/* What the entry trusts; empty: nothing that can be read. */
struct text bundle_of(const struct node *entry, struct arena *arena);
/* Another field manager that has written CA bundles there; empty: none. */
struct text bundle_manager(const struct node *configuration, struct arena *arena);
/* read (NULL: it is made) with other certificates. What else the Secret has stays, and with its
 * resourceVersion it is written only where nobody else has written since. */
struct text secret_body(const struct node *read, const struct duties_settings *settings,
                        const struct rotation_secret *secret, struct arena *arena);
/* The bundles of our entries and nothing else, so that nothing else becomes this field manager's,
 * and what was becomes its owner's again. By uid and resourceVersion it is refused where the
 * configuration is gone, or is not the one that was read.
 */
struct text bundles_body(enum resource resource, const struct node *configuration,
                         const struct webhook_entries *entries, struct text bundle,
                         struct arena *arena);

/* ---- what is known of it, for people ---- */

enum duty { DUTY_LEASE, DUTY_SECRET, DUTY_BUNDLE, DUTY_COUNT };
enum {
    CONFIGURATION_COUNT = 2, /* the validating and the mutating one */
    /* One for each duty, but of the bundles one for each configuration, from DUTY_BUNDLE on. */
    DUTIES_PROBLEM_COUNT = DUTY_BUNDLE + CONFIGURATION_COUNT,
    DUTIES_PROBLEM_BYTES = 500,
};

struct duties_status {
    bool serving; /* a leaf of the Secret has been taken */
    bool leads;
    char holder[128];
    bool missing[CONFIGURATION_COUNT]; /* as the one that leads saw it */
    uint64_t failures[DUTY_COUNT], writes[DUTY_COUNT];
    char problem[DUTIES_PROBLEM_COUNT][DUTIES_PROBLEM_BYTES]; /* empty when all is well */
};
/* All but what is of the Lease. */
void duties_report(const struct duties *duties, struct duties_status *status);

struct duties_board *duties_board_create(const struct duties_settings *settings) MUST_CHECK;
void duties_board_destroy(struct duties_board *board); /* NULL is fine */
void duties_board_set(struct duties_board *board, const struct duties_status *status);
/* False until there is a certificate; *why then says what is waited for, in the arena. */
bool duties_board_is_ready(struct duties_board *board, struct arena *arena, struct text *why);
/* "; certificates: ..." on the line of /readyz, without its end. */
void duties_board_add_line(struct duties_board *board, struct text_builder *out);
void duties_board_add_metrics(struct duties_board *board, struct text_builder *out);

#endif
