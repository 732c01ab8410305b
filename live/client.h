/* live: lists and watches an API server, writes single objects, and elects by a Lease who writes.
 * The state machines read no clock and open no socket (watcher_*, lease_*); client_* runs them over
 * HTTP. */
#ifndef TAFFRAIL_LIVE_CLIENT_H
#define TAFFRAIL_LIVE_CLIENT_H

#include "live/store.h"

struct store;
struct object;
struct exec_plugin;

/* ---- the API server's address and credentials ---- */

/* Empty text: not given. If there is a file and a PEM, the file counts. Each connection reads it
 * again; each request reads token_file again. */
struct client_config {
    struct text server; /* "https://10.0.0.1:443", without a slash at its end */
    struct text namespace;
    struct text ca_file, ca_pem;
    struct text certificate_file, certificate_pem, key_file, key_pem;
    struct text token_file, token;
    struct text username, password;
    struct text tls_server_name, proxy_url;
    struct text impersonation; /* headers, a line each (live/impersonation.h) */
    bool insecure;             /* does not check the server's identity */
    /* Whose credentials the API server is to be given, and are not known yet: a client is opened
     * without it (live/exec_credential.h). NULL: there is none. */
    const struct exec_plugin *exec;
    struct text origin; /* where it is from, for people: "the context prod of FILE" */
    /* The files and the context it was read from, to read them again when they change. */
    struct text kubeconfig, context;
};

/* Reads the context (NULL: the current one) of kubeconfig files, separated by colons as in
 * $KUBECONFIG. Of entries with one name the first counts. */
bool client_config_kubeconfig(const char *paths, const char *context, struct arena *arena,
                              struct client_config *config, struct error *error) MUST_CHECK;
/* Reads the service account of a Pod. folder is where its files are mounted (NULL: the usual one),
 * host and port are the values of $KUBERNETES_SERVICE_HOST and _PORT (NULL: not in a cluster). */
bool client_config_in_cluster(const char *folder, const char *host, const char *port,
                              struct arena *arena, struct client_config *config,
                              struct error *error) MUST_CHECK;

/* ---- events ---- */

/* Arguments are valid during the call. If a function returns false (memory ran out), the kind is
 * listed again later. */
struct event_handler {
    void *context;
    /* A list: put for each of its objects, then list_end. Objects that are missing from it are then
     * gone. A list that breaks off has no end; another begins. */
    bool (*list_begin)(void *context, enum kind kind);
    bool (*list_end)(void *context, enum kind kind);
    bool (*put)(void *context, const struct object *object);
    /* The object exists and cannot be read. Only kind, namespace and name of *object are known. */
    bool (*put_unreadable)(void *context, const struct object *object, const char *why);
    /* Only kind, namespace and name of *object are known. */
    bool (*remove)(void *context, const struct object *object);
    /* A message for people, once when a problem begins and once when it is over. May be NULL. */
    void (*say)(void *context, enum kind kind, enum log_level level, const char *message);
};

struct watch_report {
    bool synced;             /* one list was complete */
    bool degraded;           /* may not be read, or does not exist; asked for again now and then */
    unsigned refused_status; /* 403 or 404 when it is degraded, else 0 */
    bool listing;            /* some pages of a list have arrived, and more follow */
    bool watching;           /* a watch is open, or was until the open list that follows it */
    int64_t age_ms;          /* since it was last known to be current; -1: never */
    uint64_t lists, events, failures;
    char problem[200]; /* the last one; empty when all is well */
};

/* ---- one kind, bytes in, events out ---- */

/* The bytes that several kinds hold until they are read; zero-initialise all but the limit. It
 * outlives the watchers. */
struct watch_budget {
    size_t limit_bytes, used_bytes;
    const void *senior; /* the one that never waits */
};

struct watch_settings {
    size_t page_objects;     /* of a list; 0: 500 */
    size_t page_bytes_max;   /* after a larger page the next one is half as long; 0: 64 MiB */
    size_t object_bytes_max; /* a larger one is unreadable; 0: 16 MiB */
    int64_t list_idle_ms,
        watch_idle_ms;           /* after this time without a byte it is dead; 0: 30 s, 180 s */
    int64_t watch_quiet_ms;      /* a watch that brings nothing from its beginning is followed by a
                                    list after this time; 0: 180 s */
    uint64_t seed;               /* for the jitter */
    struct watch_budget *budget; /* NULL: none */
    bool whole;                  /* passes on whole objects, and not only the stored fields */
    const struct custom_kind
        *custom; /* which custom owner the kind is; NULL: a built-in kind; copied */
};

