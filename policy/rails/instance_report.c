/* The findings of instance-types at values: what may stand there instead, by nearness in kind. */
#include "catalog/label.h"
#include "kube/expression.h"
#include "kube/label.h"
#include "kube/pod.h"
#include "policy/policy_set.h"
#include "policy/rails/instance_list.h"
#include "simulation/amounts.h"

static const struct {
    const char *one, *many, *allowed;
} words[DIMENSION_COUNT] = {
    [DIMENSION_TYPE] = {"Instance type", "Instance types", "types"},
    [DIMENSION_FAMILY] = {"Instance family", "Instance families", "families"},
    [DIMENSION_SIZE] = {"Instance size", "Instance sizes", "sizes"},
    [DIMENSION_CATEGORY] = {"Instance category", "Instance categories", "categories"},
    [DIMENSION_GENERATION] = {"Instance generation", "Instance generations", "generations"},
    [DIMENSION_ARCHITECTURE] = {"Architecture", "Architectures", "architectures"},
};

/* What was asked for, and what the pod needs at least. */
struct asked {
    const struct rail_call *call;
    const struct instance_list *list;
    enum dimension dimension;
    struct instance_type type;
    int64_t cpu_milli, memory_bytes, devices; /* 0: not said */
    const char *removal;
};

static int64_t devices_of(const struct instance_type *type)
{
    return (int64_t)type->gpu_count + type->neuron_count;
}

static bool has_the_devices(const struct asked *asked, const struct instance_type *type)
{
    if (!instance_type_is_accelerated(&asked->type))
        return true;
    if (!instance_type_is_accelerated(type) ||
        (asked->type.devices & type->devices) != asked->type.devices)
        return false;
    /* Families and categories do not say how many. */
    int64_t own = devices_of(&asked->type);
    int64_t count = asked->devices > 0 ? asked->devices : own;
    return asked->dimension != DIMENSION_TYPE || own == 0 || devices_of(type) >= count;
}

/* A node keeps some of the machine to itself. */
static bool is_large_enough(const struct asked *asked, const struct instance_type *type)
{
    int64_t memory_bytes = (int64_t)type->memory_mib * 1024 * 1024;
    return (type->cpu == 0 || (int64_t)type->cpu * 1000 > asked->cpu_milli) &&
           (memory_bytes == 0 || memory_bytes / 10 * 9 > asked->memory_bytes);
}

/* One that is not known is nobody's advice. */
static bool has_the_architecture(const struct asked *asked, const struct instance_type *type)
{
    struct text wanted = asked->type.architecture;
    return type->architecture.size > 0 &&
           (wanted.size == 0 || text_equal(type->architecture, wanted));
}

static size_t apart(uint64_t a, uint64_t b)
{
    return (size_t)(a > b ? a - b : b - a);
}

/* How many quarters of the smaller one the larger one has more. */
static size_t size_apart(uint64_t size, uint64_t other)
{
    enum { MOST = 255 };
    uint64_t small = size < other ? size : other;
    if (small == 0)
        return size == other ? 0 : MOST;
    size_t quarters = apart(size, other) * 4 / small;
    return quarters < MOST ? quarters : MOST;
}

/* How far a type's generation is from the one asked for. Of another category no old one is near:
 * t1 is none to write for u-12tb1. */
static size_t generations_apart(const struct asked *asked, const struct instance_type *type)
{
    enum { CURRENT = 5, MOST = 31 }; /* of the c, m and r that AWS sells as current */
    uint32_t wanted = asked->type.generation;
    if (wanted < CURRENT && !text_equal(type->category, asked->type.category))
        wanted = CURRENT;
    size_t generations = apart(type->generation, wanted);
    return generations < MOST ? generations : MOST;
}

/* Categories, a letter each, whose machines have about as much memory for a CPU. */
static bool are_alike(struct text category, struct text other)
{
    static const char *const groups[] = {"amt", "dirxuz"};
    if (category.size != 1 || other.size != 1)
        return false;
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        if (strchr(groups[i], category.data[0]) != NULL)
            return strchr(groups[i], other.data[0]) != NULL;
    return false;
}

