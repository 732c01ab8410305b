/* The filters of `taffrail catalog`. */
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "cli/catalog.h"
#include "solver/well_known.h"

struct filter_part {
    struct text written, key;
    enum solver_op op;
    struct text *values;
    size_t count;
};

/* The domains of short keys, most wanted first. */
static const char *const prefixes[] = {
    "",
    "karpenter.k8s.aws/instance-",
    "karpenter.k8s.aws/",
    "node.kubernetes.io/instance-",
    "node.kubernetes.io/",
    "kubernetes.io/",
    "topology.kubernetes.io/",
    "karpenter.sh/",
    "topology.k8s.aws/",
    "karpenter.kwok.sh/instance-",
    "karpenter.kwok.sh/",
};

/* A longer sign comes before its own prefix. */
static const struct {
    const char *text;
    enum solver_op op;
} signs[] = {
    {"!=", SOLVER_NOT_IN}, {"==", SOLVER_IN}, {">=", SOLVER_GTE}, {"<=", SOLVER_LTE},
    {"=", SOLVER_IN},      {">", SOLVER_GT},  {"<", SOLVER_LT},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static struct text trim(struct text t)
{
    while (t.size > 0 && is_blank(t.data[0]))
        t = (struct text){t.data + 1, t.size - 1};
    while (t.size > 0 && is_blank(t.data[t.size - 1]))
        t.size--;
    return t;
}

static bool wrong(struct error *error, struct text written, const char *what)
{
    return error_set(
        error, ERROR_USAGE, NOWHERE,
        "\"%.*s\" %s; write key=value, key!=value, key in (a,b), key notin (a,b), key, "
        "!key, key>7 or key<65",
        TEXT_ARGS(written), what);
}

static bool is_key(struct text key)
{
    if (key.size == 0)
        return false;
    for (size_t i = 0; i < key.size; i++)
        if (is_blank(key.data[i]) || strchr("!=<>(),", key.data[i]) != NULL)
            return false;
    return true;
}

/* "(a, b)" */
static bool read_list(struct arena *arena, struct text t, struct filter_part *part)
{
    t = trim(t);
    if (t.size < 2 || t.data[0] != '(' || t.data[t.size - 1] != ')')
        return false;
    struct text rest = {t.data + 1, t.size - 2}, value;
    size_t most = 1;
    for (size_t i = 0; i < rest.size; i++)
        most += rest.data[i] == ',';
    part->values = ARENA_ARRAY(arena, most, struct text);
    for (bool more = true; more;) {
        struct text after = {0};
        more = text_split(rest, ',', &value, &after);
        value = trim(more ? value : rest);
        rest = after;
        if (value.size == 0)
            return false;
        part->values[part->count++] = value;
    }
    return true;
}

/* "key in (a,b)": false when there is no such word; then the part stays as it is. */
static bool read_word(struct arena *arena, struct text t, struct filter_part *part, bool *valid)
{
    size_t end = 0;
    while (end < t.size && !is_blank(t.data[end]))
        end++;
    struct text key = {t.data, end}, rest = trim((struct text){t.data + end, t.size - end});
    bool negative = text_starts_with(rest, TEXT("notin"));
    if (!negative && !text_starts_with(rest, TEXT("in")))
        return false;
    size_t word_size = negative ? strlen("notin") : strlen("in");
    part->key = key;
    part->op = negative ? SOLVER_NOT_IN : SOLVER_IN;
    *valid = read_list(arena, (struct text){rest.data + word_size, rest.size - word_size}, part);
    return true;
}

/* "key>7": splits at the first sign, for any value. */
static bool read_sign(struct arena *arena, struct text t, struct filter_part *part)
{
    for (size_t at = 0; at < t.size; at++)
        for (size_t i = 0; i < COUNT_OF(signs); i++) {
            struct text rest = {t.data + at, t.size - at}, sign = text_of(signs[i].text);
            if (!text_starts_with(rest, sign))
                continue;
            part->key = trim((struct text){t.data, at});
            part->op = signs[i].op;
            part->values = ARENA_NEW(arena, struct text);
            *part->values = trim((struct text){rest.data + sign.size, rest.size - sign.size});
            part->count = 1;
            return true;
        }
    return false;
}

static bool read_part(struct arena *arena, struct filter_part *part, struct error *error)
{
    struct text t = part->written;
    bool valid = true;
    if (t.size > 0 && t.data[0] == '!') {
        part->key = trim((struct text){t.data + 1, t.size - 1});
        part->op = SOLVER_DOES_NOT_EXIST;
    } else if (!read_word(arena, t, part, &valid) && !read_sign(arena, t, part)) {
        part->key = t;
        part->op = SOLVER_EXISTS;
    }
    if (!valid)
        return wrong(error, t, "has no list of values in brackets");
    if (!is_key(part->key))
        return wrong(error, t, "is no selector");
    int64_t number = 0;
    if (part->op >= SOLVER_GT && !text_to_int64(part->values[0], &number))
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "\"%.*s\" compares with \"%.*s\"; only a whole number is allowed there",
                         TEXT_ARGS(t), TEXT_ARGS(part->values[0]));
    return true;
}

