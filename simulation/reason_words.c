/* Puts the solver's reasons into words: the sentences of solver/reason.def with their operands. */
#include "simulation/reason_words.h"

#include <stdlib.h>
#include <string.h>

#include "solver/reason.h"

static const char *const sentences[] = {
#define SAYS(name, sentence) [SOLVER_SAYS_##name] = sentence,
#include "solver/reason.def"
#undef SAYS
};

#define VALUES_SHOWN 5
#define CAUSES_SHOWN 3

/* ---- lists ---- */

/* Labels are no longer than this; of longer texts the beginning is enough to recognise them. */
static struct text shortened(struct arena *arena, struct text text)
{
    enum { LONGEST = 317, SHOWN = 60 };
    if (text.size <= LONGEST)
        return text;
    size_t size = SHOWN;
    while (size > 0 && ((unsigned char)text.data[size] & 0xC0) == 0x80)
        size--; /* does not cut a code point */
    return arena_printf(arena, "%.*s...", (int)size, text.data);
}

/* Moves the items of a long list that are shown to its front, unsorted; returns their number. */
static size_t first_to_front(struct text_list *texts)
{
    struct text *items = texts->items;
    for (size_t i = 1; i < texts->count; i++) {
        size_t last = i < VALUES_SHOWN ? i : VALUES_SHOWN - 1;
        if (text_compare(items[i], items[last]) > 0)
            continue;
        struct text moved = items[i];
        items[i] = items[last];
        for (; last > 0 && text_compare(items[last - 1], moved) > 0; last--)
            items[last] = items[last - 1];
        items[last] = moved;
    }
    return VALUES_SHOWN;
}

/* A sorted list: "a, b or c" with last " or "; of a long one the first items, then how many there
 * are. more: come after these. */
static struct text words_list(struct arena *arena, struct text_list *texts, size_t more,
                              const char *last)
{
    struct text result = TEXT("");
    size_t shown = texts->count + more > VALUES_SHOWN + 1 ? VALUES_SHOWN : texts->count;
    size_t sorted = shown < texts->count ? first_to_front(texts) : texts->count;
    texts_sort(texts->items, sorted);
    for (size_t i = 0; i < shown; i++) {
        const char *between = i == 0 ? "" : i + 1 < texts->count ? ", " : last;
        result = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(result), between,
                              TEXT_ARGS(texts->items[i]));
    }
    if (shown < texts->count)
        result = arena_printf(arena, "%.*s and %zu more", TEXT_ARGS(result),
                              texts->count + more - shown);
    return result;
}

/* The words that a modifier of a sentence puts before the last item. */
static const char *last_of(char modifier)
{
    return modifier == '|' ? " or " : modifier == ',' ? ", " : " and ";
}

static struct text words_values(struct arena *arena, struct solver_texts values, char modifier)
{
    struct text_list texts = {ARENA_ARRAY(arena, values.count, struct text), 0, values.count};
    for (size_t i = 0; i < values.count; i++)
        texts.items[texts.count++] =
            values.items[i].size == 0 ? TEXT("\"\"") : shortened(arena, values.items[i]);
    return words_list(arena, &texts, values.more, last_of(modifier));
}

/* ---- what is asked ---- */

static struct text words_bounds(struct arena *arena, const struct solver_asked *asked)
{
    if (asked->has_gte && asked->has_lte)
        return arena_printf(arena, " of at least %lld and at most %lld", (long long)asked->gte,
                            (long long)asked->lte);
    if (asked->has_gte)
        return arena_printf(arena, " of at least %lld", (long long)asked->gte);
    return asked->has_lte ? arena_printf(arena, " of at most %lld", (long long)asked->lte)
                          : TEXT("");
}

