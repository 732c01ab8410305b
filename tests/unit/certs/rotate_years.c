/* labels: once */
/* Years of a cluster in which writes are lost, leaders stop, API servers lag and replicas are cut
 * off. At every moment the leaf that any replica serves is valid for every API server, by GnuTLS on
 * the clock of the simulation. */
#include <inttypes.h>
#include <stdio.h>

#include "rotation_fixture.h"

enum {
    REPLICAS = 3,
    SERVERS = 2,
    DAYS = 7 * 365,
    CA_DAYS = 600,
    LEAF_DAYS = 90,
    SEEN = SERVERS * ENTRIES,
    /* A replica that is cut off for longer than a third of a leaf's life serves one that has ended,
     * so leaders stop and replicas lag for less than that together. */
    LEADER_STOPS_S = 6 * 86400,
    REPLICA_LAGS_S = 18 * 86400,
};

static const struct rotation_times times = {CA_DAYS * DAY_S, LEAF_DAYS *DAY_S, 60};

/* What an API server calls with: an entry as it was some seconds ago. */
struct seen {
    char *now, *next;
    int64_t next_at; /* 0: none */
};

struct replica {
    char *leaf;
    int64_t reads_at;
};

struct leader {
    char *seen[ENTRIES];
    int64_t same_since, acts_at;
};

struct world {
    uint32_t random;
    int64_t now;
    struct stored stored;
    struct seen seen[SERVERS][ENTRIES];
    struct replica replicas[REPLICAS];
    struct leader leader;
    struct arena *arena;
    size_t leaves, cas, most_in_bundle, verified, failures;
    int64_t longest_bundle_of_two_s, two_since;
    bool changed; /* since it was verified */
};

static int64_t clock_unix_s;

static time_t read_clock(time_t *t)
{
    if (t != NULL)
        *t = clock_unix_s;
    return clock_unix_s;
}

static uint32_t draw(struct world *world, uint32_t below)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 17;
    world->random ^= world->random << 5;
    return world->random % below;
}

static bool chance(struct world *world, uint32_t percent)
{
    return draw(world, 100) < percent;
}

/* ---- those who act ---- */

static void begin_leading(struct world *world)
{
    struct leader *leader = &world->leader;
    for (size_t i = 0; i < ENTRIES; i++)
        store(&leader->seen[i], TEXT(""));
    leader->same_since = world->now;
}

static void look_at_entries(struct world *world)
{
    struct leader *leader = &world->leader;
    for (size_t i = 0; i < ENTRIES; i++) {
        if (strcmp(leader->seen[i], world->stored.entries[i]) == 0)
            continue;
        store(&leader->seen[i], text_of(world->stored.entries[i]));
        leader->same_since = world->now;
    }
}

static void publish(struct world *world, struct text bundle)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        if (chance(world, 30) || text_is(bundle, world->stored.entries[i]))
            continue;
        store(&world->stored.entries[i], bundle);
        for (size_t j = 0; j < SERVERS; j++) {
            struct seen *seen = &world->seen[j][i];
            store(&seen->next, bundle);
            seen->next_at = world->now + 1 + draw(world, (uint32_t)times.settle_s - 1);
        }
    }
}

static void keep_count(struct world *world, const struct rotation_secret *secret)
{
    size_t cas = count_in(secret->ca_bundle, "BEGIN CERTIFICATE");
    size_t before = count_in(text_of(world->stored.items[0]), "BEGIN CERTIFICATE");
    world->leaves += !text_is(secret->leaf.certificate, world->stored.items[2]);
    world->cas += cas > before;
    if (cas > 1 && before < 2)
        world->two_since = world->now;
    if (cas < 2 && before > 1 && world->now - world->two_since > world->longest_bundle_of_two_s)
        world->longest_bundle_of_two_s = world->now - world->two_since;
    if (cas > world->most_in_bundle)
        world->most_in_bundle = cas;
}

static void lead(struct world *world)
{
    struct text published[ENTRIES];
    struct rotation_step step;
    struct error error;
    arena_reset(world->arena);
    look_at_entries(world);
    for (size_t i = 0; i < ENTRIES; i++)
        published[i] = arena_text(world->arena, text_of(world->stored.entries[i]));
    const struct rotation_view view = {
        .secret = stored_secret(&world->stored, world->arena),
        .names = wanted_names,
        .published = published,
        .published_count = ENTRIES,
        .published_for_s = world->now - world->leader.same_since,
        .times = times,
        .now_unix_s = world->now,
    };
    CU_ASSERT_FATAL(certs_rotate(&view, world->arena, &step, &error));
    if (step.write && !chance(world, 30)) {
        keep_count(world, &step.secret);
        store_secret(&world->stored, &step.secret);
        for (size_t i = 0; i < REPLICAS; i++) /* some hear of it at once */
            if (chance(world, 50))
                world->replicas[i].reads_at = world->now + 1 + draw(world, 3);
    } else if (!step.write && !step.published)
        publish(world, step.bundle);
    int64_t idles_s = step.again_in_s < HOUR_S ? 0 : draw(world, 4 * 86400);
    world->leader.acts_at = world->now + 1 + step.again_in_s + idles_s;
    if (chance(world, 5)) { /* it ends here, and another one begins after a while */
        begin_leading(world);
        world->leader.acts_at = world->now + 15 + draw(world, LEADER_STOPS_S);
    }
}

