/* What a rail is made of: read by the files in policy/rails/ and by the machinery of policy/. */
#ifndef TAFFRAIL_POLICY_RAIL_H
#define TAFFRAIL_POLICY_RAIL_H

#include "kube/karpenter.h"
#include "policy/policy.h"

struct catalog;

/* ---- keys: one table drives the parser, explain and the JSON Schema ---- */

enum key_type {
    KEY_BOOL,       /* bool */
    KEY_INTEGER,    /* int64_t; minimum and maximum apply */
    KEY_QUANTITY,   /* int64_t, thousandths */
    KEY_DURATION,   /* int64_t, seconds: as in 720h */
    KEY_SHARE,      /* struct share: a number of things, or a percentage of them */
    KEY_QUANTITIES, /* struct key_quantities: a map of names to quantities */
    KEY_STRING,     /* struct text */
    KEY_ENUM,       /* int: index into choices */
    KEY_STRINGS,    /* struct key_strings */
    KEY_GLOBS,      /* struct key_strings, each a glob */
    KEY_ACCOUNTS,   /* struct key_strings, each NAMESPACE/NAME of service accounts, globs */
    KEY_PATHS,      /* struct key_strings, each keys of an object: spec.groups[*].template */
    KEY_TIME,       /* int64_t: RFC 3339, or a day: its first second */
    KEY_TIME_END,   /* int64_t: RFC 3339, or a day: its last second */
    KEY_GLOB_LISTS, /* struct key_lists: a map of names to lists of globs */
    KEY_KINDS,      /* struct key_kinds */
    KEY_SELECTOR,   /* const struct node *, checked to be a metav1.LabelSelector */
    KEY_MAP,        /* nested: children */
    KEY_MAPS,       /* struct key_maps: a list of maps; children, at offsets of one item */
    KEY_NODE,       /* const struct node *: anything, checked by its owner */
    KEY_RAILS,      /* const struct node *: rails by name, each with its own keys */
};

struct key_strings {
    struct text *items;
    const struct node **nodes; /* where each was written; NULL for a default */
    size_t count;
    bool given; /* the key was there, though the list may be empty */
};

struct key_kinds {
    kind_set known;
    struct key_strings custom; /* KIND.GROUP of custom resources, as in RayCluster.ray.io */
};

struct key_list {
    struct text name;
    struct key_strings values;
};
struct key_lists {
    struct key_list *items;
    size_t count;
};

struct key_quantity {
    struct text name, written;
    int64_t milli;
};
struct key_quantities {
    struct key_quantity *items;
    size_t count;
};

struct key_maps {
    void *items; /* item_size bytes each */
    const struct node **nodes;
    size_t count;
};

struct key {
    const char *name;
    enum key_type type;
    size_t offset;              /* in the settings struct (of the whole rail, also for children) */
    const char *summary;        /* one line, for explain and docs */
    const char *default_value;  /* as YAML, parsed like the user's own; NULL: zero */
    const char *const *choices; /* KEY_ENUM: ends with NULL. KEY_STRINGS: if given, all allowed */
    const struct key *children; /* KEY_MAP: ends with a NULL name */
    size_t given_offset;        /* a bool that says the key was written; 0: not wanted */
    /* Of an integer (both 0: any), of a list's items, of a string's bytes; maximum 0: none. A
     * quantity is above 0 always. */
    int64_t minimum, maximum;
    bool required;
    size_t item_size; /* KEY_MAPS */
};

enum severity {
    SEVERITY_RAIL,      /* as the rail's mode says */
    SEVERITY_WARN,      /* at most a warning */
    SEVERITY_AUDIT,     /* noted, nobody is told */
    SEVERITY_UNDECIDED, /* cannot see what it needs: never denies */
};

/* ---- what a rail gets, and what it says ----
 *
 * An evaluation (evaluation.h) is one object against a world. For each rail of each policy that
 * reaches the object it makes a rail_call. The rail says what is wrong in drafts, which evaluate.c
 * makes findings of, and what it adds to Pods in changes, which mutate.c tries; the verdict holds
 * findings and changes. */

/* In order of strictness; so are the choices of the key `mode`. */
enum mode { MODE_OFF, MODE_AUDIT, MODE_WARN, MODE_ENFORCE };

/* One rail of one policy, asked about one object: what the functions of a rail get. */
struct rail_call {
    const struct world *world;
    const struct subject *subject; /* to a change its object is the one to change, too */
    const struct object *object;   /* the one to judge: on UPDATE first the old, then the new */
    const void *settings;          /* the rail's own struct, as the policy fills it */
    int64_t now_unix_s;
    struct arena *arena;
    /* The machinery's own. */
    struct evaluation *evaluation;
    const struct policy *policy;
    const struct rail_use *use;
    enum mode mode;                  /* as an override leaves it */
    const struct override *override; /* NULL: none applies */
    bool match_unknown; /* for want of a namespace's labels it may be that none of this applies */
    struct record *record; /* of the drafts; NULL: changes are asked for */
};

