/* labels: threads */
/* Arenas: allocation, budgets, the guard, and being stopped. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "base/base.h"

static void allocations_are_zeroed_aligned_and_counted(void)
{
    struct arena *arena = arena_create(1 << 20);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < 3000; size += 7) {
            unsigned char *memory = arena_alloc(arena, size);
            CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
            CU_ASSERT_EQUAL((uintptr_t)memory % 16, 0);
            for (size_t i = 0; i < size; i++)
                if (memory[i] != 0)
                    CU_FAIL("not zeroed");
            memset(memory, 0xA5, size);
        }
        CU_ASSERT(arena_used_bytes(arena) >= 642000);
        arena_reset(arena);
        ASSERT_INT(arena_used_bytes(arena), 0);
    }
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void a_warm_arena_reuses_its_memory(void)
{
    struct arena *arena = arena_create(1 << 20);
    void *first = NULL;
    for (int round = 0; round < 10; round++) {
        void *memory = arena_alloc(arena, 100000);
        if (round == 0)
            first = memory;
        CU_ASSERT_PTR_EQUAL(memory, first);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* A sanitizer's malloc ends the program unless it is told to fail. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

struct request {
    struct arena *arena, *other;
    size_t size, count;
    int reached;
    bool inner_result;
    struct error inner_error;
};

static void take(void *argument)
{
    struct request *request = argument;
    request->reached = 1;
    (void)ARENA_ARRAY(request->arena, request->count, uint64_t);
    arena_alloc(request->arena, request->size);
    request->reached = 2;
}

static void a_guard_ends_what_goes_over_the_budget(void)
{
    static const struct {
        size_t size, count;
        bool fits;
    } cases[] = {
        {0, 0, true},
        {1000, 1, true},
        {1001, 1, false},
        {SIZE_MAX, 1, false},
        {PTRDIFF_MAX, 1, false},
        {0, 126, true},
        {0, SIZE_MAX / 4, false},
        {SIZE_MAX - 15, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(1016);
        struct request request = {.arena = arena, .size = cases[i].size, .count = cases[i].count};
        struct error error = {0};
        bool done = arena_guard(arena, take, &request, &error);
        ASSERT_INT(done, cases[i].fits);
        ASSERT_INT(request.reached, cases[i].fits ? 2 : 1);
        ASSERT_INT(error.kind, cases[i].fits ? ERROR_NONE : ERROR_LIMIT);
        if (!cases[i].fits)
            CU_ASSERT_PTR_NOT_NULL(strstr(error.what, "memory budget of 1016 bytes"));
        /* What fits is still given after a failure. */
        if (!cases[i].fits)
            CU_ASSERT(arena_guard(arena, take, &(struct request){.arena = arena}, NULL));
        arena_destroy(arena);
    }
}

static void the_system_may_give_no_memory(void)
{
    struct arena *arena = arena_create(SIZE_MAX);
    struct request request = {.arena = arena, .size = (size_t)1 << 60};
    struct error error = {0};
    CU_ASSERT_FALSE(arena_guard(arena, take, &request, &error));
    ASSERT_INT(error.kind, ERROR_MEMORY);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.what, "1152921504606846976 more wanted"));
    request.size = 100;
    CU_ASSERT(arena_guard(arena, take, &request, &error));
    arena_destroy(arena);
}

static void nest(void *argument)
{
    struct request *request = argument;
    request->inner_result =
        arena_guard(request->arena, take, &(struct request){.arena = request->arena, .size = 2000},
                    &request->inner_error);
    request->reached = 3;
    arena_alloc(request->arena, request->size);
    request->reached = 4;
}

static void guards_nest(void)
{
    struct arena *arena = arena_create(1000);
    struct request request = {.arena = arena, .size = 10};
    CU_ASSERT(arena_guard(arena, nest, &request, NULL));
    CU_ASSERT_FALSE(request.inner_result);
    ASSERT_INT(request.inner_error.kind, ERROR_LIMIT);
    ASSERT_INT(request.reached, 4);
    request.size = 1001;
    struct error error = {0};
    CU_ASSERT_FALSE(arena_guard(arena, nest, &request, &error));
    ASSERT_INT(request.reached, 3);
    ASSERT_INT(error.kind, ERROR_LIMIT);
    arena_destroy(arena);
}

static void exhaust_other(void *argument)
{
    struct request *request = argument;
    arena_alloc(request->other, 2000);
    request->reached = 1;
}

static void guard_both(void *argument)
{
    struct request *request = argument;
    request->inner_result =
        arena_guard(request->arena, exhaust_other, request, &request->inner_error);
    request->reached = 2;
}

static void a_guard_answers_for_its_own_arena_only(void)
{
    struct arena *arena = arena_create(1000), *other = arena_create(1000);
    struct request request = {.arena = arena, .other = other};
    struct error error = {0};
    CU_ASSERT_FALSE(arena_guard(other, guard_both, &request, &error));
    ASSERT_INT(request.reached, 0);
    ASSERT_INT(error.kind, ERROR_LIMIT);
    ASSERT_INT(request.inner_error.kind, ERROR_NONE);
    arena_destroy(arena);
    arena_destroy(other);
}