static struct text words_asked(struct arena *arena, const struct solver_asked *asked)
{
    struct text key = shortened(arena, asked->key), bounds = words_bounds(arena, asked);
    struct text values = words_values(arena, asked->values, '|');
    switch (asked->op) {
    case SOLVER_IN:
        return arena_printf(arena, "%.*s %.*s", TEXT_ARGS(key), TEXT_ARGS(values));
    case SOLVER_NOT_IN:
        return arena_printf(arena, "%.*s%.*s other than %.*s", TEXT_ARGS(key), TEXT_ARGS(bounds),
                            TEXT_ARGS(values));
    case SOLVER_DOES_NOT_EXIST:
        return arena_printf(arena, "no label %.*s", TEXT_ARGS(key));
    default:
        return bounds.size > 0 ? arena_printf(arena, "%.*s%.*s", TEXT_ARGS(key), TEXT_ARGS(bounds))
                               : arena_printf(arena, "any %.*s", TEXT_ARGS(key));
    }
}

static struct text words_all_asked(struct arena *arena, const struct solver_operand *operand,
                                   char modifier)
{
    struct text_builder out = {.arena = arena};
    bool offering = operand->asked.of_offering;
    if (modifier == 'H')
        text_builder_printf(&out, offering ? "are on offer with " : "have ");
    else if (modifier == 'h' || modifier == 'b')
        text_builder_printf(&out, offering ? "is on offer with " : "has ");
    if (modifier == 'b' && operand->asked.count == 2)
        text_builder_printf(&out, "both ");
    for (size_t i = 0; i < operand->asked.count; i++)
        text_builder_printf(&out, "%s%.*s", i == 0 ? "" : " and ",
                            TEXT_ARGS(words_asked(arena, &operand->asked.items[i])));
    return text_builder_text(&out);
}

static struct text words_selector(struct arena *arena, const struct solver_operand *operand)
{
    struct text_builder out = {.arena = arena};
    if (operand->asked.of_none)
        return TEXT("its selector is none");
    for (size_t i = 0; i < operand->asked.count; i++) {
        const struct solver_asked *item = &operand->asked.items[i];
        struct text_list values = {ARENA_ARRAY(arena, item->values.count, struct text), 0, 0};
        for (size_t j = 0; j < item->values.count; j++)
            values.items[values.count++] = item->values.items[j];
        bool negative = item->op == SOLVER_NOT_IN;
        text_builder_printf(&out, "%s", i == 0 ? "" : ", ");
        if (item->op == SOLVER_IN || negative)
            text_builder_printf(&out, "%.*s%s%.*s", TEXT_ARGS(item->key),
                                negative ? " other than " : "=",
                                TEXT_ARGS(words_list(arena, &values, 0, " or ")));
        else
            text_builder_printf(&out, "%s%.*s",
                                item->op == SOLVER_DOES_NOT_EXIST ? "no label " : "any ",
                                TEXT_ARGS(item->key));
    }
    return operand->asked.count == 0 ? TEXT("any pod") : text_builder_text(&out);
}

/* ---- taints and constraints ---- */

/* "dedicated=gpu:NoSchedule". */
static struct text words_taint(struct arena *arena, const struct solver_operand *operand)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    struct text value = operand->taint.value;
    return arena_printf(arena, "%.*s%s%.*s%s%s", TEXT_ARGS(operand->taint.key),
                        value.size == 0 ? "" : "=", TEXT_ARGS(value),
                        operand->taint.any_effect ? "" : ":",
                        operand->taint.any_effect ? "" : effects[operand->taint.effect]);
}

/* "its spread over zones (topology.kubernetes.io/zone, maxSkew 1)". */
static struct text words_constraint(struct arena *arena, const struct solver_operand *operand,
                                    char modifier)
{
    static const char *const names[] = {"its spread", "its affinity", "its anti-affinity",
                                        "the anti-affinity of other pods"};
    const char *name = names[operand->constraint.kind];
    struct text key = operand->constraint.key;
    struct text skew = operand->constraint.kind == SOLVER_SPREAD
                           ? arena_printf(arena, "maxSkew %d", operand->constraint.max_skew)
                           : TEXT("");
    if (modifier == 'k')
        return text_of(name);
    if (operand->constraint.over_nodes || operand->constraint.over_zones)
        return arena_printf(arena, "%s over %s (%.*s%s%.*s)", name,
                            operand->constraint.over_nodes ? "nodes" : "zones", TEXT_ARGS(key),
                            skew.size == 0 ? "" : ", ", TEXT_ARGS(skew));
    return arena_printf(arena, "%s over %.*s%s%.*s%s", name, TEXT_ARGS(key),
                        skew.size == 0 ? "" : " (", TEXT_ARGS(skew), skew.size == 0 ? "" : ")");
}