struct watcher;
/* NULL: malloc failed. *handler is copied. */
struct watcher *watcher_create(enum kind kind, const struct watch_settings *settings,
                               const struct event_handler *handler) MUST_CHECK;
void watcher_destroy(struct watcher *watcher);

enum watch_step_kind {
    WATCH_WAIT, /* until until_ms, or until something arrives */
    WATCH_SEND, /* GET path now; head, bytes and end follow */
    WATCH_CUT,  /* abort the request: it is dead. No end follows. Call again at once */
};
struct watch_step {
    enum watch_step_kind kind;
    int64_t until_ms;
    const char *path; /* and query, from "/api"; valid until the next call */
    bool stream;      /* a watch: no time limit, no compression */
    bool metadata;    /* ask for the objects' metadata only */
};
/* What to do now. Times are of a monotonic clock. */
void watcher_next(struct watcher *watcher, int64_t now_ms, struct watch_step *step);
/* The status of the answer has arrived. */
void watcher_head(struct watcher *watcher, int64_t now_ms, unsigned status);
/* A part of the body, cut anywhere. False: abort the request, no end follows. */
bool watcher_bytes(struct watcher *watcher, int64_t now_ms, struct text bytes) MUST_CHECK;
/* The answer is over: complete (failure NULL), or failed. retry_after_s is the value of that
 * header; 0: none. */
void watcher_end(struct watcher *watcher, int64_t now_ms, const char *failure,
                 int64_t retry_after_s);
/* Lists again, as soon as no request is open; abort the open one. */
void watcher_list_again(struct watcher *watcher, int64_t now_ms);
/* The open request was aborted, and nothing is wrong: sends it again; a list begins anew. */
void watcher_ask_again(struct watcher *watcher, int64_t now_ms);
/* Whether no more bytes may come now, because others hold too much. */
bool watcher_waits(struct watcher *watcher);
void watcher_report(const struct watcher *watcher, int64_t now_ms, struct watch_report *report);
/* The bytes it holds between two calls. */
size_t watcher_used_bytes(const struct watcher *watcher);

/* ---- over HTTP ---- */

struct client;
/* Not thread-safe except client_wake. *config is copied. now_ms is a monotonic clock (NULL: the
 * system's). */
bool client_open(const struct client_config *config, int64_t (*now_ms)(void),
                 struct client **client, struct error *error) MUST_CHECK;
void client_close(struct client *client); /* NULL is fine */
bool client_watch(struct client *client, enum kind kind, const struct watch_settings *settings,
                  const struct event_handler *handler, struct error *error) MUST_CHECK;
/* Stops watching the kind; earlier events stay valid. */
void client_unwatch(struct client *client, enum kind kind);
/* Works for for_ms, or until client_wake; calls the event handlers on this thread. */
bool client_run(struct client *client, int64_t for_ms, struct error *error) MUST_CHECK;
void client_wake(struct client *client);
/* Makes the client list a kind again. */
void client_list_again(struct client *client, enum kind kind);
/* False: the kind is not watched. */
bool client_report(const struct client *client, enum kind kind, struct watch_report *report);

/* ---- one object, read or written ---- */

/* The kinds that are written, and read before that. */
enum resource {
    RESOURCE_CONFIG_MAP, /* only read */
    RESOURCE_SECRET,
    RESOURCE_LEASE,
    RESOURCE_VALIDATING_CONFIGURATION,
    RESOURCE_MUTATING_CONFIGURATION,
    RESOURCE_REPORT,
    RESOURCE_CLUSTER_REPORT,
    RESOURCE_POLICY_REPORT,
    RESOURCE_CLUSTER_POLICY_REPORT,
    RESOURCE_COUNT
};
struct resource_info {
    const char *api_version, *kind, *plural;
    bool namespaced;
};
extern const struct resource_info resource_table[RESOURCE_COUNT];