static void lists_grow(void)
{
    struct arena *arena = arena_create(1 << 20);
    LIST(uint32_t) list = {0};
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t *item = LIST_PUSH(arena, &list);
        ASSERT_INT(*item, 0);
        *item = i;
    }
    ASSERT_INT(list.count, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        ASSERT_INT(list.items[i], i);
    arena_destroy(arena);
}

static void texts_are_copied_and_printed(void)
{
    struct arena *arena = arena_create(1 << 20);
    char source[] = "abc";
    struct text copy = arena_text(arena, (struct text){source, 2});
    source[0] = 'x';
    ASSERT_TEXT(copy, "ab");
    ASSERT_INT(copy.data[2], '\0');
    ASSERT_INT(arena_text(arena, (struct text){NULL, 0}).size, 0);
    ASSERT_TEXT(arena_printf(arena, "%s-%d", "a", 7), "a-7");
    static const size_t sizes[] = {0, 1, 254, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct text t = arena_printf(arena, "%*s", (int)sizes[i], "");
        ASSERT_INT(t.size, sizes[i]);
        ASSERT_INT(strlen(t.data), sizes[i]);
    }
    arena_destroy(arena);
}

/* ---- the watch ---- */

struct patrol {
    struct arena *arena;
    size_t bytes, steps, rounds;
    int asked, stop_at;
};

static int ask(void *context)
{
    struct patrol *patrol = context;
    return ++patrol->asked == patrol->stop_at ? 7 : 0;
}

static void work(void *argument)
{
    struct patrol *patrol = argument;
    for (size_t i = 0; i < patrol->rounds; i++) {
        if (patrol->bytes > 0)
            arena_alloc(patrol->arena, patrol->bytes);
        arena_tick(patrol->arena, patrol->steps);
    }
}