/* The full key, or empty text. */
static struct text find_key(const struct catalog_filter *filter, struct text key)
{
    key.data = solver_canonical_key(key.data, &key.size);
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        struct text full = arena_printf(filter->arena, "%s%.*s", prefixes[i], TEXT_ARGS(key));
        if (catalog_has_key(filter->catalog, full))
            return full;
    }
    return (struct text){0};
}

/* "karpenter.k8s.aws/instance-family" is "family". */
static struct text short_key(struct text key)
{
    (void)text_split_last(key, '/', NULL, &key);
    struct text instance = TEXT("instance-");
    if (text_starts_with(key, instance) && !text_is(key, "instance-type"))
        key = (struct text){key.data + instance.size, key.size - instance.size};
    return key;
}

static bool unknown_key(const struct catalog_filter *filter, const struct filter_part *part,
                        struct error *error)
{
    const struct solver_names *names = catalog_names(filter->catalog);
    uint32_t key_count = solver_names_key_count(names);
    struct text *full = ARENA_ARRAY(filter->arena, key_count, struct text);
    struct text *brief = ARENA_ARRAY(filter->arena, key_count, struct text);
    struct text_builder all = {.arena = filter->arena};
    size_t count = 0;
    for (uint32_t i = 0; i < key_count; i++) {
        full[count].data = solver_names_key_text(names, i, &full[count].size);
        if (!catalog_has_key(filter->catalog, full[count]))
            continue;
        brief[count] = short_key(full[count]);
        text_builder_printf(&all, "%s%.*s", count > 0 ? ", " : "", TEXT_ARGS(brief[count]));
        count++;
    }
    struct text wanted = short_key(part->key);
    size_t nearest = text_meant(wanted, brief, count);
    if (nearest < count)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "no instance type has a label \"%.*s\"; did you mean %.*s (%.*s)?",
                         TEXT_ARGS(part->key), TEXT_ARGS(brief[nearest]), TEXT_ARGS(full[nearest]));
    return error_set(error, ERROR_USAGE, NOWHERE,
                     "no instance type has a label \"%.*s\"; there are %.*s", TEXT_ARGS(part->key),
                     TEXT_ARGS(text_builder_text(&all)));
}