enum call_verb {
    CALL_GET,
    CALL_CREATE,   /* POST */
    CALL_UPDATE,   /* PUT: the body's metadata.resourceVersion must be the current one */
    CALL_APPLY,    /* server-side apply by the field manager "taffrail", which takes fields over */
    CALL_DELETE,   /* the body is DeleteOptions */
    CALL_LIST,     /* the metadata of the objects of that name in all namespaces, a page of them */
    CALL_SELECT,   /* those of the namespace that the label selector in `name` selects, in one */
    CALL_DISCOVER, /* the APIResourceList of the group and version; of no object */
};
struct call_request {
    enum call_verb verb;
    enum resource resource;
    const char *namespace; /* "" for one without */
    const char *name;
    struct text body;           /* JSON; empty to get */
    int64_t limit_ms;           /* the time it may take; 0: 10 s */
    const char *continue_token; /* of CALL_LIST: the page after it; NULL: the first one */
};

enum call_result {
    CALL_DONE,
    CALL_MISSING,   /* 404: the object, or its namespace, does not exist */
    CALL_CONFLICT,  /* 409: it exists already, or has changed since it was read */
    CALL_FORBIDDEN, /* 401, 403 */
    CALL_INVALID,   /* 400, 422: the same request would be refused again */
    CALL_BUSY,      /* 429, and 503 with a time to come back: nothing was done */
    CALL_FAILED,    /* anything else: it may have been done or not */
};
struct call_answer {
    enum call_result result;
    unsigned status;       /* of HTTP; 0: no answer */
    struct text body;      /* of CALL_DONE: the object */
    int64_t retry_after_s; /* of CALL_BUSY, at most 5 minutes */
    char problem[200];     /* for people; empty when done */
};
enum { CALL_PATH_BYTES = 8192 };
/* Path and query of the request. False: a name does not fit. */
bool call_path(const struct call_request *request, char path[static CALL_PATH_BYTES]) MUST_CHECK;
/* Sets the answer from a status and a body, or from a failure. */
void call_read(unsigned status, struct text body, int64_t retry_after_s, const char *failure,
               struct call_answer *answer);

/* ---- a Lease: which one of several writes ---- */

struct lease_settings {
    const char *identity; /* of this process alone, different after a restart */
    const char *namespace, *name;
    /* The holder writes each retry_ms, and stops when it could not for renew_deadline_ms. The
     * others take over when nothing was written for duration_ms, which is in whole seconds. */
    int64_t duration_ms, renew_deadline_ms, retry_ms;
};
/* False: two could lead at once, or nobody could. */
bool lease_settings_check(const struct lease_settings *settings, struct error *error) MUST_CHECK;

struct lease;
/* NULL: malloc failed. *settings is copied, its texts must outlive the lease. */
struct lease *lease_create(const struct lease_settings *settings) MUST_CHECK;
void lease_destroy(struct lease *lease); /* NULL is fine */

struct lease_step {
    bool ask;         /* send request now; its answer follows */
    int64_t until_ms; /* else there is nothing to do until then */
    struct call_request request;
};
/* What to do now. now_ms is of a monotonic clock. now_unix_us is written for people and never
 * compared. */
void lease_next(struct lease *lease, int64_t now_ms, int64_t now_unix_us, struct lease_step *step);
/* random is any number: the wait is 1 to 2.2 times retry_ms. */
void lease_take(struct lease *lease, int64_t now_ms, uint64_t random,
                const struct call_answer *answer);
/* Whether this process leads: ask again before each write. */
bool lease_leads(const struct lease *lease, int64_t now_ms);
/* It stops leading now; the next request gives the lease back at once, if possible. */
void lease_release(struct lease *lease);

struct lease_report {
    char holder[128];    /* as last seen; empty: nobody, or unknown */
    int64_t transitions; /* how often the holder changed; -1: unknown */
    uint64_t failures;   /* requests that neither wrote nor found another holder */
    char problem[200];   /* the last one; empty when all is well */
};
void lease_report(const struct lease *lease, struct lease_report *report);

/* ---- over HTTP ---- */

/* Sends the request. client_run calls answered once, with data that is valid during the call,
 * unless the client is closed or drops its calls before. *request is copied. */
bool client_call(struct client *client, const struct call_request *request,
                 void (*answered)(void *context, const struct call_answer *answer), void *context,
                 struct error *error) MUST_CHECK;
/* Nobody waits for their answers any more, and none follows. The server may have read them. */
void client_drop_calls(struct client *client);

/* ---- a store that follows a cluster ---- */

/* An event handler that fills a store; say logs. */
struct event_handler store_handler(struct store *store);

#endif
