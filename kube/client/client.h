/* kube/client: lists and watches what an API server has. The state machine of one kind reads no
 * clock and opens no socket (watcher_*); client_* runs it over HTTP. */
#ifndef TAFFRAIL_KUBE_CLIENT_H
#define TAFFRAIL_KUBE_CLIENT_H

#include "kube/kube.h"
#include "kube/live.h"

/* ---- where the API server is, and who asks ---- */

/* Empty text: not given. Of a pair of file and PEM the file counts, and is read anew by each
 * connection; so is token_file by each request. */
struct client_config {
    struct text server; /* "https://10.0.0.1:443", without a slash at its end */
    struct text namespace;
    struct text ca_file, ca_pem;
    struct text certificate_file, certificate_pem, key_file, key_pem;
    struct text token_file, token;
    struct text username, password;
    struct text tls_server_name, proxy_url;
    bool insecure; /* does not check who the server is */
};

/* The context (NULL: the current one) of kubeconfig files, separated by colons as in $KUBECONFIG;
 * of entries with one name the first stands. Exec plugins are refused. */
bool client_config_kubeconfig(const char *paths, const char *context, struct arena *arena,
                              struct client_config *config, struct error *error) MUST_CHECK;
/* The service account of a Pod. folder is where its files are mounted (NULL: the usual one), host
 * and port what $KUBERNETES_SERVICE_HOST and _PORT say (NULL: not in a cluster). */
bool client_config_in_cluster(const char *folder, const char *host, const char *port,
                              struct arena *arena, struct client_config *config,
                              struct error *error) MUST_CHECK;

/* ---- what is told ---- */

/* What is passed is valid during the call. A function that returns false (memory ran out) has the
 * kind listed again later. */
struct watch_sink {
    void *context;
    /* A list: each of its objects comes by put, then list_end. What was there before and did not
     * come again is gone then. A list that breaks off has no end; another begins. */
    bool (*list_begin)(void *context, enum kind kind);
    bool (*list_end)(void *context, enum kind kind);
    bool (*put)(void *context, const struct object *object);
    bool (*remove)(void *context, const struct object *object);
    /* Something for people, said once when it begins and once when it is over. NULL is fine. */
    void (*say)(void *context, enum kind kind, enum log_level level, const char *message);
};

struct watch_report {
    bool synced;             /* one list was complete */
    bool degraded;           /* may not be read, or is not there; asked again now and then */
    unsigned refused_status; /* 403 or 404 when it is degraded, else 0 */
    bool listing;            /* some pages of a list have come, and more are to come */
    bool watching;           /* a watch is open */
    int64_t age_ms;          /* since it was last known to be what the server has; -1: never */
    uint64_t lists, events, failures;
    char problem[200]; /* the last one; empty when all is well */
};

/* ---- one kind, bytes in, events out ---- */

struct watch_settings {
    size_t page_objects;                 /* of a list; 0: 500 */
    size_t list_bytes_max;               /* of a page; 0: 256 MiB */
    size_t event_bytes_max;              /* 0: 16 MiB */
    int64_t list_idle_ms, watch_idle_ms; /* without a byte it is dead; 0: 30 s, 180 s */
    uint64_t seed;                       /* of the jitter */
};

struct watcher;
/* NULL: malloc failed. *sink is copied. */
struct watcher *watcher_create(enum kind kind, const struct watch_settings *settings,
                               const struct watch_sink *sink) MUST_CHECK;
void watcher_destroy(struct watcher *watcher);

enum watch_step_kind {
    WATCH_WAIT, /* until until_ms, or until something arrives */
    WATCH_SEND, /* GET path now; head, bytes and end follow */
    WATCH_CUT,  /* abort the request: it is dead. No end follows. Ask again at once */
};
struct watch_step {
    enum watch_step_kind kind;
    int64_t until_ms;
    const char *path; /* and query, from "/api"; valid until the next call */
    bool stream;      /* a watch: no time limit, no compression */
};
/* What to do now. Times are of a clock that only goes forward. */
void watcher_next(struct watcher *watcher, int64_t now_ms, struct watch_step *step);
/* The answer's status came. */
void watcher_head(struct watcher *watcher, int64_t now_ms, unsigned status);
/* Part of its body, cut anywhere. False: abort the request, no end follows. */
bool watcher_bytes(struct watcher *watcher, int64_t now_ms, struct text bytes) MUST_CHECK;
/* The answer is over: complete (failure NULL), or why not. retry_after_s is what its header of that
 * name says; 0: none. */
void watcher_end(struct watcher *watcher, int64_t now_ms, const char *failure,
                 int64_t retry_after_s);
void watcher_report(const struct watcher *watcher, int64_t now_ms, struct watch_report *report);
/* What it holds between two calls. */
size_t watcher_used_bytes(const struct watcher *watcher);

/* ---- over HTTP ---- */

struct client;
/* Not thread-safe but for client_wake. *config is copied. now_ms is a clock that only goes forward
 * (NULL: the system's). */
bool client_open(const struct client_config *config, int64_t (*now_ms)(void),
                 struct client **client, struct error *error) MUST_CHECK;
void client_close(struct client *client); /* NULL is fine */
bool client_watch(struct client *client, enum kind kind, const struct watch_settings *settings,
                  const struct watch_sink *sink, struct error *error) MUST_CHECK;
/* Works for so long, or until client_wake; what arrives is told on this thread. */
bool client_run(struct client *client, int64_t for_ms, struct error *error) MUST_CHECK;
void client_wake(struct client *client);
/* False: the kind is not watched. */
bool client_report(const struct client *client, enum kind kind, struct watch_report *report);

/* ---- a live cluster, kept up ---- */

/* A sink that puts what is told into a live; say logs. */
struct watch_sink live_sink(struct live *live);

#endif