/* ---- quantities ---- */

static struct text words_cpu(struct arena *arena, int64_t thousandths)
{
    long long whole = (long long)(thousandths / 1000);
    unsigned rest = (unsigned)(thousandths % 1000);
    if (rest == 0)
        return arena_printf(arena, "%lld cpu", whole);
    if (rest % 100 == 0)
        return arena_printf(arena, "%lld.%u cpu", whole, rest / 100);
    return rest % 10 == 0 ? arena_printf(arena, "%lld.%02u cpu", whole, rest / 10)
                          : arena_printf(arena, "%lld.%03u cpu", whole, rest);
}

/* In the largest unit that makes it a whole number, unless that has many digits. */
static struct text words_bytes(struct arena *arena, int64_t bytes, const char *name, bool up)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    enum { UNITS = COUNT_OF(units), WHOLE_MOST = 9999 };
    int64_t whole = bytes;
    size_t unit = 0;
    for (; whole % 1024 == 0 && whole != 0 && unit + 1 < UNITS; unit++)
        whole /= 1024;
    if (whole <= WHOLE_MOST)
        return arena_printf(arena, "%lld%s %s", (long long)whole, units[unit], name);
    int64_t size_bytes = 1;
    for (unit = 0; bytes / size_bytes >= 1024 && unit + 1 < UNITS; unit++)
        size_bytes *= 1024;
    int64_t over = bytes % size_bytes * 100;
    long long hundredths = bytes / size_bytes * 100 + over / size_bytes;
    if (up && over % size_bytes != 0)
        hundredths++;
    if (hundredths % 100 == 0)
        return arena_printf(arena, "%lld%s %s", hundredths / 100, units[unit], name);
    if (hundredths % 10 == 0)
        return arena_printf(arena, "%lld.%lld%s %s", hundredths / 100, hundredths / 10 % 10,
                            units[unit], name);
    return arena_printf(arena, "%lld.%02lld%s %s", hundredths / 100, hundredths % 100, units[unit],
                        name);
}

/* cpu is in thousandths, memory and storage in bytes; values are rounded up or down to the unit
 * that is shown. */
static struct text words_quantity(struct arena *arena, const struct solver_operand *operand)
{
    const char *name = operand->quantity.name;
    uint32_t resource = operand->quantity.resource;
    int64_t amount = operand->quantity.amount > 0 ? operand->quantity.amount : 0;
    if (amount == INT64_MAX)
        return arena_printf(arena, "more %s than can be counted", name);
    if (resource == SOLVER_CPU)
        return words_cpu(arena, amount);
    if (resource == SOLVER_MEMORY || strstr(name, "storage") != NULL ||
        strncmp(name, "hugepages-", strlen("hugepages-")) == 0)
        return words_bytes(arena, amount, name, operand->quantity.up);
    if (amount == 1 && (resource == SOLVER_PODS || resource == SOLVER_NODES))
        return resource == SOLVER_PODS ? TEXT("1 pod") : TEXT("1 node");
    return arena_printf(arena, "%lld %s", (long long)amount, name);
}

/* ---- sentences ---- */

static struct text words_saying(struct arena *arena, const struct solver_saying *saying,
                                bool several);

static struct text words_sayings(struct arena *arena, const struct solver_operand *operand,
                                 char modifier)
{
    struct text_list texts = {ARENA_ARRAY(arena, operand->sayings.count, struct text), 0, 0};
    for (size_t i = 0; i < operand->sayings.count; i++)
        texts.items[texts.count++] = words_saying(arena, &operand->sayings.items[i], false);
    if (modifier != ';' && modifier != '+')
        return words_list(arena, &texts, 0, last_of(modifier));
    struct text_builder out = {.arena = arena};
    for (size_t i = 0; i < texts.count; i++)
        text_builder_printf(&out, "%s%.*s",
                            i == 0            ? ""
                            : modifier == ';' ? ", "
                                              : " and ",
                            TEXT_ARGS(texts.items[i]));
    return text_builder_text(&out);
}