/* How far an allowed value is from what was found: the least is the nearest. What is farther than
 * the limit may be any number above it. */
typedef size_t nearness(struct text allowed, struct text found, size_t limit, const void *about);
/* What may stand in a field, in a list that many may share. */
struct allowed {
    const struct text *items;
    size_t count;
    nearness *nearness; /* NULL: by spelling */
    const void *about;  /* what nearness needs to know */
};
#define ALLOWED_TEXTS(texts, how_many) ((struct allowed){.items = (texts), .count = (how_many)})
/* Of what has items and a count. */
#define ALLOWED_LIST(list) ALLOWED_TEXTS((list)->items, (list)->count)

/* What a rail says; evaluate.c makes it a finding. Texts live in the arena of the call or longer.
 */
struct draft {
    enum severity severity;
    const struct field *field;
    struct text found;     /* the value; with statement empty the message is: found "VALUE" */
    struct text statement; /* instead of: found "VALUE" */
    /* What is wrong, where the statement has words of other fields besides, such as a number of
     * replicas: in its place it tells on UPDATE whether the finding is new. Empty: the statement
     * tells. */
    struct text fault;
    /* With fault, how bad it is: what is worse than before is new, too. It stands in place of the
     * value that is found. */
    int64_t extent;
    /* All that is told of, where that may be several values of one list: on UPDATE the finding is
     * new when one of them is, and not when one of them is gone. */
    struct text_list values;
    /* Instead of values, where they may be too many to list: whether what the old object's drafts
     * at the same place reached is all that this one reaches. NULL: values tell. */
    bool (*was_reached)(const void *reach, const void *const *old, size_t count,
                        struct arena *arena);
    const void *reach;
    struct allowed allowed;
    /* Of allowed the five nearest to this are shown, nearest first; empty: the first five. */
    struct text nearest_to;
    /* The value that was meant. Then fix and replacement need not be given: they are to put it in
     * the place of what was found. */
    struct text meant;
    /* Where nothing else is known to be meant, it is the nearest of allowed within so many edits.
     */
    size_t typo_edits;
    bool in_key; /* what was found is a key: no tool can put another in its place */
    struct text fix;
    /* The value to put in the field's place, when the fix is that alone: tools can apply it. */
    struct text replacement;
    /* Fills in fix and replacement where they cost more than a few bytes; called once it is certain
     * that the finding is shown, with allowed cut to what is shown. NULL: they stand. */
    void (*advise)(struct draft *draft, struct arena *arena);
    const void *adviser; /* what advise needs to know */
    /* Undecided for want of these; 0: of what the rail looks among (struct rail, sources). */
    kind_set wanted;
    bool pre_existing; /* the machinery's: the old object had it too */
};
enum { TYPO_EDITS = 2 };
/* For wanted: one object that is named, and no whole kind. */
#define WANTS_ONE KIND_BIT(KIND_UNKNOWN)

/* Says what is wrong at a field, as printf does: what stands there is what was found. An object may
 * be wrong in a hundred thousand places: where a further draft would only be counted, it is not
 * even made, and the arguments are not evaluated. */
#define report(call, severity, field, fix, ...) \
    report_found(call, severity, field, node_text((field)->node), fix, __VA_ARGS__)
/* The same where something else was found than what stands there. */
#define report_found(call, severity, field, found, fix, ...)                   \
    (report_counts((call), (severity)) ||                                      \
             ((severity) == SEVERITY_UNDECIDED && report_is_of_source((call))) \
         ? (void)0                                                             \
         : report_printf((call), (severity), (field), (found), (fix), __VA_ARGS__))
/* A draft with more to it: report_with(call, .field = field, .meant = value); and one that weighs
 * otherwise than the rail. */
#define report_with(call, ...) report_as(call, SEVERITY_RAIL, __VA_ARGS__)
#define report_as(call, its_severity, ...) \
    (report_counts((call), (its_severity)) \
         ? (void)0                         \
         : report_say((call), &(struct draft){.severity = (its_severity), __VA_ARGS__}))
/* One that is made already. */
void report_draft(struct rail_call *call, const struct draft *draft);
void report_printf(struct rail_call *call, enum severity severity, const struct field *field,
                   struct text found, struct text fix, const char *format, ...) PRINTF_LIKE(6, 7);
void report_say(struct rail_call *call, const struct draft *draft);
/* Whether it is so; also asked before a draft where a severity is known to be lower, or much is to
 * be found out for it. */
bool report_counts(struct rail_call *call, enum severity severity) MUST_CHECK;
/* Whether nothing comes of what is left undecided for want of all that the rail looks among,
 * because that is said once, at load. */
bool report_is_of_source(const struct rail_call *call) MUST_CHECK;

/* What the same policy says to another rail, so that no fix raises a finding of that one; NULL: it
 * does not use it. */