/* Accelerators and what the pod needs come first, then architecture, category, CPUs, memory,
 * generation and spelling; each weighs more than all that follow. */
static size_t nearness_in_kind(struct text allowed, struct text found, size_t limit,
                               const void *about)
{
    enum { SPELLING_MOST = 7 };
    const struct asked *asked = about;
    struct instance_type type = instance_list_type(asked->list, asked->dimension, allowed);
    size_t letters = are_alike(allowed, found) ? 0 : text_distance(allowed, found, SPELLING_MOST);
    (void)limit;
    return (size_t)!has_the_devices(asked, &type) << 28 |
           (size_t)!is_large_enough(asked, &type) << 27 |
           (size_t)(instance_type_is_accelerated(&type) &&
                    !instance_type_is_accelerated(&asked->type))
               << 26 |
           (size_t)!has_the_architecture(asked, &type) << 25 |
           (size_t)!text_equal(type.category, asked->type.category) << 24 |
           size_apart(type.cpu, asked->type.cpu) << 16 |
           size_apart(type.memory_mib, asked->type.memory_mib) << 8 |
           generations_apart(asked, &type) << 3 |
           (letters < SPELLING_MOST ? letters : SPELLING_MOST);
}

struct text instance_nearest(const struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, struct text value)
{
    struct asked asked = {.call = call,
                          .list = list,
                          .dimension = dimension,
                          .type = instance_list_type(list, dimension, value)};
    struct allowed allowed = ALLOWED_LIST(&list->values[dimension]);
    allowed.nearness = nearness_in_kind;
    allowed.about = &asked;
    struct text_list nearest = nearest_allowed(&allowed, value, call->arena);
    if (nearest.count == 0 || !instance_list_knows(list, dimension, value))
        return TEXT("");
    struct instance_type type = instance_list_type(list, dimension, nearest.items[0]);
    return has_the_devices(&asked, &type) ? nearest.items[0] : TEXT("");
}

struct text instance_ask_for_exception(const struct rail_call *call)
{
    struct text contact = call->policy->contact;
    struct text name = call->policy->name;
    if (contact.size == 0)
        return arena_printf(call->arena, "Ask the owner of policy %.*s for an exception",
                            TEXT_ARGS(name));
    return arena_printf(call->arena, "Ask %.*s for an exception to policy %.*s", TEXT_ARGS(contact),
                        TEXT_ARGS(name));
}

/* ---- outside the list ---- */

/* "m" of "m5.77xlarge" and of "m55". */
static struct text category_of_name(struct text value)
{
    struct text family = value, category = TEXT("");
    uint32_t generation;
    text_split(value, '.', &family, NULL);
    return instance_family_parse(family, &category, &generation) ? category : TEXT("");
}

/* Of a type or a family that the catalogue does not know no more than the category can be told, and
 * none of another one is near to it. */
static bool is_unlike(const struct instance_list *list, enum dimension dimension, struct text value,
                      struct text nearest)
{
    return (dimension == DIMENSION_TYPE || dimension == DIMENSION_FAMILY) &&
           !instance_list_knows(list, dimension, value) &&
           !text_equal(category_of_name(value), category_of_name(nearest));
}

static void advise_nearest(struct draft *draft, struct arena *arena)
{
    const struct asked *asked = draft->adviser;
    const char *kind = words[asked->dimension].allowed;
    struct text ask = instance_ask_for_exception(asked->call);
    struct instance_type nearest = {0};
    if (draft->allowed.count > 0)
        nearest = instance_list_type(asked->list, asked->dimension, draft->allowed.items[0]);
    size_t total = asked->list->values[asked->dimension].count;
    if (total == 0 ||
        is_unlike(asked->list, asked->dimension, draft->nearest_to, draft->allowed.items[0]))
        draft->fix = arena_printf(arena, "%s.", asked->removal);
    else if (!has_the_devices(asked, &nearest))
        draft->fix =
            arena_printf(arena, "%.*s, because none of the %zu allowed %s %s.", TEXT_ARGS(ask),
                         total, kind, "has accelerators of this kind and number");
    else if (!is_large_enough(asked, &nearest))
        draft->fix =
            arena_printf(arena, "%.*s, because none of the %zu allowed %s is large enough.",
                         TEXT_ARGS(ask), total, kind);
    else if (total == 1)
        draft->fix = arena_printf(arena, "%s, or choose %.*s.", asked->removal,
                                  TEXT_ARGS(draft->allowed.items[0]));
    else
        draft->fix = arena_printf(arena, "%s, or choose one of %zu allowed %s, such as %.*s.",
                                  asked->removal, total, kind, TEXT_ARGS(draft->allowed.items[0]));
}