static struct text words_operand(struct arena *arena, const struct solver_operand *operand,
                                 char modifier)
{
    switch (operand->kind) {
    case SOLVER_OPERAND_NAME:
        return operand->name;
    case SOLVER_OPERAND_NUMBER:
        return arena_printf(arena, "%lld", (long long)operand->number);
    case SOLVER_OPERAND_QUANTITY:
        return words_quantity(arena, operand);
    case SOLVER_OPERAND_TEXTS:
        return words_values(arena, operand->texts, modifier);
    case SOLVER_OPERAND_ASKED:
        return words_all_asked(arena, operand, modifier);
    case SOLVER_OPERAND_SELECTOR:
        return words_selector(arena, operand);
    case SOLVER_OPERAND_TAINT:
        return words_taint(arena, operand);
    case SOLVER_OPERAND_CONSTRAINT:
        return words_constraint(arena, operand, modifier);
    case SOLVER_OPERAND_SAYINGS:
        return words_sayings(arena, operand, modifier);
    }
    return TEXT("");
}

static struct text words_sentence(struct arena *arena, const char *at,
                                  const struct solver_saying *saying, bool several)
{
    struct text_builder out = {.arena = arena};
    size_t verb = strcspn(at, "/ ");
    if (at[verb] == '/') {
        size_t plural = strcspn(at + verb + 1, " ");
        text_builder_add(&out,
                         several ? (struct text){at + verb + 1, plural} : (struct text){at, verb});
        at += verb + 1 + plural;
    }
    while (*at != '\0') {
        size_t plain = strcspn(at, "{");
        text_builder_add(&out, (struct text){at, plain});
        at += plain;
        if (*at == '\0')
            break;
        char modifier = at[2] == '}' ? '\0' : at[2];
        text_builder_add(&out, words_operand(arena, &saying->operands[at[1] - '0'], modifier));
        at += modifier == '\0' ? 3 : 4;
    }
    return text_builder_text(&out);
}

static struct text words_saying(struct arena *arena, const struct solver_saying *saying,
                                bool several)
{
    return words_sentence(arena, sentences[saying->says], saying, several);
}

/* ---- the nodes there are ---- */

struct told_cause {
    enum solver_reason_kind kind;
    struct text one, many; /* "lacks cpu", "lack cpu" */
    size_t count;
};

static int compare_causes(const void *a_pointer, const void *b_pointer)
{
    const struct told_cause *a = a_pointer, *b = b_pointer;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return text_compare(a->one, b->one);
}

/* The causes in words, each once, the most frequent first. */
static size_t tell_causes(struct arena *arena, const struct solver_reason *reason,
                          struct told_cause *causes)
{
    size_t count = 0;
    for (size_t i = 0; i < reason->cause_count; i++) {
        const struct solver_cause *cause = &reason->causes[i];
        struct text one = words_saying(arena, &cause->saying, false);
        size_t same = 0;
        while (same < count && !text_equal(causes[same].one, one))
            same++;
        if (same == count)
            causes[count++] =
                (struct told_cause){cause->kind, one, words_saying(arena, &cause->saying, true), 0};
        causes[same].count += cause->count;
    }
    qsort(causes, count, sizeof *causes, compare_causes);
    return count;
}

static struct text words_causes(struct arena *arena, const struct told_cause *causes, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += causes[i].count;
    if (count == 1 && total == 2)
        return arena_printf(arena, "both nodes %.*s", TEXT_ARGS(causes->many));
    if (count == 1)
        return total == 1
                   ? arena_printf(arena, "the only node %.*s", TEXT_ARGS(causes->one))
                   : arena_printf(arena, "all %zu nodes %.*s", total, TEXT_ARGS(causes->many));
    struct text_builder words = {.arena = arena};
    text_builder_printf(&words, "of %zu nodes", total);
    size_t rest = total;
    for (size_t i = 0; i < count && i < CAUSES_SHOWN; i++) {
        text_builder_printf(&words, "%s %zu %.*s", i == 0 ? "" : ",", causes[i].count,
                            TEXT_ARGS(causes[i].count == 1 ? causes[i].one : causes[i].many));
        rest -= causes[i].count;
    }
    if (rest > 0)
        text_builder_printf(&words, ", %zu more for other reasons", rest);
    return text_builder_text(&words);
}