const void *rail_settings(const struct rail_call *call, const struct rail *rail);

/* What made the object that is judged, as far as what says so counts. NULL: nothing did, or, with
 * *unseen, it is not seen. */
const struct object *call_maker(const struct rail_call *call, bool *unseen);

/* A DaemonSet, or a Pod that one has: as its controller makes it, as it is there already, and with
 * a node, when none of what places it can change. That anybody else writes it does not count. */
bool is_of_daemon_set(const struct rail_call *call);

/* What a pod only prefers weighs less: a warning, and where Karpenter ignores preferences, which
 * kube-scheduler alone then follows, a note. */
static inline enum severity severity_of_preference(const struct rail_call *call)
{
    return policy_set_karpenter(call->world->policies)->ignore_preferences ? SEVERITY_AUDIT
                                                                           : SEVERITY_WARN;
}

/* What a rail looks among (sources.c) to judge objects of the kind, as far as nothing of it is
 * visible. */
kind_set rail_unseen_sources(const struct rail *rail, enum kind judged, const struct world *world);
/* Of these kinds those of which nothing is visible. */
kind_set kinds_without_object(const struct world *world, kind_set kinds);

/* Advice for who is to see more of these kinds, a sentence: files are shown otherwise than a
 * cluster. otherwise: ", or use an allowed key"; empty: there is no other way. */
struct text advice_to_show(const struct rail_call *call, kind_set kinds, const char *otherwise);
/* The same of one object that something names. it: "it", "the claim". */
struct text advice_to_show_one(const struct rail_call *call, enum kind kind, const char *it);

/* What a rail wants to change in call->object. */
void propose_change(struct rail_call *call, const struct change *proposed);
/* A patch, built up. The map or the list that something goes into is added first, and what lies
 * above it, where it is not there or null and no earlier operation has added it. */
void patch_set(struct patch *patch, struct arena *arena, const struct field *map, struct text key,
               struct node value);
void patch_append(struct patch *patch, struct arena *arena, const struct field *list,
                  struct node value);

/* Of what is allowed the nearest to wanted, at most five, nearest first; the first ones where none
 * is near, or wanted is empty. */
struct text_list nearest_allowed(const struct allowed *allowed, struct text wanted,
                                 struct arena *arena);

/* ---- rails ---- */

/* What a rail is given once its settings are read. */
struct rail_loading {
    const struct catalog *catalog;
    const struct node *rail_node; /* the map under spec.rails.NAME */
    struct source *source;
    struct arena *arena;
    struct problems *warnings;
};
/* Warns of what stands at a node of the settings. */
void loading_warn(const struct rail_loading *loading, const struct node *at, const char *format,
                  ...) PRINTF_LIKE(3, 4);

struct rail {
    const char *name;
    const char *summary; /* one line */
    const char *detail;  /* paragraphs for explain */
    const char *example; /* YAML, as it stands under spec.rails */
    kind_set kinds;
    /* Where it looks for its answers. While not one object of such a kind is visible, what it
     * leaves undecided of the kinds in sources_of (0: of all) is undecided for every object alike:
     * that is said once, not of each. */
    kind_set sources, sources_of;
    /* Of these kinds, which are in kinds, too, no new object is judged: of the first each update
     * and each deletion is, of the others deletions alone. */
    kind_set changes_of, deletions_of;
    /* Whether that is so of a kind under these settings; NULL: of all. */
    bool (*asks_for)(const void *settings, enum kind kind);
    bool judges_resize;     /* of Pods also pods/resize */
    bool judges_scale;      /* of KINDS_WITH_SCALE also the subresource scale, at what it scales */
    bool asks_supply;       /* where pods could run at all: world.supply */
    bool plans;             /* asks it what workloads add (simulation/added.h) */
    bool only_warns;        /* unless the policy gives the rail a mode of its own */
    const struct key *keys; /* ends with a NULL name */
    size_t settings_size;
    /* After parsing, once a load: derive what judging needs, warn of what cannot work. May be NULL.
     */
    void (*prepare)(void *settings, const struct rail_loading *loading);
    /* Once all policies are read: warns of what Karpenter's own settings leave without effect. May
     * be NULL. place is that of the rail's name. */
    void (*weigh)(const void *settings, const struct karpenter_settings *karpenter,
                  struct place place, struct problems *warnings);
    void (*judge)(struct rail_call *call);
    /* Proposes changes of a Pod that is created; NULL: a rail that only judges. Rails are asked in
     * order of name, each sees what the ones before have changed. Must be a pure function of object
     * and world, and propose nothing for a pod that carries its change: the API server asks
     * again. */
    void (*change)(struct rail_call *call);
    /* Whether it ever does, under these settings; beside change. */
    bool (*may_change)(const void *settings);
};

#define RAIL(symbol) extern const struct rail symbol;
#include "policy/rails/rails.def"
#undef RAIL

#endif
