/* When a review ends before it is decided. */
#include "server/deadline.h"
#include "unit.h"

const char unit_suite[] = "server deadline";

struct fake {
    int64_t cpu_us, wall_us;
    bool gone;
    int looked; /* at the client */
};

static int64_t cpu_us(void *context)
{
    return ((struct fake *)context)->cpu_us;
}

static int64_t wall_us(void *context)
{
    return ((struct fake *)context)->wall_us;
}

static bool client_is_gone(void *context)
{
    struct fake *fake = context;
    fake->looked++;
    return fake->gone;
}

/* The clocks are 1000 and 5000000 when it is first asked. */
static void what_comes_first_ends_it(void)
{
    static const struct {
        int64_t cpu_limit_us, wall_until_us;
        int64_t cpu_us, wall_us;
        bool gone;
        enum review_limit limit;
    } cases[] = {
        {500000, 6000000, 1000, 5000000, false, LIMIT_NONE},
        {500000, 6000000, 500999, 5900000, false, LIMIT_NONE},
        {500000, 6000000, 501000, 5900000, false, LIMIT_CPU},
        {500000, 6000000, 1000, 6000000, false, LIMIT_TIMEOUT},
        /* It had its own time: that it was late besides is not why. */
        {500000, 6000000, 501000, 6000000, false, LIMIT_CPU},
        {500000, 0, 1000, INT64_MAX / 2, false, LIMIT_NONE},
        {0, 0, INT64_MAX / 2, INT64_MAX / 2, false, LIMIT_NONE},
        {500000, 6000000, 1000, 5000000, true, LIMIT_NONE}, /* not looked at yet */
        {500000, 6000000, 1000, 5049999, true, LIMIT_NONE},
        {500000, 6000000, 1000, 5050000, true, LIMIT_CLIENT_GONE},
        {500000, 6000000, 501000, 6000000, true, LIMIT_CLIENT_GONE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fake fake = {1000, 5000000, cases[i].gone, 0};
        const struct review_clock clock = {cpu_us, wall_us, client_is_gone, &fake};
        struct deadline deadline =
            deadline_begin(&clock, cases[i].cpu_limit_us, cases[i].wall_until_us);
        ASSERT_INT(deadline_ask(&deadline), LIMIT_NONE);
        fake.cpu_us = cases[i].cpu_us;
        fake.wall_us = cases[i].wall_us;
        ASSERT_INT(deadline_ask(&deadline), cases[i].limit);
    }
}

static void cpu_time_counts_from_the_first_question(void)
{
    struct fake fake = {1000, 0, false, 0};
    const struct review_clock clock = {cpu_us, wall_us, client_is_gone, &fake};
    struct deadline deadline = deadline_begin(&clock, 500, 0);
    static const struct {
        int64_t cpu_us;
        enum review_limit limit;
    } questions[] = {{1400, LIMIT_NONE}, {1899, LIMIT_NONE}, {1900, LIMIT_CPU}};
    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        fake.cpu_us = questions[i].cpu_us;
        ASSERT_INT(deadline_ask(&deadline), questions[i].limit);
    }
}

static void the_client_is_looked_at_rarely(void)
{
    struct fake fake = {0, 0, false, 0};
    const struct review_clock clock = {cpu_us, wall_us, client_is_gone, &fake};
    struct deadline deadline = deadline_begin(&clock, 0, 0);
    for (fake.wall_us = 0; fake.wall_us < 1000000; fake.wall_us += 100)
        ASSERT_INT(deadline_ask(&deadline), LIMIT_NONE);
    ASSERT_INT(fake.looked, 19);
}

static void a_margin_is_kept(void)
{
    static const struct {
        int64_t timeout_us, until_us; /* it arrived at 7 s */
    } cases[] = {
        {0, 0},
        {500000, 7250000},
        {1000000, 7500000},
        {2000000, 8000000},
        {10000000, 16000000},
        {30000000, 36000000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_INT(deadline_of_request(7000000, cases[i].timeout_us), cases[i].until_us);
}

const struct unit_test unit_tests[] = {
    {"what comes first ends it", what_comes_first_ends_it},
    {"CPU time counts from the first question", cpu_time_counts_from_the_first_question},
    {"the client is looked at rarely", the_client_is_looked_at_rarely},
    {"a margin is kept", a_margin_is_kept},
    {NULL, NULL},
};
