/* One generator a sort of deed, so that a deed left out changes the others as little as possible.
 */
#include "chance.h"

#include "memory.h"
#include "threads.h"

enum { NUMBERS_MAX = 1 << 20 };

const char *const deed_names[DEED_COUNT] = {
#define DEED(name, word) [DEED_##name] = word,
    DEEDS(DEED)
#undef DEED
};
uint64_t chance_counts[DEED_COUNT];

static const struct chance_plan *plan;
static uint64_t states[DEED_COUNT], common;
static uint32_t due[DEED_COUNT];
static struct done_deed *done;
static size_t *done_count;
static unsigned char *only[DEED_COUNT]; /* a bit a number; NULL: none of them */
static bool calm;

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void note_only(const struct done_deed *deed)
{
    unsigned char **bits = &only[deed->deed];
    if (*bits == NULL)
        *bits = world_alloc(NUMBERS_MAX / 8);
    (*bits)[deed->number / 8] |= (unsigned char)(1 << deed->number % 8);
}

void chance_begin(const struct chance_plan *with, struct done_deed *deeds, size_t *count)
{
    uint64_t seed = with->seed;
    plan = with;
    done = deeds;
    done_count = count;
    common = next(&seed);
    for (enum deed deed = 0; deed < DEED_COUNT; deed++)
        states[deed] = next(&seed);
    for (size_t i = 0; plan->only != NULL && i < plan->only_count; i++)
        if (plan->only[i].number < NUMBERS_MAX)
            note_only(&plan->only[i]);
}

static bool is_left_out(enum deed deed, uint32_t number)
{
    if (plan->only == NULL)
        return plan->without[deed];
    const unsigned char *bits = only[deed];
    return bits == NULL || number >= NUMBERS_MAX || (bits[number / 8] >> number % 8 & 1) == 0;
}

void chance_calm(bool is_calm)
{
    calm = is_calm;
}

bool chance_is_calm(void)
{
    return calm;
}

bool chance_of(enum deed deed, uint32_t in_million)
{
    if ((calm && deed != DEED_CHANGE && deed != DEED_REVIEW) ||
        next(&states[deed]) % 1000000 >= in_million)
        return false;
    uint32_t number = due[deed]++;
    if (is_left_out(deed, number))
        return false;
    chance_counts[deed]++;
    if (*done_count < DONE_MAX)
        done[(*done_count)++] = (struct done_deed){world_now_us(), deed, number};
    return true;
}

uint64_t chance_of_deed(enum deed deed, uint64_t below)
{
    return next(&states[deed]) % below;
}

uint64_t chance_draw(uint64_t below)
{
    return next(&common) % below;
}

int64_t chance_long_tail(int64_t most)
{
    int64_t range = 1 + (int64_t)chance_draw((uint64_t)most);
    range = 1 + (int64_t)chance_draw((uint64_t)range);
    return 1 + (int64_t)chance_draw((uint64_t)range);
}
