/* Reads the lines algebra/main.go writes and prints them again, the results being those of our own
 * algebra: what it prints is what it read when the two agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"

enum { MOST_FIELDS = 256 };

/* The fields of a line, and the one to read next. */
struct fields {
    const char *items[MOST_FIELDS];
    size_t count, next;
};

struct world {
    struct arena *arena;
    struct solver_names *names;
    struct text_builder out;
};

static void fail(const char *what, const char *line)
{
    fprintf(stderr, "driver: %s: %s\n", what, line);
    exit(1);
}

static bool at_separator(const struct fields *fields)
{
    return fields->next == fields->count || fields->items[fields->next][0] == '|';
}

static const char *take(struct fields *fields)
{
    if (fields->next == fields->count)
        fail("a line ends too early", fields->items[1]);
    return fields->items[fields->next++];
}

static void take_separator(struct fields *fields, const char *separator)
{
    if (strcmp(take(fields), separator) != 0)
        fail("expected a separator", separator);
}

static struct solver_requirement read_requirement(struct world *world, struct fields *fields)
{
    struct text key_text = text_of(take(fields)), op_text = text_of(take(fields));
    key_text.data = solver_canonical_key(key_text.data, &key_text.size);
    uint32_t key = solver_names_key(world->names, key_text.data, key_text.size);
    enum solver_op op = SOLVER_IN;
    if (!solver_op_parse(op_text.data, op_text.size, &op))
        fail("unknown operator", op_text.data);
    const char *min_values = take(fields);
    uint32_t values[MOST_FIELDS];
    size_t count = 0;
    while (!at_separator(fields)) {
        const char *value = take(fields) + 1;
        values[count++] = solver_names_value(world->names, key, value, strlen(value));
    }
    return solver_requirement_make(world->names, key, op, values, count,
                                   (uint32_t)strtoul(min_values, NULL, 10), world->arena);
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static struct text describe(struct world *world, const struct solver_requirement *r)
{
    struct text_builder out = {.arena = world->arena};
    size_t key_size = 0;
    const char *key = solver_names_key_text(world->names, r->key, &key_size);
    text_builder_printf(&out, "%.*s\t%s\t", (int)key_size, key,
                        solver_op_name(solver_requirement_op(r)));
    if (r->min_values > 0)
        text_builder_printf(&out, "%u", r->min_values);
    else
        text_builder_printf(&out, "-");
    struct text *values = ARENA_ARRAY(world->arena, (size_t)r->word_count * 64, struct text);
    size_t count = 0;
    for (uint32_t i = 0; i < r->word_count * 64; i++)
        if ((r->words[i / 64] >> (i % 64) & 1) != 0) {
            values[count].data =
                solver_names_value_text(world->names, r->key, i, &values[count].size);
            count++;
        }
    qsort(values, count, sizeof *values, compare_texts);
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&out, "\t=%.*s", TEXT_ARGS(values[i]));
    if (r->has_gte)
        text_builder_printf(&out, "\t>=%lld", (long long)r->gte);
    if (r->has_lte)
        text_builder_printf(&out, "\t<=%lld", (long long)r->lte);
    return text_builder_text(&out);
}

static void print_set(struct world *world, const struct solver_requirements *set)
{
    struct text *described = ARENA_ARRAY(world->arena, set->count, struct text);
    for (size_t i = 0; i < set->count; i++)
        described[i] = describe(world, &set->items[i]);
    qsort(described, set->count, sizeof *described, compare_texts);
    for (size_t i = 0; i < set->count; i++)
        text_builder_printf(&world->out, "%s%.*s", i > 0 ? "\t|\t" : "", TEXT_ARGS(described[i]));
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void meet(struct world *world, struct fields *fields)
{
    struct solver_requirement a = read_requirement(world, fields);
    take_separator(fields, "|");
    struct solver_requirement b = read_requirement(world, fields);
    take_separator(fields, "|");
    struct solver_requirement c = read_requirement(world, fields);
    take_separator(fields, "|");
    const char *value_text = take(fields) + 1;
    uint32_t value = solver_names_value(world->names, a.key, value_text, strlen(value_text));
    struct solver_requirement ab = solver_requirement_intersect(world->names, &a, &b, world->arena);
    struct solver_requirement abc =
        solver_requirement_intersect(world->names, &ab, &c, world->arena);
    struct text a_text = describe(world, &a), ab_text = describe(world, &ab),
                abc_text = describe(world, &abc);
    text_builder_printf(&world->out, "%.*s\t|\t%.*s\t|\t%.*s\t|\t%s\t%s\t%s\t%s", TEXT_ARGS(a_text),
                        TEXT_ARGS(ab_text), TEXT_ARGS(abc_text),
                        truth(solver_requirement_intersects(world->names, &a, &b)),
                        truth(solver_requirement_intersects(world->names, &ab, &c)),
                        truth(solver_requirement_has(world->names, &a, value)),
                        truth(solver_requirement_has(world->names, &abc, value)));
}

/* Up to "||" or the end. An empty set is an empty field. */
static struct solver_requirements read_set(struct world *world, struct fields *fields)
{
    struct solver_requirements set = {0};
    if (fields->next < fields->count && fields->items[fields->next][0] == '\0') {
        fields->next++;
        return set;
    }
    for (;;) {
        solver_requirements_add(world->names, &set, read_requirement(world, fields), world->arena);
        if (fields->next == fields->count || strcmp(fields->items[fields->next], "|") != 0)
            return set;
        fields->next++;
    }
}

static void sets(struct world *world, struct fields *fields)
{
    struct solver_requirements a = read_set(world, fields);
    take_separator(fields, "||");
    struct solver_requirements b = read_set(world, fields);
    print_set(world, &a);
    text_builder_add(&world->out, TEXT("\t||\t"));
    print_set(world, &b);
    text_builder_printf(
        &world->out, "\t||\t%s\t%s\t%s",
        truth(solver_requirements_intersect(world->names, &a, &b, NULL)),
        truth(solver_requirements_compatible(world->names, &a, &b, NULL, NULL)),
        truth(solver_requirements_compatible(world->names, &a, &b, solver_is_well_known, NULL)));
}

static void answer(struct arena *arena, char *line)
{
    printf("%s\n", line);
    /* Half of what a case names stands in a shared lower table. */
    struct solver_names *below = solver_names_create(arena, NULL);
    uint32_t team = solver_names_key(below, "team", 4);
    for (char letter = 'a'; letter < 'd'; letter++)
        solver_names_value(below, team, &letter, 1);
    struct world world = {arena, solver_names_create(arena, below), {.arena = arena}};
    struct fields fields = {.next = 2};
    for (char *rest = line; rest != NULL;) {
        if (fields.count == MOST_FIELDS)
            fail("too many fields", line);
        fields.items[fields.count++] = strsep(&rest, "\t");
    }
    if (fields.count < 3)
        fail("not a case", line);
    if (strcmp(fields.items[1], "meet") == 0)
        meet(&world, &fields);
    else
        sets(&world, &fields);
    struct text result = text_builder_text(&world.out);
    printf("R\t%.*s\n", TEXT_ARGS(result));
}

int main(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    if (arena == NULL)
        return 1;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, stdin)) > 0) {
        if (line[size - 1] == '\n')
            line[size - 1] = '\0';
        if (line[0] == 'C') {
            answer(arena, line);
            arena_reset(arena);
        }
    }
    free(line);
    arena_destroy(arena);
    return 0;
}
