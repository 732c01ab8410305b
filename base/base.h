/* base: the ground floor. Memory, text, errors, logs, the immutable tree, and the cell that
 * publishes one pointer. It knows no Kubernetes and no policy. */
#ifndef TAFFRAIL_BASE_BASE_H
#define TAFFRAIL_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(string, first) __attribute__((format(printf, string, first)))
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- text: a slice of bytes, not terminated, not owned ---- */

struct text {
    const char *data;
    size_t size;
};

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})
/* For printf's "%.*s". */
#define TEXT_ARGS(t) (int)(t).size, (t).data

struct text text_of(const char *terminated); /* NULL gives the empty text */
static inline bool text_equal(struct text a, struct text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
/* A terminated copy on the heap, the caller's to free; NULL without memory. */
char *text_duplicate(struct text t);
/* Inline, so that the compiler knows the size of a literal: these comparisons are many. */
static inline bool text_is(struct text a, const char *terminated)
{
    return text_equal(a, (struct text){terminated, terminated == NULL ? 0 : strlen(terminated)});
}
int text_compare(struct text a, struct text b); /* bytewise, as strcmp */
bool text_starts_with(struct text t, struct text prefix);
bool text_ends_with(struct text t, struct text suffix);
bool text_holds(struct text t, struct text part); /* anywhere */
/* Whether the first character that is no white space is one of these. */
bool text_opens_with(struct text t, const char *characters);
/* The part before and after the first (or last) separator; false when there is none, then
 * nothing is written. Either out pointer may be NULL. */
bool text_split(struct text t, char separator, struct text *before, struct text *after);
bool text_split_last(struct text t, char separator, struct text *before, struct text *after);
/* Shell-style: * any run, ? any one character; no classes, no escapes. Linear in practice and
 * O(pattern * t) at worst. */
bool text_matches_glob(struct text t, struct text pattern);
bool text_is_glob(struct text t); /* has a * or a ? */
/* Whether all that the glob matches the other one matches, too. Of globs that differ in the order
 * of neighbouring * and ? it says no. */
bool text_glob_is_within(struct text glob, struct text other);
/* With how many decimal digits it begins. */
size_t text_leading_digits(struct text t);
/* One decimal digit or more, and nothing else. */
bool text_is_digits(struct text t);
/* A whole decimal integer with optional sign; false on anything else or overflow. */
bool text_to_int64(struct text t, int64_t *value) MUST_CHECK;
/* The same in canonical form alone, as the API server's IsDecimalInteger: no plus, no leading zero,
 * no zero below zero. */
bool text_to_canonical_int64(struct text t, int64_t *value) MUST_CHECK;
/* Levenshtein distance in bytes; limit + 1 when it exceeds limit, or when a text has over 256
 * bytes. */
size_t text_distance(struct text a, struct text b, size_t limit);
/* Index of the candidate nearest to wanted (smallest distance, then first), or count when none is
 * within limit edits. A candidate that differs in ASCII case alone is nearer than any other but an
 * equal one, unless limit is 0. */
size_t text_nearest(struct text wanted, const struct text *candidates, size_t count, size_t limit);
/* Index of the candidate that a name is most likely a typo of, or count. A name of three letters
 * may be 1 edit away, of four or five 2, of more 3, by the shorter of both, but 1 from a shorter
 * candidate: "gpus" is no cpu, "m55" is m5. Two neighbours that changed places are one edit. */
size_t text_meant(struct text written, const struct text *candidates, size_t count);

/* ---- errors ---- */

enum error_kind {
    ERROR_NONE,
    ERROR_USAGE,   /* the command line */
    ERROR_INPUT,   /* a document, a manifest, a request */
    ERROR_POLICY,  /* a policy file */
    ERROR_LIMIT,   /* a budget: bytes, nodes, depth, memory of one request */
    ERROR_IO,      /* a file, a socket */
    ERROR_TLS,     /* certificates and keys */
    ERROR_CLUSTER, /* the API server is not reachable */
    ERROR_MEMORY,  /* malloc failed */
    ERROR_TWICE, /* a key in a manifest, or an object in a state folder, that stands twice: the last
                    one counts, and this is a warning */
};

/* Where in a file: line and column count from 1, columns in code points; line 0 means the file as
 * a whole, file NULL means no file. */
struct place {
    const char *file;
    uint32_t line, column;
};

/* An error is a value: no heap, so it outlives the arena that failed. place.file must outlive the
 * error. */
struct error {
    enum error_kind kind;
    struct place place;
    char what[480];
};

/* Fills *error (NULL is allowed) and is false, so that callers write
 * `return error_set(error, ...);`, and analysers see that it is false. Text beyond what[] is cut at
 * a code point. */
#define error_set(...) (error_fill(__VA_ARGS__), error_false())
static inline bool error_false(void)
{
    return false;
}
void error_fill(struct error *error, enum error_kind kind, struct place place, const char *format,
                ...) PRINTF_LIKE(4, 5);
#define NOWHERE ((struct place){NULL, 0, 0})
/* The process exit code of an error of this kind (DESIGN 3: 2, or 3 for the cluster). */
int error_exit_code(enum error_kind kind);
/* "file:line:column: what", without the parts that are not known; returns what snprintf does. */
int error_format(const struct error *error, char *buffer, size_t size);

/* ---- arena ---- */

/* Memory freed all at once. Not thread-safe: one arena belongs to one request, load or solve. */
struct arena;

/* NULL when malloc fails. budget_bytes bounds the sum of all allocations between two resets. */
struct arena *arena_create(size_t budget_bytes) MUST_CHECK;
void arena_destroy(struct arena *arena); /* NULL is fine */
/* Forgets everything allocated; keeps one block, so that a warm request does not call malloc. */
void arena_reset(struct arena *arena);
size_t arena_used_bytes(const struct arena *arena);
size_t arena_budget_bytes(const struct arena *arena);

/* Zeroed, aligned for any object, never NULL. Over the budget, or out of memory, the innermost
 * arena_guard ends with an error; without a guard the process aborts with a message. */
void *arena_alloc(struct arena *arena, size_t size_bytes);
void *arena_array(struct arena *arena, size_t count, size_t size_bytes); /* overflow-checked */
#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_array((arena), (count), sizeof(type)))
/* Copies are terminated with a NUL that is not counted in size. */
struct text arena_text(struct arena *arena, struct text t);
/* t, or a copy of it in which U+FFFD replaces each byte that is not valid UTF-8 (file names can be
 * any bytes). Terminated if t was. */
struct text text_as_utf8(struct text t, struct arena *arena);
/* The bytes of the character at the start of what is not empty, if YAML or a terminal does not take
 * it as it is: a control character of ASCII or C1 (U+0080 to U+009F), an end of a line, U+2028 or
 * U+2029, or none at all, U+FFFE or U+FFFF. 0: another character is there. */
size_t control_size(struct text t);
struct text arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
struct text arena_vprintf(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* Runs body(argument). False with *error (ERROR_LIMIT or ERROR_MEMORY) when the arena ran out, or
 * its watch stopped it. Then the caller may touch only what is in the arena, or was complete
 * before. Under a guard the code holds no foreign resource (file, lock, malloc, json-c, libyaml,
 * GnuTLS) across an arena call. Guards nest. */
bool arena_guard(struct arena *arena, void (*body)(void *), void *argument,
                 struct error *error) MUST_CHECK;

/* Why the last guard of this arena ended early. */
enum arena_end {
    ARENA_WENT_ON,
    ARENA_OVER_BUDGET,
    ARENA_NO_MEMORY, /* malloc failed */
    ARENA_STOPPED,   /* its watch said so */
};
/* *reason is what the watch said, else 0. */
enum arena_end arena_ended(const struct arena *arena, int *reason);

/* The arena asks it now and then while it hands out memory, under a guard. 0 lets the work go on;
 * any other number is the reason why the innermost guard ends, with ERROR_LIMIT. */
struct arena_watch {
    int (*ask)(void *context);
    void *context;
};
/* Until the next reset. The watch is copied; NULL: none. */
void arena_watch(struct arena *arena, const struct arena_watch *watch);
/* As another arena is watched now. */
void arena_watch_as(struct arena *arena, const struct arena *other);
/* What its watch says now, 0 without one. It ends nothing. */
int arena_asked(const struct arena *arena);
/* For long loops that take no memory: reports how many steps were made. A step is some ten
 * instructions. */
void arena_tick(struct arena *arena, size_t steps);

/* Reserves memory, once, for what must be said after a guard has ended; false when malloc fails.
 * Memory that was never written to costs only address space. */
bool arena_reserve(struct arena *arena, size_t size_bytes) MUST_CHECK;
/* From here to the next reset all allocations come from the reserve, beyond the budget, and no
 * watch is asked. */
void arena_open_reserve(struct arena *arena);

/* Frees everything that was allocated after the mark. A mark is no longer valid once the reserve is
 * open. */
struct arena_mark {
    const void *block;
    char *next;
    size_t used_bytes;
};
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);
/* Frees an allocation of over a mebibyte that was made after the last mark and that nobody reads
 * any more. It does nothing for a smaller one. */
void arena_release(struct arena *arena, const void *memory, size_t size_bytes);

struct text text_base64(struct text bytes, struct arena *arena); /* the standard alphabet, padded */
/* Ignores line breaks; false when it is no base64. */
bool text_from_base64(struct text encoded, struct arena *arena, struct text *bytes) MUST_CHECK;

/* A list that grows in an arena: `LIST(struct finding) findings;` zero-initialised. */
#define LIST(type)              \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }
/* Pointer to a new zeroed item at the end of *list. */
#define LIST_PUSH(arena, list)                                                           \
    (((list)->count == (list)->capacity                                                  \
          ? (void)((list)->items = arena_grow((arena), (list)->items, &(list)->capacity, \
                                              sizeof *(list)->items))                    \
          : (void)0),                                                                    \
     &(list)->items[(list)->count++])
void *arena_grow(struct arena *arena, const void *items, size_t *capacity, size_t size_bytes);
/* For each item of what has items and a count, a LIST or not: FOR_EACH(taint, &pool->taints). */
/* clang-format off */
#define FOR_EACH(item, list) \
    for (const __typeof__(*(list)->items) *item = (list)->items, \
         *const item##_end = (list)->count == 0 ? (item) : (item) + (list)->count; \
         (item) != item##_end; (item)++)
/* clang-format on */

/* Text that grows in an arena; zero-initialise with its arena. */
struct text_builder {
    struct arena *arena;
    char *data;
    size_t size, capacity;
};
void text_builder_add(struct text_builder *builder, struct text t);
/* With a space for each control byte: another's words, which stay in one line. */
void text_builder_add_line(struct text_builder *builder, struct text t);
void text_builder_printf(struct text_builder *builder, const char *format, ...) PRINTF_LIKE(2, 3);
struct text text_builder_text(const struct text_builder *builder); /* terminated, not copied */
/* One more of a list: behind a comma unless the builder is empty. */
void text_builder_list(struct text_builder *builder, struct text t);

/* The end of a noun: "%zu pod%s". */
static inline const char *plural_s(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Lists of texts: names, values, keys. */
struct text_list {
    struct text *items;
    size_t count, capacity;
};
bool texts_have(const struct text *items, size_t count, struct text t);
/* Whether some glob among them matches. */
bool texts_match(const struct text *globs, size_t count, struct text t);
void texts_sort(struct text *items, size_t count); /* bytewise */
/* "a, b, c, ... (7)": the first ones, and how many there are when those are not all. */
struct text texts_join(const struct text *items, size_t count, size_t most, struct arena *arena);
/* "a, b or c" */
struct text texts_or(const struct text *items, size_t count, struct arena *arena);
/* "a, b and c"; where there are more than most, "a, b and 5 more" */
struct text texts_and(const struct text *items, size_t count, size_t most, struct arena *arena);
/* Whether t is one of these words: TEXT_IS_ONE_OF(kind, "Job", "CronJob"). */
#define TEXT_IS_ONE_OF(t, ...)                              \
    text_is_one_of((t), (const char *const[]){__VA_ARGS__}, \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
bool text_is_one_of(struct text t, const char *const *words, size_t count);

/* Texts with a number each, found in constant time; for input whose length a stranger chooses.
 * Zero-initialise. The texts must outlive the map. */
struct text_map {
    struct text_count {
        struct text key;
        size_t value;
    } * items; /* in the order in which they came */
    size_t count, capacity;
    struct text_slots *slots; /* NULL: few enough to be searched */
};
bool text_map_has(const struct text_map *map, struct text key);
size_t text_map_get(const struct text_map *map, struct text key, size_t otherwise);
/* The number of key, 0 if it was not there; valid until the next one comes. */
size_t *text_map_at(struct text_map *map, struct arena *arena, struct text key);
/* Counts key, and says whether it is new. */
bool text_map_add(struct text_map *map, struct arena *arena, struct text key);

/* A list of problems, for loaders that report everything at once. Zero-initialise with an arena
 * that outlives it; file names are copied there. */
struct problems {
    struct arena *arena;
    struct error *items;
    size_t count, capacity;
    /* Of more than most (0: any number) the later ones are only counted. Loaders take any number of
     * errors: they ask whether count has grown. */
    size_t most, left_out;
};
void problems_add(struct problems *problems, enum error_kind kind, struct place place,
                  const char *format, ...) PRINTF_LIKE(4, 5);
void problems_add_error(struct problems *problems, const struct error *error);
/* Whether some are more than warnings (ERROR_TWICE). */
bool problems_have_errors(const struct problems *problems);

/* ---- files ---- */

/* The whole file ("-" is standard input) as arena text, terminated. Refuses directories and files
 * over limit_bytes. */
bool file_read(const char *path, size_t limit_bytes, struct arena *arena, struct text *bytes,
               struct error *error) MUST_CHECK;

struct path_list {
    const char **items;
    size_t count, capacity;
};
bool path_is_folder(const char *path); /* "-" is none */
/* What messages call the file: its path, or "<stdin>" for "-". */
const char *path_as_shown(const char *path);
/* What a walk leaves out, in the syntax of base/ignore.h. */
struct folder_filter {
    const char *file_name;    /* of files with such lines in any folder of the walk; NULL: none */
    const char *const *lines; /* of the folder itself */
    size_t line_count;
    size_t ignored; /* how many files and folders that was; a folder counts once */
};
/* Every .yaml, .yml and .json file below a folder, by name, except names that begin with ".", and
 * what the filter (NULL: none) leaves out. Links to folders are followed, after all other folders;
 * no folder is read twice. What cannot be read is added to problems. */
void folder_find_documents(const char *path, struct folder_filter *filter, struct arena *arena,
                           struct path_list *files, struct problems *problems);

/* ---- log: stderr, JSON lines, or text on a terminal; never a body, a token, an env value ---- */

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Of one component and level. */
enum { LOG_LINES_A_SECOND = 20 };
/* Keys ts, level, msg, component, and object and error when given (NULL otherwise). What is more
 * than LOG_LINES_A_SECOND is dropped, and counted in the next line of its component and level that
 * is taken. */
void log_line(enum log_level level, const char *component, const char *object, const char *error,
              const char *format, ...) PRINTF_LIKE(5, 6);
void log_set_level(enum log_level least);
/* Whether a line waits until stderr takes it, as is the default. Else what it does not take at once
 * is dropped, and counted in the next line of its component and level that is taken. */
void log_set_waiting(bool waits);

/* ---- the tree: JSON or YAML, read into one immutable form ---- */

enum node_kind { NODE_NULL, NODE_BOOL, NODE_NUMBER, NODE_STRING, NODE_LIST, NODE_MAP };

/* A value. Strings and numbers are slices of the source text, or of the arena where an escape or a
 * fold was resolved; both must outlive the node. A number keeps its decimal text. */
struct node {
    union {
        const char *bytes;            /* NODE_STRING, NODE_NUMBER, NODE_BOOL ("true", "false") */
        const struct node *items;     /* NODE_LIST */
        const struct member *members; /* NODE_MAP, in the order written */
    };
    uint32_t kind : 3, size : 28; /* bytes, items or members */
    uint32_t indexed : 1;         /* a NODE_MAP with an index of its keys before its members */
    uint32_t offset;              /* of its first byte in the source */
};

struct member {
    const char *key; /* not terminated */
    uint32_t key_size, key_offset;
    struct node value;
};

static inline struct text member_key(const struct member *member)
{
    return (struct text){member->key, member->key_size};
}

/* How many characters come before a block of the text. */
struct source_mark {
    uint32_t points; /* code points */
    uint32_t units;  /* UTF-16 code units */
};
/* The text a tree was read from; places are computed from it on demand. */
struct source {
    const char *file; /* NULL: not a file */
    struct text text;
    uint32_t *line_starts; /* NULL: not found yet, as the marks */
    size_t line_count;
    struct source_mark *marks;
};

/* Finds the starts of lines, and marks in long lines so that columns are counted fast. arena must
 * hold the source. Call it before a source goes to other threads, or to code with an arena of its
 * own. */
void source_find_lines(struct source *source, struct arena *arena);
/* Line and column of a byte offset. If the lines of the source are not found yet, this finds them,
 * in arena, which then has to last as long as the source. */
struct place source_place(struct source *source, struct arena *arena, uint32_t offset);
/* The column in UTF-16 code units of an offset in a line (from 1); lines have been found. */
uint32_t source_utf16_column(const struct source *source, uint32_t line, uint32_t offset);

/* Which parts of a JSON text are read. The reader skips the rest by its quotes and brackets: it
 * neither checks nor counts it, at any depth. */
enum doc_want {
    DOC_SKIP,
    DOC_READ,
    DOC_LOOK, /* read the whole if `needs` says so, which is given *inside */
};
struct doc_choice {
    const void *root; /* what is wanted of the root */
    /* For a member of a map from which `within` is wanted. *inside becomes what is wanted of it,
     * and of each item when it is a list; NULL, as it is before: the whole. */
    enum doc_want (*wants)(const void *within, struct text key, const void **inside);
    /* value: as it is written */
    bool (*needs)(void *context, const void *inside, struct text value);
    void *context;
};
struct doc_limits {
    size_t bytes, nodes, depth;
    const struct doc_choice *choice; /* NULL: the whole */
};
extern const struct doc_limits doc_limits_review;   /* a request: 40 MiB, 16 M nodes, depth 128 */
extern const struct doc_limits doc_limits_manifest; /* a file: 64 MiB, 4 M nodes, depth 128 */
extern const struct doc_limits doc_limits_policy;   /* a policy: 4 MiB, 200 k nodes, depth 32 */

/* One JSON value and nothing after it but white space. Strict: RFC 8259, valid UTF-8, no NUL in a
 * key. A duplicate key is an error at its second place. With problems NULL the text is refused;
 * otherwise the error is added there and the last value counts. */
bool doc_read_json(struct source *source, const struct doc_limits *limits,
                   struct problems *duplicates, struct arena *arena, const struct node **root,
                   struct error *error) MUST_CHECK;
struct node_list {
    const struct node **items;
    size_t count, capacity;
};
/* JSON values one after the other, each as doc_read_json reads it. When it fails, *roots has those
 * before. */
bool doc_read_json_values(struct source *source, const struct doc_limits *limits,
                          struct problems *duplicates, struct arena *arena, struct node_list *roots,
                          struct error *error) MUST_CHECK;

/* ---- JSON without a tree ---- */

/* Walks the members of a map or the items of a list; either may be cut off at the end. */
struct json_walk {
    const char *at, *end;
    size_t count; /* the number of members or items so far */
    bool is_map;
    bool ended; /* the closing bracket was there: nothing is missing */
};
/* False: value is neither map nor list. */
bool json_walk_begin(struct json_walk *walk, struct text value);
/* The next whole member or item (key empty), both as written; false: there is none. Then key and
 * value are the part of the last one that was cut off. */
bool json_walk_next(struct json_walk *walk, struct text *key, struct text *value);
/* The first whole member with that key, as written; empty: there is none. */
struct text json_find(struct text map, const char *key);
/* The same without looking for the end of the value, so more text may follow. For a value that is
 * walked or weighed next. */
struct text json_find_start(struct text map, const char *key);
struct json_step {
    struct text key; /* as it is written */
    bool in_map;     /* else in a list, at the index */
    size_t index;
};
enum { JSON_STEPS_MAX = 5 };
/* The path to what has most of the bytes of a value: one step for each nested value that has at
 * least half of the bytes of the one around it. Returns the number of steps; 0 also for a value
 * that is cut off. */
size_t json_heaviest(struct text value, struct json_step steps[JSON_STEPS_MAX]);
/* The text of a string without escapes; empty: it is none. */
struct text json_plain_string(struct text value);

enum yaml_style {
    YAML_MANIFEST, /* as kubectl reads: YAML 1.1 scalars, aliases and merge keys in the budget; of
                      duplicate keys the last one counts (ERROR_TWICE) */
    YAML_POLICY,   /* no anchors, aliases, merge keys or tags; duplicate keys are errors */
};
/* Reads every document of a stream. A document that does not parse adds its error to problems. What
 * libyaml cannot skip ends the stream there; earlier documents count. sink is called for each
 * document in order (an empty one is a NODE_NULL). */
void doc_read_yaml(struct source *source, enum yaml_style style, const struct doc_limits *limits,
                   struct arena *arena, struct problems *problems,
                   void (*sink)(void *context, const struct node *root), void *context);

static inline bool node_is(const struct node *node, enum node_kind kind) /* false for NULL */
{
    return node != NULL && node->kind == kind;
}
struct text node_text(const struct node *node); /* of string, number, bool; else empty */
/* Of a string only; else empty; NULL is fine. */
static inline struct text node_string(const struct node *node)
{
    bool is_string = node != NULL && node->kind == NODE_STRING && node->size > 0;
    return is_string ? (struct text){node->bytes, node->size} : TEXT("");
}
bool node_is_given(const struct node *node); /* there, and not null, which the API server drops */
bool node_integer(const struct node *node, int64_t *value); /* a NODE_NUMBER without a fraction */
bool node_true(const struct node *node);                    /* the boolean true */
/* NULL when absent, or when map is not a map. If a key occurs twice, the last one. */
const struct node *node_member(const struct node *map, struct text key);
static inline const struct node *node_get(const struct node *map, const char *key)
{
    return map == NULL || map->size == 0 ? NULL : node_member(map, (struct text){key, strlen(key)});
}
/* Dotted keys, no indices: node_at(pod, "spec.affinity.nodeAffinity"). NULL: absent. */
const struct node *node_at(const struct node *root, const char *path);
/* Items or members; 0 for anything else and NULL. */
static inline size_t node_count(const struct node *node)
{
    bool has_items = node != NULL && (node->kind == NODE_LIST || node->kind == NODE_MAP);
    return has_items ? node->size : 0;
}
const struct node *node_item(const struct node *list, size_t index); /* NULL beyond the end */
bool node_equal(const struct node *a, const struct node *b); /* maps without regard to order */
/* The first item and the one behind it, NULL when there is none; NULL of what is no list. */
static inline const struct node *list_first(const struct node *list)
{
    return list != NULL && list->kind == NODE_LIST && list->size > 0 ? list->items : NULL;
}
static inline const struct node *list_next(const struct node *list, const struct node *item)
{
    return ++item < list->items + list->size ? item : NULL;
}
/* For each item of a list, which may be NULL or no list at all. */
#define FOR_ITEMS(item, list)                                                                      \
    for (const struct node *item##_list = (list), *item = list_first(item##_list); (item) != NULL; \
         (item) = list_next(item##_list, (item)))
const char *node_kind_name(enum node_kind kind); /* "a map", "a string", ... */

/* ---- nodes made here, and patches ---- */

/* Values that the program puts into a tree. What they point to must outlive them. Their offset is
 * 0, because they are in no text. */
struct node node_of_text(struct text t); /* a string */
struct node node_of_bool(bool value);
struct node node_of_integer(int64_t value, struct arena *arena);
struct node node_of_items(const struct node *items, size_t count);
struct node node_of_members(const struct member *members, size_t count);
struct member member_of(struct text key, struct node value);
const struct node *node_keep(struct arena *arena, struct node node); /* a copy in the arena */
/* A value as YAML: on one line, or as in a file. */
struct text node_yaml_line(const struct node *node, struct arena *arena);
struct text node_yaml(const struct node *node, struct arena *arena);
/* A value as JSON, without a space. A number is written as it was read. */
struct text node_json(const struct node *node, struct arena *arena);

/* Writes JSON piece by piece; any bytes of a text become a string of valid UTF-8. */
void json_write_string(struct text_builder *out, struct text t);
/* A member's key, after a comma unless its map has just begun. */
void json_write_key(struct text_builder *out, const char *key);
void json_write_member(struct text_builder *out, const char *key, struct text value);
void json_write_node(struct text_builder *out, const struct node *node);
/* The longest start of t that takes at most limit_bytes in JSON and does not cut a code point. */
struct text json_cut(struct text t, size_t limit_bytes);

/* One operation of a JSON patch (RFC 6902). */
enum patch_verb { PATCH_ADD, PATCH_REMOVE, PATCH_REPLACE, PATCH_TEST };
struct patch_op {
    enum patch_verb op;
    struct text path;         /* a JSON pointer (RFC 6901): "/metadata/labels/a~1b" */
    const struct node *value; /* NULL when op is PATCH_REMOVE */
};
const char *patch_verb_name(enum patch_verb op); /* "add", "remove", "replace", "test" */
struct patch {
    struct patch_op *items;
    size_t count, capacity;
};
/* root after all the operations, in order. The result shares with root what they do not touch, and
 * root stays as it was. False, with *error, when one operation fails: then none counts. */
bool doc_patch(const struct node *root, const struct patch_op *operations, size_t count,
               struct arena *arena, const struct node **patched, struct error *error) MUST_CHECK;

/* A path down a tree, built while descending, so that a finding knows its path and place. An absent
 * field has a path, too; its place is that of its nearest ancestor. */
struct field {
    const struct field *parent; /* NULL at the root */
    struct text key;            /* of a map's member; data NULL for a list's item */
    size_t index;
    const struct node *node; /* NULL: absent */
};
const struct field *field_root(struct arena *arena, const struct node *root);
const struct field *field_member(struct arena *arena, const struct field *parent, struct text key);
static inline const struct field *field_get(struct arena *arena, const struct field *parent,
                                            const char *key)
{
    return field_member(arena, parent, (struct text){key, strlen(key)});
}
const struct field *field_item(struct arena *arena, const struct field *parent, size_t index);
/* The item of a list or the member of a map (kind) at a position; NULL beyond the end, and of what
 * is of another kind. */
const struct field *field_child(struct arena *arena, const struct field *parent,
                                enum node_kind kind, size_t index);
/* For each item of a list, or each member of a map, with its field; none of what is something else.
 */
#define FOR_FIELDS(child, arena, list) FOR_CHILDREN(child, arena, list, NODE_LIST)
#define FOR_MEMBERS(child, arena, map) FOR_CHILDREN(child, arena, map, NODE_MAP)
#define FOR_CHILDREN(child, arena, parent, kind)                                  \
    for (const struct field *child##_of = (parent),                               \
                            *child = field_child((arena), child##_of, (kind), 0); \
         (child) != NULL; (child) = field_child((arena), child##_of, (kind), (child)->index + 1))
/* Dotted keys below parent. */
const struct field *field_at(struct arena *arena, const struct field *parent, const char *path);
/* "spec.template.spec.nodeSelector[node.kubernetes.io/arch]": a key that is not a plain word is in
 * brackets, as in Kubernetes' own field errors. */
struct text field_path(struct arena *arena, const struct field *field);
/* "/spec/template/spec/nodeSelector/node.kubernetes.io~1arch": where a change has its effect. */
struct text field_pointer(struct arena *arena, const struct field *field);
uint32_t field_offset(const struct field *field); /* of the node, or of the nearest ancestor */
/* Order of findings: names bytewise, indices by number, a parent before its children. */
int field_compare(struct arena *arena, const struct field *a, const struct field *b);

/* ---- cell: one writer publishes a pointer, readers use it without a lock ---- */

struct cell;
struct cell *cell_create(unsigned slot_count) MUST_CHECK; /* NULL: malloc failed */
/* Every slot must be unpinned. Destroys what is published. */
void cell_destroy(struct cell *cell);
/* The value that is published now (NULL before the first), valid until unpin. A slot is used by one
 * thread at a time and pins one pointer. */
const void *cell_pin(struct cell *cell, unsigned slot);
void cell_unpin(struct cell *cell, unsigned slot);
/* The number of publishes. Asked before cell_pin: what is pinned is that version or a later one. */
uint64_t cell_count(const struct cell *cell);
/* Waits until more than count were published, at most for_ms. False: none was. */
bool cell_await(struct cell *cell, uint64_t count, int64_t for_ms);
/* Takes ownership of value. Destroys the replaced value once no slot has it pinned, at this or a
 * later publish. */
void cell_publish(struct cell *cell, void *value, void (*destroy)(void *));

#endif
