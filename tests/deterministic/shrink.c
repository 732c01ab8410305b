/* Leaves deeds out as long as the failure stays: whole sorts first, then parts of what is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "memory.h"
#include "outcome.h"
#include "threads.h"

enum {
    TRIES_MAX = 400,
    PRINTED_MAX = 60,
    LATER_S = 60, /* so much later the failure may come, too */
};

struct shrinking {
    struct run run;
    uint64_t sort; /* of the failure */
    struct done_deed *kept;
    size_t count;
    unsigned tries;
    struct outcome *outcome; /* of the last try that failed in the same way */
    struct outcome *spare;
};

static bool fails(struct shrinking *shrinking, const struct done_deed *deeds, size_t count)
{
    struct run run = shrinking->run;
    int status;
    run.chance.only = deeds;
    run.chance.only_count = count;
    shrinking->tries++;
    waitpid(run_begin(&run, shrinking->spare), &status, 0);
    run_end(status, shrinking->spare);
    if (shrinking->spare->sort != shrinking->sort)
        return false;
    struct outcome *failed = shrinking->spare;
    shrinking->spare = shrinking->outcome;
    shrinking->outcome = failed;
    return true;
}

/* Keeps only what really happened in the last try. */
static void keep_done(struct shrinking *shrinking)
{
    shrinking->count = shrinking->outcome->done_count;
    memcpy(shrinking->kept, shrinking->outcome->done, shrinking->count * sizeof *shrinking->kept);
}

static bool try_without(struct shrinking *shrinking, size_t from, size_t to)
{
    struct done_deed *fewer = world_alloc((shrinking->count + 1) * sizeof *fewer);
    size_t count = 0;
    for (size_t i = 0; i < shrinking->count; i++)
        if (i < from || i >= to)
            fewer[count++] = shrinking->kept[i];
    bool smaller = fails(shrinking, fewer, count);
    if (smaller)
        keep_done(shrinking);
    world_free(fewer);
    return smaller;
}

static void leave_out_sorts(struct shrinking *shrinking)
{
    for (enum deed deed = 0; deed < DEED_COUNT; deed++) {
        struct done_deed *fewer = world_alloc((shrinking->count + 1) * sizeof *fewer);
        size_t count = 0;
        for (size_t i = 0; i < shrinking->count; i++)
            if (shrinking->kept[i].deed != deed)
                fewer[count++] = shrinking->kept[i];
        if (count < shrinking->count && fails(shrinking, fewer, count))
            keep_done(shrinking);
        world_free(fewer);
    }
}

static void leave_out_parts(struct shrinking *shrinking)
{
    for (size_t size = (shrinking->count + 1) / 2; size > 0 && shrinking->tries < TRIES_MAX;) {
        bool any = false;
        for (size_t from = 0; from < shrinking->count && shrinking->tries < TRIES_MAX;) {
            bool smaller = try_without(shrinking, from, from + size);
            any |= smaller;
            from += smaller ? 0 : size;
        }
        size = size > shrinking->count / 2 && shrinking->count > 1 ? shrinking->count / 2
               : any && size == 1                                  ? 1
                                                                   : size / 2;
    }
}

static struct outcome *share_outcome(void)
{
    struct outcome *outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        abort();
    return outcome;
}

void shrink(const struct run *run, const struct outcome *failed)
{
    struct shrinking shrinking = {.run = *run,
                                  .sort = failed->sort,
                                  .kept = world_alloc(DONE_MAX * sizeof *shrinking.kept),
                                  .count = failed->done_count,
                                  .outcome = share_outcome(),
                                  .spare = share_outcome()};
    shrinking.run.speaks = false;
    shrinking.run.until_us = failed->at_us + LATER_S * SECOND;
    memcpy(shrinking.kept, failed->done, failed->done_count * sizeof *failed->done);
    if (failed->done_count >= DONE_MAX || !fails(&shrinking, shrinking.kept, shrinking.count)) {
        printf("it does not fail again with the same deeds\n");
        return;
    }
    leave_out_sorts(&shrinking);
    leave_out_parts(&shrinking);
    printf("shrunk from %zu deeds to %zu, in %u runs: %s\n", failed->done_count, shrinking.count,
           shrinking.tries, shrinking.outcome->problem);
    for (size_t i = 0; i < shrinking.count && i < PRINTED_MAX; i++)
        printf("  %12.6f s  %s %u\n", (double)shrinking.kept[i].at_us / 1e6,
               deed_names[shrinking.kept[i].deed], shrinking.kept[i].number);
    printf("again: scripts/simulate --seed %llu --rounds %u --verbose --only '",
           (unsigned long long)run->chance.seed, run->rounds);
    for (size_t i = 0; i < shrinking.count; i++)
        printf("%s%s:%u", i == 0 ? "" : ",", deed_names[shrinking.kept[i].deed],
               shrinking.kept[i].number);
    printf("'\n");
}