/* As many as there are, each with its number of Nodes. */
static void list_causes(struct arena *arena, const struct told_cause *causes, size_t count,
                        struct reason_words *words)
{
    struct cause_words *items = ARENA_ARRAY(arena, count, struct cause_words);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct cause_words){
            causes[i].kind, (causes[i].count == 1 ? causes[i].one : causes[i].many).data,
            causes[i].count};
    words->causes = items;
    words->cause_count = count;
}

/* ---- what would change it ---- */

/* Of some sentences, with their operands. */
static const struct {
    enum solver_says says;
    const char *fix;
} fixes[] = {
    {SOLVER_SAYS_TAINT, "tolerate {0}"},
    {SOLVER_SAYS_TAINTS, "tolerate {0+}"},
    {SOLVER_SAYS_PORT, "use another host port than {0}"},
    {SOLVER_SAYS_PORT_OF_SIDECAR, "use another host port than {0}"},
    {SOLVER_SAYS_MIN_VALUES_OF, "lower its minValues of {1}"},
    {SOLVER_SAYS_LIMIT_ALLOWS_NONE, "raise its limit of {0}"},
    {SOLVER_SAYS_LIMIT_USED_UP, "raise its limit of {0}"},
    {SOLVER_SAYS_LIMIT_TOO_SMALL, "raise its limit of {0}"},
    {SOLVER_SAYS_LIMIT_LEFT, "raise its limit of {0}"},
    {SOLVER_SAYS_NEEDS_MISTAKEN, "write m where M stands"},
    {SOLVER_SAYS_UNKNOWN_RESOURCE, "install what offers the resource, or do not ask for it"},
    {SOLVER_SAYS_NO_TYPE_FOR_POOL, "mend its requirements, which no instance type meets"},
    {SOLVER_SAYS_POOL_CONTRADICTS_ITSELF, "mend its requirements on {0}"},
    {SOLVER_SAYS_POOL_NOT_OFFERED, "let it have a further zone or capacity type"},
    {SOLVER_SAYS_POOL_NOT_OFFERED_WITH, "let it have a further zone or capacity type"},
    {SOLVER_SAYS_DAEMONS_FILL_POOL, "let it have larger instance types"},
    {SOLVER_SAYS_VOLUMES_APART, "mount volumes that one place holds"},
    {SOLVER_SAYS_ATTACHES, "mount fewer volumes, or allow instance types that attach more"},
    {SOLVER_SAYS_NO_NODE_POOL, "make a NodePool, or see why none is ready"},
};
/* Of all others. */
static const char *const fixes_by_kind[SOLVER_REASON_COUNT] = {
    [SOLVER_REASON_TAINT] = "tolerate its taint",
    [SOLVER_REASON_REQUIREMENT] = "ask for what it has, or let it have what is asked for",
    [SOLVER_REASON_RESOURCES] = "ask for less, or allow larger instance types",
    [SOLVER_REASON_OFFERING] = "allow a further zone or capacity type",
    [SOLVER_REASON_TOPOLOGY] = "loosen the constraint, or make room where it allows the pod",
    [SOLVER_REASON_VOLUME] = "let it have nodes where the volume is",
    [SOLVER_REASON_LIMIT] = "raise its limits",
    [SOLVER_REASON_PORT] = "use another host port",
    [SOLVER_REASON_MIN_VALUES] = "lower its minValues",
    [SOLVER_REASON_DEVICES] = "ask for devices as extended resources",
};

/* Where types have too little of a resource, or nothing. */
static const char *fix_of_room(struct arena *arena, const struct solver_reason *reason)
{
    const struct solver_saying *nearest = &reason->nearest;
    switch (nearest->says) {
    case SOLVER_SAYS_NO_TYPE_OF_POOL_HAS:
    case SOLVER_SAYS_NO_TYPE_IT_MAY_USE_HAS:
        return words_sentence(arena,
                              reason->too_large ? "do not ask for {0}, or add Nodes that have it"
                                                : "allow instance types that have {0}",
                              nearest, false)
            .data;
    case SOLVER_SAYS_ROOM_OF_ONLY_TYPE_OF_POOL:
    case SOLVER_SAYS_ROOM_OF_ONLY_TYPE:
    case SOLVER_SAYS_ROOM_OF_LARGEST:
    case SOLVER_SAYS_ROOM_OF_NEAREST:
        if (strcmp(nearest->operands[1].quantity.name, "ephemeral-storage") == 0)
            return "ask for less, or give its nodes a larger disk (volumeSize of the EC2NodeClass)";
        return reason->too_large ? "ask for less" : fixes_by_kind[SOLVER_REASON_RESOURCES];
    default:
        return fixes_by_kind[reason->kind];
    }
}