static void a_watch_is_asked_rarely_and_stops_the_guard(void)
{
    static const struct {
        size_t bytes, steps, rounds;
        int asked_least, asked_most;
    } cases[] = {
        {100, 0, 10, 0, 0},         /* little memory */
        {1024, 0, 1024, 14, 17},    /* 1 MiB */
        {300 << 10, 0, 3, 2, 3},    /* each larger than a step */
        {0, 10, 1000, 0, 0},        /* few steps */
        {0, 16, 65536, 15, 17},     /* a million */
        {0, SIZE_MAX / 2, 2, 2, 2}, /* no overflow */
    };
    struct arena *arena = arena_create(4 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct patrol patrol = {arena, cases[i].bytes, cases[i].steps, cases[i].rounds, 0, 0};
        struct error error = {0};
        int reason;
        arena_watch(arena, &(struct arena_watch){ask, &patrol});
        CU_ASSERT_TRUE(arena_guard(arena, work, &patrol, &error));
        CU_ASSERT(patrol.asked >= cases[i].asked_least && patrol.asked <= cases[i].asked_most);
        ASSERT_INT(arena_ended(arena, &reason), ARENA_WENT_ON);

        patrol.asked = 0;
        patrol.stop_at = 1;
        bool went_on = arena_guard(arena, work, &patrol, &error);
        ASSERT_INT(went_on, cases[i].asked_most == 0);
        if (!went_on) {
            ASSERT_INT(error.kind, ERROR_LIMIT);
            ASSERT_INT(arena_ended(arena, &reason), ARENA_STOPPED);
            ASSERT_INT(reason, 7);
        }
        arena_reset(arena);
        patrol.asked = 0;
        CU_ASSERT_TRUE(arena_guard(arena, work, &patrol, &error)); /* the reset took it away */
        ASSERT_INT(patrol.asked, 0);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void a_watched_arena_keeps_its_budget(void)
{
    struct arena *arena = arena_create(1 << 20);
    for (size_t bytes = 1000; bytes < 1 << 20; bytes *= 3) {
        struct patrol patrol = {arena, bytes, 0, 1 << 20, 0, 0};
        struct error error = {0};
        int reason;
        arena_watch(arena, &(struct arena_watch){ask, &patrol});
        CU_ASSERT_FALSE(arena_guard(arena, work, &patrol, &error));
        ASSERT_INT(arena_ended(arena, &reason), ARENA_OVER_BUDGET);
        CU_ASSERT(arena_used_bytes(arena) <= 1 << 20);
        CU_ASSERT(arena_used_bytes(arena) + bytes > 1 << 20);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void without_a_guard_no_watch_is_asked(void)
{
    struct arena *arena = arena_create(4 << 20);
    struct patrol patrol = {arena, 1024, 0, 1024, 0, 1};
    arena_watch(arena, &(struct arena_watch){ask, &patrol});
    work(&patrol);
    ASSERT_INT(patrol.asked, 0);
    arena_destroy(arena);
}

static void a_reserve_opens_after_the_budget(void)
{
    struct arena *arena = arena_create(64 << 10);
    CU_ASSERT_TRUE_FATAL(arena_reserve(arena, 32 << 10));
    for (int round = 0; round < 3; round++) {
        struct patrol patrol = {arena, 1000, 0, 1000, 0, 0};
        struct error error = {0};
        int reason;
        CU_ASSERT_FALSE(arena_guard(arena, work, &patrol, &error));
        ASSERT_INT(arena_ended(arena, &reason), ARENA_OVER_BUDGET);
        ASSERT_INT(reason, 0);
        arena_open_reserve(arena);
        arena_open_reserve(arena); /* once is enough */
        for (int i = 0; i < 20; i++) {
            unsigned char *memory = arena_alloc(arena, 1000);
            for (size_t j = 0; j < 1000; j++)
                if (memory[j] != 0)
                    CU_FAIL("not zeroed");
            memset(memory, 0xA5, 1000);
        }
        CU_ASSERT_FALSE(arena_guard(arena, work, &patrol, &error)); /* it ends, too */
        ASSERT_INT(error.kind, ERROR_LIMIT);
        arena_reset(arena);
        ASSERT_INT(arena_used_bytes(arena), 0);
    }
    arena_destroy(arena);
}

/* Of a budget for three of them ten are taken, one after the other. */
static void what_is_released_may_be_taken_again(void)
{
    enum { LARGE_BYTES = 2 << 20 };
    struct arena *arena = arena_create(3 * (size_t)LARGE_BYTES);
    char *small = memset(arena_alloc(arena, 100), 0x5A, 100);
    char *last = arena_alloc(arena, LARGE_BYTES);
    size_t used_bytes = arena_used_bytes(arena);
    for (int i = 0; i < 10; i++) {
        char *next = memset(arena_alloc(arena, LARGE_BYTES), 0xA5, LARGE_BYTES);
        arena_release(arena, i % 2 == 0 ? last : next, LARGE_BYTES);
        last = i % 2 == 0 ? next : last;
        ASSERT_INT(arena_used_bytes(arena), (long long)used_bytes);
        unsigned char *more = arena_alloc(arena, 16);
        CU_ASSERT(more[0] == 0 && more[15] == 0);
        used_bytes = arena_used_bytes(arena);
    }
    arena_release(arena, small, 100);
    arena_release(arena, last + 1, LARGE_BYTES);
    ASSERT_INT(arena_used_bytes(arena), (long long)used_bytes);
    CU_ASSERT(small[0] == 0x5A && small[99] == 0x5A);
    arena_reset(arena);
    CU_ASSERT_EQUAL(((char *)arena_alloc(arena, 100))[99], 0);
    arena_destroy(arena);
}

static void a_rewound_arena_is_as_it_was(void)
{
    static const size_t before_bytes[] = {0, 100, 20000, 300000};
    struct arena *arena = arena_create(4 << 20);
    for (size_t i = 0; i < COUNT_OF(before_bytes); i++) {
        unsigned char *kept = NULL;
        if (before_bytes[i] > 0)
            kept = memset(arena_alloc(arena, before_bytes[i]), 0x5A, before_bytes[i]);
        struct arena_mark mark = arena_mark(arena);
        size_t used_bytes = arena_used_bytes(arena);
        for (size_t size = 10; size < 3 << 20; size *= 8) {
            for (int times = 0; times < 3 && 3 * size < 3 << 20; times++) {
                unsigned char *memory = arena_alloc(arena, size);
                for (size_t j = 0; j < size; j++)
                    if (memory[j] != 0)
                        CU_FAIL("not zeroed");
                memset(memory, 0xA5, size);
            }
            arena_rewind(arena, mark);
            ASSERT_INT(arena_used_bytes(arena), (long long)used_bytes);
        }
        for (size_t j = 0; j < before_bytes[i]; j++)
            if (kept[j] != 0x5A)
                CU_FAIL("not kept");
        arena_reset(arena);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "base arena";
const struct unit_test unit_tests[] = {
    {"allocations are zeroed, aligned and counted", allocations_are_zeroed_aligned_and_counted},
    {"a warm arena reuses its memory", a_warm_arena_reuses_its_memory},
    {"a guard ends what goes over the budget", a_guard_ends_what_goes_over_the_budget},
    {"the system may give no memory", the_system_may_give_no_memory},
    {"guards nest", guards_nest},
    {"a guard answers for its own arena only", a_guard_answers_for_its_own_arena_only},
    {"lists grow", lists_grow},
    {"what is released may be taken again", what_is_released_may_be_taken_again},
    {"texts are copied and printed", texts_are_copied_and_printed},
    {"a watch is asked rarely and stops the guard", a_watch_is_asked_rarely_and_stops_the_guard},
    {"a watched arena keeps its budget", a_watched_arena_keeps_its_budget},
    {"without a guard no watch is asked", without_a_guard_no_watch_is_asked},
    {"a reserve opens after the budget", a_reserve_opens_after_the_budget},
    {"a rewound arena is as it was", a_rewound_arena_is_as_it_was},
    {NULL, NULL},
};