static const char *removal_of(const struct rail_call *call, const struct values_outside *values)
{
    if (values->others_stay)
        return values->names.count == 1 ? "Remove it from the list" : "Remove them from the list";
    if (values->preferred)
        return "Remove the preference";
    bool of_pods = (KIND_BIT(call->object->kind) & KINDS_WORKLOADS) != 0;
    return of_pods && values->first->position == 0 ? "Remove this entry of the nodeSelector"
                                                   : "Remove the requirement";
}

static void read_needs(struct asked *asked)
{
    const struct rail_call *call = asked->call;
    struct workload workload;
    struct named_amounts requests = {0};
    struct error error;
    if (!workload_read(call->object, call->arena, &workload) ||
        !pod_requests_read(call->world->snapshot, &workload, call->arena, &requests, &error))
        return;
    asked->cpu_milli = named_amount_of(&requests, "cpu");
    asked->memory_bytes = named_amount_of(&requests, "memory");
    FOR_EACH(amount, &requests)
        if (text_is(text_of(amount->resource), "aws.amazon.com/neuroncore"))
            asked->devices++; /* a device has several */
        else if (device_of_resource(text_of(amount->resource)) != DEVICE_COUNT)
            asked->devices += amount->quantity;
}

/* No node is bought for a DaemonSet: it runs where such nodes are. */
static void report_of_daemon_set(struct rail_call *call, enum dimension dimension,
                                 const struct field *field, const struct text_list *names)
{
    enum { SHOWN = 5 };
    bool one = names->count == 1;
    report_as(call, SEVERITY_WARN, .field = field,
              .found = texts_join(names->items, names->count, SHOWN, call->arena), .values = *names,
              .statement = arena_printf(
                  call->arena,
                  "%zu %s named here %s not allowed. The DaemonSet buys no nodes of such kinds, "
                  "and runs where there are any.",
                  names->count, one ? "value" : "values", one ? "is" : "are"),
              .fix = arena_printf(call->arena, "Remove the %s that this cluster does not have.",
                                  words[dimension].allowed));
}

void instance_report_outside(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct values_outside *values)
{
    enum { SHOWN = 5 };
    struct arena *arena = call->arena;
    const struct text_list *names = &values->names;
    enum severity severity = values->preferred ? severity_of_preference(call) : SEVERITY_RAIL;
    if (report_counts(call, severity))
        return;
    bool one = names->count == 1;
    const struct field *field =
        one ? expression_value_field(values->first, arena) : values->first->within;
    if (is_of_daemon_set(call)) {
        report_of_daemon_set(call, dimension, field, names);
        return;
    }
    struct asked *asked = ARENA_NEW(arena, struct asked);
    *asked = (struct asked){.call = call,
                            .list = list,
                            .dimension = dimension,
                            .type = instance_list_type(list, dimension, values->first->text),
                            .removal = removal_of(call, values)};
    read_needs(asked);
    struct text found = texts_join(names->items, names->count, SHOWN, arena);
    struct allowed allowed = ALLOWED_LIST(&list->values[dimension]);
    allowed.nearness = nearness_in_kind;
    allowed.about = asked;
    report_say(call, &(struct draft){
                         .severity = severity,
                         .field = field,
                         .found = found,
                         .values = *names,
                         .statement = arena_printf(
                             arena, "%s %.*s %s not allowed here.",
                             one ? words[dimension].one : words[dimension].many,
                             TEXT_ARGS(texts_and(names->items, names->count, SHOWN, arena)),
                             one ? "is" : "are"),
                         .allowed = allowed,
                         .nearest_to = values->first->text,
                         .advise = advise_nearest,
                         .adviser = asked,
                     });
}

