/* What the state machine of a kind shares with the reader of its answers. */
#ifndef TAFFRAIL_LIVE_WATCH_H
#define TAFFRAIL_LIVE_WATCH_H

#include "kube/object.h"
#include "live/client.h"

/* Finds the end of a JSON value that arrives in pieces, by its nesting: neither pieces nor lines
 * mark the end of an event. */
struct value_scan {
    size_t depth;
    bool in_string, escaped;
};
enum value_scan_result {
    SCAN_MORE,  /* all bytes are used, and the value goes on (or has not begun) */
    SCAN_WHOLE, /* it ends with the byte before *used */
    SCAN_BAD,   /* the text is no object */
};
enum value_scan_result value_scan(struct value_scan *scan, struct text bytes, size_t *used);

/* Splits a list that arrives in pieces: its items are read one by one, and the rest is small. */
struct list_scan {
    struct value_scan root, item;
    unsigned matched; /* how many bytes of the key of the items have matched */
    bool in_items, in_item;
    bool ended;
};
enum list_part {
    LIST_HEAD,     /* the bytes up to *used are of the list itself */
    LIST_ITEM,     /* of an item that goes on */
    LIST_ITEM_END, /* of an item that ends with them */
    LIST_BETWEEN,  /* of nothing */
    LIST_BAD,      /* it is no list of objects */
};
enum list_part list_scan(struct list_scan *scan, struct text bytes, size_t *used);

/* The versions of a kind's API, in the order to try them; NULL at the end. */
const char *const *kind_versions(enum kind kind);
/* "v1", "apps/v1". */
struct text api_version_of(struct text group, const char *version, struct arena *arena);

enum { VERSION_BYTES = 64, PATH_BYTES = 8192 };
struct list_request {
    struct text group, plural;
    const char *version;       /* of its API */
    const char *watch_version; /* the resource version to watch from; NULL: list */
    unsigned timeout_s;        /* of a watch */
    size_t limit;              /* of a list; 0: all in one */
    const char *continue_token;
};
/* Adds a value of a query, escaped, as far as there is room. */
void path_add_escaped(char path[static PATH_BYTES], size_t *size, const char *value);
void list_request_write(const struct list_request *request, char path[static PATH_BYTES]);
/* The request for the versions of a group's API. */
void group_request_write(struct text group, char path[static PATH_BYTES]);

/* False: it is no version. */
bool version_keep(char kept[static VERSION_BYTES], struct text version) MUST_CHECK;
/* Negative, zero or positive as a is older, the same or newer. Versions that are no numbers cannot
 * be compared and count as newer. */
int version_order(struct text a, struct text b);

/* The versions of a group that a server has. */
enum { API_VERSIONS_MAX = 8 };
struct api_versions {
    char items[API_VERSIONS_MAX][VERSION_BYTES]; /* the preferred one first */
    size_t count;
};
/* An APIGroup. False: it is none. */
bool api_versions_read(struct text body, struct arena *arena, struct api_versions *versions,
                       struct error *error) MUST_CHECK;

/* How to read the objects of a kind. Results are in the arena or in the body. */
struct object_reader {
    enum kind kind;
    const struct custom_kind *custom; /* NULL: a built-in kind */
    const char *version;              /* of its API */
    bool whole;                       /* not only the stored fields */
    struct arena *arena;
};
enum read_result {
    READ_DONE,
    READ_UNREADABLE, /* only kind, namespace and name of the object are known; error says why */
    READ_FAILED,     /* it is not the requested object */
};

/* The fields of a list besides its items. */
struct list_head {
    struct text resource_version, continue_token;
};
/* Reads an answer without its items. */
bool list_head_read(struct text head, struct arena *arena, struct list_head *read,
                    struct error *error) MUST_CHECK;
/* head is the text before the item. cut: the item is only the beginning of one. */
enum read_result list_item_read(const struct object_reader *reader, struct text head,
                                struct text item, bool cut, struct object *object,
                                struct error *error) MUST_CHECK;

enum event_type { EVENT_PUT, EVENT_REMOVE, EVENT_BOOKMARK, EVENT_ERROR };
struct watch_event {
    enum event_type type;
    struct object object;         /* of put and remove */
    struct text resource_version; /* of all but an error */
    int64_t code;                 /* of an error */
    struct text message;
    bool expired, too_new; /* the resource version is forgotten, or not reached yet */
};
enum read_result watch_event_read(const struct object_reader *reader, struct text body, bool cut,
                                  struct watch_event *event, struct error *error) MUST_CHECK;

/* Reads a Status into code, message, expired and too_new. False: it is none. */
bool status_read(struct text body, struct arena *arena, struct watch_event *event) MUST_CHECK;

#endif