static void read_leaf(struct world *world, struct replica *replica)
{
    bool lags = chance(world, 20);
    replica->reads_at = world->now + 1 + draw(world, lags ? REPLICA_LAGS_S : 2 * 86400);
    if (strcmp(replica->leaf, world->stored.items[2]) == 0)
        return;
    store(&replica->leaf, text_of(world->stored.items[2]));
    world->changed = true;
}

static void read_entry(struct world *world, struct seen *seen)
{
    store(&seen->now, text_of(seen->next));
    seen->next_at = 0;
    world->changed = true;
}

/* ---- the judge ---- */

static void verify(struct world *world)
{
    clock_unix_s = world->now;
    gnutls_global_set_time_function(read_clock);
    for (size_t i = 0; i < REPLICAS; i++)
        for (size_t j = 0; j < SERVERS; j++)
            for (size_t k = 0; k < ENTRIES; k++) {
                unsigned status = client_objects(text_of(world->replicas[i].leaf),
                                                 text_of(world->seen[j][k].now));
                world->verified++;
                if (status == 0)
                    continue;
                if (world->failures++ < 3)
                    fprintf(stderr,
                            "day %" PRId64 ": replica %zu is refused by API server %zu: %x\n",
                            (world->now - NOW) / DAY_S, i, j, status);
            }
    gnutls_global_set_time_function(time);
    world->changed = false;
}

/* ---- a run ---- */

static int64_t next_event(const struct world *world)
{
    int64_t at = world->leader.acts_at;
    for (size_t i = 0; i < REPLICAS; i++)
        at = world->replicas[i].reads_at < at ? world->replicas[i].reads_at : at;
    for (size_t i = 0; i < SEEN; i++) {
        const struct seen *seen = &world->seen[i / ENTRIES][i % ENTRIES];
        at = seen->next_at != 0 && seen->next_at < at ? seen->next_at : at;
    }
    return at;
}

static void pass_time(struct world *world)
{
    world->now = next_event(world);
    if (world->leader.acts_at <= world->now)
        lead(world);
    for (size_t i = 0; i < REPLICAS; i++)
        if (world->replicas[i].reads_at <= world->now)
            read_leaf(world, &world->replicas[i]);
    for (size_t i = 0; i < SEEN; i++) {
        struct seen *seen = &world->seen[i / ENTRIES][i % ENTRIES];
        if (seen->next_at != 0 && seen->next_at <= world->now)
            read_entry(world, seen);
    }
    if (world->changed || chance(world, 1))
        verify(world);
}

static void world_begin(struct world *world, uint32_t seed)
{
    *world = (struct world){.random = seed, .now = NOW, .arena = arena_create(1 << 22)};
    CU_ASSERT_FATAL(world->arena != NULL);
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        store(&world->stored.items[i], TEXT(""));
    for (size_t i = 0; i < ENTRIES; i++)
        store(&world->stored.entries[i], TEXT(""));
    for (size_t i = 0; i < SEEN; i++)
        store(&world->seen[i / ENTRIES][i % ENTRIES].now, TEXT(""));
    for (size_t i = 0; i < REPLICAS; i++)
        store(&world->replicas[i].leaf, TEXT(""));
    begin_leading(world);
    /* The install: until the first certificate is there and trusted, nobody is served. */
    for (size_t step = 0; step < 200; step++) {
        world->now += 120;
        lead(world);
    }
    for (size_t i = 0; i < REPLICAS; i++)
        read_leaf(world, &world->replicas[i]);
    for (size_t i = 0; i < SEEN; i++)
        read_entry(world, &world->seen[i / ENTRIES][i % ENTRIES]);
}

static void world_end(struct world *world)
{
    stored_free(&world->stored);
    for (size_t i = 0; i < SEEN; i++) {
        free(world->seen[i / ENTRIES][i % ENTRIES].now);
        free(world->seen[i / ENTRIES][i % ENTRIES].next);
    }
    for (size_t i = 0; i < REPLICAS; i++)
        free(world->replicas[i].leaf);
    for (size_t i = 0; i < ENTRIES; i++)
        free(world->leader.seen[i]);
    arena_destroy(world->arena);
}

static void every_leaf_is_trusted_all_the_time(void)
{
    const char *chosen = getenv("TAFFRAIL_SEED");
    uint32_t first = chosen == NULL ? 1 : (uint32_t)strtoul(chosen, NULL, 10);
    for (uint32_t seed = first; seed < first + (chosen == NULL ? 3 : 1); seed++) {
        struct world world;
        world_begin(&world, seed * 2654435761U);
        while (world.now < NOW + DAYS * DAY_S)
            pass_time(&world);
        printf("seed %u: %zu leaves, %zu CAs, %zu times verified\n", seed, world.leaves, world.cas,
               world.verified);
        ASSERT_INT(world.failures, 0);
        /* A leaf is renewed after 60 days and some, a CA after 400; each CA brings a leaf. */
        CU_ASSERT(world.leaves >= 35 && world.leaves <= 43 + world.cas);
        CU_ASSERT(world.cas >= 6 && world.cas <= 7);
        ASSERT_INT(world.most_in_bundle, 2);
        CU_ASSERT(world.longest_bundle_of_two_s < (LEAF_DAYS + 30) * DAY_S);
        world_end(&world);
    }
}

const char unit_suite[] = "certs rotate years";
const struct unit_test unit_tests[] = {
    {"every leaf is trusted all the time", every_leaf_is_trusted_all_the_time},
    {NULL, NULL},
};