/* ---- not in the catalogue ---- */

/* The list whose values of a dimension may have been meant. */
struct meant {
    const struct instance_list *list;
    enum dimension dimension;
};

/* A value of the list's types; empty when none is near. */
static struct text value_meant(const struct meant *adviser, struct text value, struct arena *arena)
{
    enum { VALUE_EDITS = 3 };
    const struct text_list *known = &adviser->list->values[adviser->dimension];
    struct text meant = label_value_meant(
        adviser->list->catalog, text_of(dimension_keys[adviser->dimension]), value, arena);
    if (texts_have(known->items, known->count, meant))
        return meant;
    /* It is outside the list; or is the nearest within meant? Short values are near to each other
     * without being meant. */
    size_t edits = value.size / 2 < VALUE_EDITS ? value.size / 2 : TYPO_EDITS;
    size_t nearest = text_nearest(value, known->items, known->count, edits);
    if (nearest == known->count ||
        is_unlike(adviser->list, adviser->dimension, value, known->items[nearest]))
        return TEXT("");
    return known->items[nearest];
}

static void advise_meant(struct draft *draft, struct arena *arena)
{
    struct text meant = value_meant(draft->adviser, draft->found, arena);
    if (meant.size == 0)
        return;
    draft->fix = arena_printf(arena, "Replace with %.*s.", TEXT_ARGS(meant));
    draft->replacement = meant;
}

/* What no label can hold, and a known value but for its case or its separator: "M5.LARGE",
 * "m5-large". */
static bool is_misspelt(const struct instance_list *list, enum dimension dimension,
                        struct text value, struct arena *arena)
{
    if (!label_value_is_valid(value))
        return true;
    char *spelt = ARENA_ARRAY(arena, value.size + 1, char);
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        bool separates = dimension == DIMENSION_TYPE && (c == '-' || c == '_');
        spelt[i] = separates ? '.' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return instance_list_knows(list, dimension, (struct text){spelt, value.size});
}

/* Catalogues age: what the built-in one does not know may exist all the same. */
void instance_report_unknown(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value)
{
    bool may_exist = catalog_is_builtin(list->catalog) &&
                     !is_misspelt(list, dimension, value->text, call->arena);
    enum severity severity = may_exist ? SEVERITY_WARN : SEVERITY_RAIL;
    if (report_counts(call, severity))
        return;
    struct meant *adviser = ARENA_NEW(call->arena, struct meant);
    *adviser = (struct meant){list, dimension};
    report_say(call, &(struct draft){
                         .severity = severity,
                         .field = expression_value_field(value, call->arena),
                         .found = value->text,
                         .statement = arena_printf(call->arena,
                                                   "%s %.*s is not in the catalogue, and may not "
                                                   "exist.",
                                                   words[dimension].one, TEXT_ARGS(value->text)),
                         .fix = TEXT(CHECK_NAME_IN_CATALOG),
                         .advise = advise_meant,
                         .adviser = adviser,
                     });
}

void instance_report_unsure(struct rail_call *call, const struct instance_list *list,
                            enum severity severity, const struct field *field,
                            const struct type_set *reached)
{
    struct arena *arena = call->arena;
    if (report_counts(call, severity))
        return;
    struct type_set types = type_set_and(reached, &list->possible, arena);
    types = type_set_minus(&types, &list->allowed, arena);
    struct text names = type_set_text(list->catalog, &types, arena);
    struct text ask = instance_ask_for_exception(call);
    report_say(call,
               &(struct draft){
                   .severity = severity,
                   .field = field,
                   .found = names,
                   .values = type_set_names(list->catalog, &types, arena),
                   .statement = arena_printf(arena,
                                             "The catalogue does not know the hardware of %.*s, so "
                                             "nobody can tell whether %s allowed here.",
                                             TEXT_ARGS(names),
                                             type_set_count(&types) == 1 ? "it is" : "they are"),
                   .fix = arena_printf(arena, "Choose a type whose hardware is known, or a%.*s.",
                                       (int)(ask.size - 1), ask.data + 1)});
}