/* A value that no type has may be intended, but it is more likely a slip. */
static void note_unknown_value(const struct catalog_filter *filter, struct text key,
                               struct text value)
{
    const struct solver_names *names = catalog_names(filter->catalog);
    uint32_t number = solver_names_find_key(names, key.data, key.size);
    uint32_t count = number == SOLVER_NONE ? 0 : solver_names_value_count(names, number);
    if (count == 0 || solver_names_find_value(names, number, value.data, value.size) != SOLVER_NONE)
        return;
    struct text *known = ARENA_ARRAY(filter->arena, count, struct text);
    for (uint32_t i = 0; i < count; i++)
        known[i].data = solver_names_value_text(names, number, i, &known[i].size);
    size_t nearest = text_meant(value, known, count);
    fprintf(stderr, "note: no instance type has %.*s=%.*s", TEXT_ARGS(key), TEXT_ARGS(value));
    if (nearest < count)
        fprintf(stderr, "; the nearest is %.*s", TEXT_ARGS(known[nearest]));
    fprintf(stderr, "\n");
}

static void note_what_changes_nothing(const struct catalog_filter *filter, struct text key)
{
    static const char *const sold_everywhere[] = {
        LABEL_ZONE,
        LABEL_REGION,
        LABEL_ZONE_ID,
        LABEL_CAPACITY_TYPE,
    };
    for (size_t i = 0; i < COUNT_OF(sold_everywhere); i++)
        if (catalog_is_builtin(filter->catalog) && text_is(key, sold_everywhere[i]))
            fprintf(stderr,
                    "note: %s changes nothing: of the built-in catalogue every type is sold "
                    "everywhere (--catalog FILE for your own offerings)\n",
                    sold_everywhere[i]);
}

/* What is wanted of a key leaves it no value. A type that lacks the key, or of which it is not
 * known, meets only what says so. */
static void note_contradiction(struct catalog_filter *filter, struct text key)
{
    if (!filter->leaves_none)
        fprintf(stderr, "note: these expressions leave %.*s no value\n", TEXT_ARGS(key));
    filter->leaves_none = true;
}

static bool is_positive(const struct solver_requirement *requirement)
{
    return requirement != NULL && !solver_requirement_is_negative(requirement);
}

static bool add_part(struct catalog_filter *filter, struct filter_part *part, struct error *error)
{
    if (!read_part(filter->arena, part, error))
        return false;
    struct text key_text = find_key(filter, part->key);
    if (key_text.size == 0)
        return unknown_key(filter, part, error);
    note_what_changes_nothing(filter, key_text);
    uint32_t key = solver_names_key(filter->names, key_text.data, key_text.size);
    uint32_t *values = ARENA_ARRAY(filter->arena, part->count, uint32_t);
    for (size_t i = 0; i < part->count; i++) {
        if (part->op == SOLVER_IN || part->op == SOLVER_NOT_IN)
            note_unknown_value(filter, key_text, part->values[i]);
        values[i] =
            solver_names_value(filter->names, key, part->values[i].data, part->values[i].size);
    }
    struct solver_requirement requirement = solver_requirement_make(
        filter->names, key, part->op, values, part->count, 0, filter->arena);
    bool wants_some =
        !solver_op_is_negative(part->op) || is_positive(solver_requirements_get(&filter->set, key));
    solver_requirements_add(filter->names, &filter->set, requirement, filter->arena);
    const struct solver_requirement *all = solver_requirements_get(&filter->set, key);
    if (wants_some && solver_requirement_op(all) == SOLVER_DOES_NOT_EXIST)
        note_contradiction(filter, key_text);
    return true;
}

/* The size of the text before the next comma outside brackets. */
static size_t part_size(struct text t)
{
    size_t depth = 0, i = 0;
    for (; i < t.size && (t.data[i] != ',' || depth > 0); i++) {
        depth += t.data[i] == '(';
        depth -= t.data[i] == ')' && depth > 0;
    }
    return i;
}

bool catalog_filter_add(struct catalog_filter *filter, struct text written, struct error *error)
{
    for (;;) {
        size_t size = part_size(written);
        struct filter_part part = {.written = trim((struct text){written.data, size})};
        if (!add_part(filter, &part, error))
            return false;
        if (size == written.size)
            return true;
        written = (struct text){written.data + size + 1, written.size - size - 1};
    }
}
