/* Manages the certificate. Every replica takes the leaf from the shared Secret. The leader keeps
 * the Secret right, and the CA bundle in the webhook configurations. It asks for one request after
 * the other; webhook_manager_http.c sends them. */
#ifndef TAFFRAIL_SERVER_WEBHOOK_MANAGER_H
#define TAFFRAIL_SERVER_WEBHOOK_MANAGER_H

#include "live/client.h"
#include "server/server.h"

struct webhook_manager_options {
    const struct webhook_manager_settings *settings;
    /* Serves the leaf from now on; false when that fails. again: it failed the last time, too. */
    bool (*serve)(void *context, const struct cert_pair *leaf, bool again, struct error *error);
    void *context;
};

struct webhook_manager_step {
    bool ask;         /* send request now; its answer follows */
    int64_t until_ms; /* else there is nothing to do until then */
    struct call_request request;
};

struct webhook_manager;
struct webhook_manager *webhook_manager_create(const struct webhook_manager_options *options)
    MUST_CHECK;                                                /* NULL: malloc */
void webhook_manager_destroy(struct webhook_manager *manager); /* NULL is fine */
/* What to do now. now_ms is monotonic; leads: this replica holds the Lease now. */
void webhook_manager_next(struct webhook_manager *manager, int64_t now_ms, int64_t now_unix_s,
                          bool leads, struct webhook_manager_step *step);
void webhook_manager_take(struct webhook_manager *manager, int64_t now_ms,
                          const struct call_answer *answer);

/* ---- reading and writing ----
 * Call these under a guard of the arena that holds the objects. */

/* The object in an answer, with a guard of its own; NULL: it is no object of that kind. */
const struct node *object_of(enum resource resource, struct text body, struct arena *arena);
void rotation_secret_read(const struct node *object, struct arena *arena,
                          struct rotation_secret *secret);
/* A configuration's webhook entries: those that call our service, and the names of the others. */
struct webhook_entries {
    const struct node **ours;
    size_t count;
    struct text others; /* "a, b"; empty: there are none */
};
struct webhook_entries entries_of(const struct webhook_manager_settings *settings,
                                  const struct node *configuration, struct arena *arena);
/* The bundle of the entry; empty: none that can be read. */
struct text bundle_of(const struct node *entry, struct arena *arena);
/* Another field manager that has written CA bundles there; empty: none. */
struct text bundle_manager(const struct node *configuration, struct arena *arena);
/* read (NULL: new) with other certificates. Its other keys stay. With its resourceVersion the write
 * succeeds only if nobody else has written since. */
struct text secret_body(const struct node *read, const struct webhook_manager_settings *settings,
                        const struct rotation_secret *secret, struct arena *arena);
/* The bundles of our entries and nothing else, so that this field manager owns nothing else, and
 * gives back what it owned before. Because of uid and resourceVersion the API server refuses it
 * when the configuration is gone, or is not the one that was read. */
struct text bundles_body(enum resource resource, const struct node *configuration,
                         const struct webhook_entries *entries, struct text bundle,
                         struct arena *arena);

/* ---- the state, for people ---- */

enum duty { DUTY_LEASE, DUTY_SECRET, DUTY_BUNDLE, DUTY_COUNT };
enum {
    CONFIGURATION_COUNT = 2, /* the validating and the mutating one */
    /* One for each duty, and one for each configuration's bundles, from DUTY_BUNDLE on. */
    MANAGER_PROBLEM_COUNT = DUTY_BUNDLE + CONFIGURATION_COUNT,
    MANAGER_PROBLEM_BYTES = 500,
};

struct webhook_manager_report {
    bool serving; /* a leaf of the Secret is in use */
    /* Of the CAs in ca.crt of the Secret, the newest first, the one that signed the leaf in use;
     * ca_count: none of them. */
    size_t signer, ca_count;
    bool leads;
    char holder[128];
    bool missing[CONFIGURATION_COUNT]; /* as the leader saw it */
    uint64_t failures[DUTY_COUNT], writes[DUTY_COUNT];
    char problem[MANAGER_PROBLEM_COUNT][MANAGER_PROBLEM_BYTES]; /* empty when all is well */
};
/* Everything except the Lease. */
void webhook_manager_report(const struct webhook_manager *manager,
                            struct webhook_manager_report *report);

struct webhook_manager_status *webhook_manager_status_create(
    const struct webhook_manager_settings *settings) MUST_CHECK;
void webhook_manager_status_destroy(struct webhook_manager_status *status); /* NULL is fine */
void webhook_manager_status_set(struct webhook_manager_status *status,
                                const struct webhook_manager_report *report);
/* False until there is a certificate; *why then says what it waits for, in the arena. */
bool webhook_manager_status_is_ready(struct webhook_manager_status *status, struct arena *arena,
                                     struct text *why);
/* Adds "; certificates: ..." to the line of /readyz, without its end. */
void webhook_manager_status_add_line(struct webhook_manager_status *status,
                                     struct text_builder *out);
void webhook_manager_status_add_metrics(struct webhook_manager_status *status,
                                        struct text_builder *out);

#endif