static const char *fix_of(struct arena *arena, const struct solver_reason *reason,
                          enum solver_reason_kind kind)
{
    const struct solver_saying *saying = &reason->message;
    for (size_t i = 0; i < COUNT_OF(fixes); i++)
        if (fixes[i].says == saying->says)
            return words_sentence(arena, fixes[i].fix, saying, false).data;
    return kind == SOLVER_REASON_RESOURCES ? fix_of_room(arena, reason) : fixes_by_kind[kind];
}

/* ---- reasons ---- */

static struct reason_words tell(struct arena *arena, const struct solver_reason *reason)
{
    struct reason_words words = {.pool = reason->pool, .kind = reason->kind};
    if (reason->cause_count > 0) {
        struct told_cause *causes = ARENA_ARRAY(arena, reason->cause_count, struct told_cause);
        size_t count = tell_causes(arena, reason, causes);
        words.message = words_causes(arena, causes, count).data;
        words.kind = causes[0].kind;
        list_causes(arena, causes, count, &words);
    } else {
        words.message = words_saying(arena, &reason->message, false).data;
    }
    words.fix = fix_of(arena, reason, words.kind);
    words.nearest = words_saying(arena, &reason->nearest, false).data;
    return words;
}

bool reasons_exclude_every_pool(struct solver_reasons reasons)
{
    FOR_EACH(reason, &reasons)
        if (reason->pool == SOLVER_NONE && reason->cause_count == 0 &&
            reason->message.says != SOLVER_SAYS_NO_NODE_POOL &&
            reason->message.says != SOLVER_SAYS_UNKNOWN_RESOURCE)
            return true;
    return false;
}

struct reasons_words reasons_tell(struct solver_reasons reasons, struct arena *arena)
{
    struct reason_words *items = ARENA_ARRAY(arena, reasons.count, struct reason_words);
    for (size_t i = 0; i < reasons.count; i++) {
        items[i] = tell(arena, &reasons.items[i]);
        bool of_none = i > 0 && items[i].pool == SOLVER_NONE;
        if (of_none && items[i - 1].kind > items[i].kind) {
            struct reason_words before = items[i - 1];
            items[i - 1] = items[i];
            items[i] = before;
        }
    }
    return (struct reasons_words){items, reasons.count};
}

static const struct simulation_cause *causes_by_name(const struct reason_words *reason,
                                                     struct arena *arena)
{
    struct simulation_cause *causes =
        ARENA_ARRAY(arena, reason->cause_count, struct simulation_cause);
    for (size_t i = 0; i < reason->cause_count; i++)
        causes[i] = (struct simulation_cause){.count = reason->causes[i].count,
                                              .kind = solver_reason_name(reason->causes[i].kind),
                                              .message = text_of(reason->causes[i].message)};
    return causes;
}

struct simulation_reasons reasons_by_name(struct reasons_words words,
                                          const struct solver_problem *problem, struct arena *arena)
{
    struct simulation_reason *items = ARENA_ARRAY(arena, words.count, struct simulation_reason);
    for (size_t i = 0; i < words.count; i++) {
        const struct reason_words *reason = &words.items[i];
        items[i] = (struct simulation_reason){
            .kind = solver_reason_name(reason->kind),
            .message = text_of(reason->message),
            .nearest = text_of(reason->nearest),
            .fix = text_of(reason->fix),
            .causes = causes_by_name(reason, arena),
            .cause_count = reason->cause_count,
        };
        if (reason->pool != SOLVER_NONE)
            items[i].node_pool =
                arena_text(arena, text_of(solver_pool_name(problem, reason->pool)));
    }
    return (struct simulation_reasons){items, words.count};
}
