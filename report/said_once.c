/* What is undecided of many objects for one reason, that nothing of a kind is visible, is said of
 * the first and counted of the others. */
#include "report/report.h"

struct saying {
    const char *rail;
    kind_set unseen;
    struct finding *first;
    size_t more;
};
struct sayings {
    struct saying *items;
    size_t count, capacity;
};

static struct saying *saying_of(struct sayings *sayings, const struct finding *finding,
                                struct arena *arena)
{
    for (size_t i = 0; i < sayings->count; i++)
        if (sayings->items[i].rail == finding->rail && sayings->items[i].unseen == finding->unseen)
            return &sayings->items[i];
    struct saying *saying = LIST_PUSH(arena, sayings);
    *saying = (struct saying){.rail = finding->rail, .unseen = finding->unseen};
    return saying;
}

static bool has_unseen(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (verdict->findings[i].unseen != 0)
            return true;
    return false;
}

static void keep_first(struct verdict *verdict, struct sayings *sayings, struct arena *arena)
{
    struct finding *kept = ARENA_ARRAY(arena, verdict->finding_count, struct finding);
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        if (finding->unseen == 0) {
            kept[count++] = *finding;
            continue;
        }
        struct saying *saying = saying_of(sayings, finding, arena);
        if (saying->first != NULL) {
            saying->more++;
            continue;
        }
        kept[count] = *finding;
        saying->first = &kept[count++];
    }
    verdict->findings = kept;
    verdict->finding_count = count;
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

void report_say_once(struct report_entry *entries, size_t count, struct arena *arena)
{
    struct sayings sayings = {0};
    for (size_t i = 0; i < count; i++)
        if (has_unseen(&entries[i].verdict))
            keep_first(&entries[i].verdict, &sayings, arena);
    for (size_t i = 0; i < sayings.count; i++) {
        const struct saying *saying = &sayings.items[i];
        if (saying->more > 0)
            saying->first->message = arena_printf(
                arena, "%.*s %zu more %s like it: no %.*s is visible.",
                TEXT_ARGS(saying->first->message), saying->more, saying->more == 1 ? "is" : "are",
                TEXT_ARGS(unseen_kinds(saying->unseen, arena)));
    }
}
