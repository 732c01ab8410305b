/* What is undecided of many objects for one reason, that nothing of a kind is visible, is told of
 * the first and counted of the others. */
#include "report/format.h"

struct sayings {
    struct located_finding **items; /* the first of each reason */
    size_t count, capacity;
};

static struct located_finding *first_of(const struct sayings *sayings,
                                        const struct finding *finding)
{
    for (size_t i = 0; i < sayings->count; i++)
        if (unseen_alike(sayings->items[i]->finding, finding))
            return sayings->items[i];
    return NULL;
}

bool unseen_alike(const struct finding *a, const struct finding *b)
{
    return a->unseen != 0 && a->unseen == b->unseen && a->rail == b->rail;
}

struct text unseen_kinds(kind_set kinds, struct arena *arena)
{
    struct text_builder names = {.arena = arena};
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0)
            text_builder_printf(&names, "%s%s", names.size == 0 ? "" : " and no ",
                                kind_table[kind].name);
    return text_builder_text(&names);
}

size_t findings_say_once(struct located_finding *located, size_t count, struct arena *arena)
{
    struct sayings sayings = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct located_finding *first = first_of(&sayings, located[i].finding);
        if (first != NULL) {
            first->more++;
            continue;
        }
        located[kept] = located[i];
        if (located[kept].finding->unseen != 0)
            *LIST_PUSH(arena, &sayings) = &located[kept];
        kept++;
    }
    return kept;
}

struct text finding_more(const struct located_finding *located, struct arena *arena)
{
    if (located->more == 0)
        return TEXT("");
    return arena_printf(arena, "%zu more %s like it: no %.*s is visible.", located->more,
                        located->more == 1 ? "is" : "are",
                        TEXT_ARGS(unseen_kinds(located->finding->unseen, arena)));
}
