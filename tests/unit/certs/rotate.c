/* Rotation of CA and leaf in a Secret and in webhook configurations, step by step. */
#include <stdio.h>

#include "rotation_fixture.h"

/* ---- a cluster in which nothing goes wrong ---- */

struct cluster {
    struct stored stored;
    struct arena *arena;
    const char *const *dns; /* NULL: those wanted usually */
    int64_t published_for_s;
    bool unread; /* configurations cannot be read */
    size_t writes, applies;
    char said[2000];           /* what its steps were, a line each */
    struct rotation_step step; /* the last; its texts lie in the arena */
    struct error error;
};

static struct cluster cluster_new(void)
{
    struct cluster cluster = {.arena = arena_create(1 << 22)};
    CU_ASSERT_FATAL(cluster.arena != NULL);
    for (size_t i = 0; i < ENTRIES; i++)
        store(&cluster.stored.entries[i], TEXT(""));
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        store(&cluster.stored.items[i], TEXT(""));
    return cluster;
}

static void cluster_free(struct cluster *cluster)
{
    stored_free(&cluster->stored);
    arena_destroy(cluster->arena);
}

/* One step, and what it asks for is done when obeyed. */
static bool take_step(struct cluster *cluster, int64_t now_unix_s, bool obeyed)
{
    struct text published[ENTRIES];
    arena_reset(cluster->arena);
    for (size_t i = 0; i < ENTRIES; i++)
        published[i] = cluster->unread ? TEXT("") : text_of(cluster->stored.entries[i]);
    struct cert_names names = wanted_names;
    if (cluster->dns != NULL)
        names = (struct cert_names){.dns = cluster->dns, .dns_count = 1};
    struct rotation_view view = {
        .secret = stored_secret(&cluster->stored, cluster->arena),
        .names = names,
        .published = published,
        .published_count = ENTRIES,
        .may_lose_trust = cluster->unread,
        .published_for_s = cluster->published_for_s,
        .times = rotation_times_usual,
        .now_unix_s = now_unix_s,
    };
    if (!certs_rotate(&view, cluster->arena, &cluster->step, &cluster->error))
        return false;
    size_t said = strlen(cluster->said);
    snprintf(cluster->said + said, sizeof cluster->said - said, "%.*s\n",
             TEXT_ARGS(cluster->step.what));
    CU_ASSERT(cluster->step.again_in_s > 0 || cluster->step.write);
    if (!obeyed)
        return true;
    if (cluster->step.write) {
        cluster->writes++;
        store_secret(&cluster->stored, &cluster->step.secret);
    } else if (!cluster->step.published && !cluster->unread) {
        cluster->applies++;
        cluster->published_for_s = 0;
        for (size_t i = 0; i < ENTRIES; i++)
            store(&cluster->stored.entries[i], cluster->step.bundle);
    }
    return true;
}

/* Steps, and time passes for what is waited for, until there is nothing to do. */
static void run(struct cluster *cluster, int64_t *now_unix_s)
{
    cluster->writes = cluster->applies = 0;
    cluster->said[0] = '\0';
    for (size_t steps = 0; steps < 400; steps++) {
        bool done = take_step(cluster, *now_unix_s, true);
        if (!done)
            fprintf(stderr, "after\n%s%s\n", cluster->said, cluster->error.what);
        CU_ASSERT_FATAL(done);
        if (!cluster->step.write && cluster->step.published && cluster->step.again_in_s > HOUR_S)
            return;
        *now_unix_s += cluster->step.again_in_s;
        cluster->published_for_s += cluster->step.again_in_s;
    }
    CU_FAIL_FATAL("it does not come to rest");
}

/* All is well at this time: by GnuTLS, on a clock that is set. */
static int64_t clock_unix_s;

static time_t read_clock(time_t *t)
{
    if (t != NULL)
        *t = clock_unix_s;
    return clock_unix_s;
}

static void assert_served(const struct cluster *cluster, int64_t now_unix_s, size_t cas)
{
    struct rotation_secret secret = stored_secret(&cluster->stored, cluster->arena);
    clock_unix_s = now_unix_s;
    gnutls_global_set_time_function(read_clock);
    for (size_t i = 0; i < ENTRIES; i++)
        ASSERT_INT(client_objects(secret.leaf.certificate, text_of(cluster->stored.entries[i])), 0);
    gnutls_global_set_time_function(time);
    int64_t not_after_unix_s;
    CU_ASSERT(cert_check(&secret.leaf, now_unix_s, &not_after_unix_s, NULL));
    ASSERT_INT(not_after_unix_s, cluster->step.leaf_not_after_unix_s);
    ASSERT_INT(count_in(secret.ca_bundle, "BEGIN CERTIFICATE"), cas);
    ASSERT_INT(count_in(secret.ca_bundle, "PRIVATE KEY"), 0);
    ASSERT_INT(count_in(secret.ca_keys, "BEGIN PRIVATE KEY"), 1);
}

/* ---- the course of things ---- */

static void a_first_certificate_is_made_at_once(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(cluster.step.write);
    ASSERT_TEXT(cluster.step.what,
                "a new CA, for there is none; a new certificate, for there is none");
    ASSERT_INT(cluster.step.leaf_not_after_unix_s, NOW + 90 * DAY_S);
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && !cluster.step.published);
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && cluster.step.published);
    ASSERT_TEXT(cluster.step.what, "nothing to do");
    assert_served(&cluster, now, 1);
    cluster_free(&cluster);
}

static void a_leaf_is_renewed_at_two_thirds(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    char *ca = strdup(cluster.stored.items[0]);
    CU_ASSERT_FATAL(take_step(&cluster, NOW + 60 * DAY_S - 1, false));
    CU_ASSERT(!cluster.step.write);
    ASSERT_INT(cluster.step.again_in_s, 1);
    CU_ASSERT_FATAL(take_step(&cluster, NOW + 60 * DAY_S, true));
    CU_ASSERT(cluster.step.write);
    ASSERT_TEXT(cluster.step.what,
                "a new certificate, for two thirds of the life of the last are over");
    ASSERT_INT(cluster.step.leaf_not_after_unix_s, NOW + 150 * DAY_S);
    ASSERT_TEXT(text_of(cluster.stored.items[0]), ca);
    CU_ASSERT_FATAL(take_step(&cluster, NOW + 60 * DAY_S, true));
    CU_ASSERT(!cluster.step.write);
    assert_served(&cluster, NOW + 60 * DAY_S, 1);
    free(ca);
    cluster_free(&cluster);
}

/* docs/reference/admission.md 3.3: the new CA is published before it signs; the old one leaves when
 * its last leaf has ended. */
static void a_ca_is_followed_by_another(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    /* Two thirds of 3650 days, and a leaf on the way there. */
    now = NOW + 2400 * DAY_S;
    run(&cluster, &now);
    int64_t old_leaf_ends = cluster.step.leaf_not_after_unix_s;
    ASSERT_INT(old_leaf_ends, NOW + 2490 * DAY_S);
    now = NOW + 2434 * DAY_S;

    char *old_leaf = strdup(cluster.stored.items[2]), *old_ca = strdup(cluster.stored.items[0]);
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    ASSERT_TEXT(cluster.step.what, "a new CA, for the newest is old");
    ASSERT_INT(count_in(cluster.step.secret.ca_bundle, "BEGIN CERTIFICATE"), 2);
    ASSERT_INT(count_in(cluster.step.secret.ca_keys, "BEGIN PRIVATE KEY"), 2);
    CU_ASSERT(text_ends_with(cluster.step.secret.ca_bundle, text_of(old_ca)));
    ASSERT_TEXT(cluster.step.secret.leaf.certificate, old_leaf);

    /* Published, but not for long enough. */
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && !cluster.step.published);
    cluster.published_for_s = rotation_times_usual.settle_s - 1;
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && cluster.step.published);
    ASSERT_TEXT(cluster.step.what, "waits until every API server can have read the new CA");
    ASSERT_INT(cluster.step.again_in_s, 1);

    /* One entry has lost it. */
    char *both = cluster.stored.entries[1];
    cluster.published_for_s = DAY_S;
    cluster.stored.entries[1] = old_ca;
    CU_ASSERT_FATAL(take_step(&cluster, now, false));
    CU_ASSERT(!cluster.step.write && !cluster.step.published);
    cluster.stored.entries[1] = both;

    cluster.published_for_s = rotation_times_usual.settle_s;
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    ASSERT_TEXT(cluster.step.what, "a new certificate, for every API server trusts the new CA");
    ASSERT_INT(count_in(cluster.step.secret.ca_keys, "BEGIN PRIVATE KEY"), 1);
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && cluster.step.published);
    assert_served(&cluster, now, 2);
    clock_unix_s = now;
    gnutls_global_set_time_function(read_clock);
    ASSERT_INT(client_objects(text_of(old_leaf), text_of(cluster.stored.entries[0])), 0);
    CU_ASSERT(client_objects(text_of(cluster.stored.items[2]), text_of(old_ca)) != 0);
    gnutls_global_set_time_function(time);

    /* Until the old leaf has ended, whatever else happens. */
    run(&cluster, &now);
    CU_ASSERT_FATAL(take_step(&cluster, old_leaf_ends - 1, false));
    CU_ASSERT(!cluster.step.write);
    ASSERT_INT(cluster.step.again_in_s, 1);
    now = old_leaf_ends;
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    ASSERT_TEXT(cluster.step.what, "the CA before leaves: its time is over");
    run(&cluster, &now);
    ASSERT_INT(cluster.applies, 1);
    assert_served(&cluster, now, 1);
    ASSERT_TEXT(text_of(cluster.stored.items[4]), "");
    free(old_leaf);
    free(old_ca);
    cluster_free(&cluster);
}

/* When configurations cannot be written, the old CA goes on signing as long as it lives. */
static void what_is_not_published_does_not_sign(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    char *entry = strdup(cluster.stored.entries[0]);
    for (int day = 2000; day < 3640; day += 20) {
        now = NOW + day * DAY_S;
        for (int i = 0; i < 6; i++) {
            cluster.published_for_s = 10 * DAY_S;
            CU_ASSERT_FATAL(take_step(&cluster, now, true));
            for (size_t j = 0; j < ENTRIES; j++)
                store(&cluster.stored.entries[j], text_of(entry));
        }
        CU_ASSERT(!cluster.step.write);
        clock_unix_s = now;
        gnutls_global_set_time_function(read_clock);
        ASSERT_INT(client_objects(text_of(cluster.stored.items[2]), text_of(entry)), 0);
        gnutls_global_set_time_function(time);
        CU_ASSERT(count_in(text_of(cluster.stored.items[0]), "BEGIN CERTIFICATE") <= 2);
    }
    free(entry);
    cluster_free(&cluster);
}

/* Somebody else's certificate is in use when Taffrail begins to make its own. */
static void another_ca_is_succeeded(void)
{
    struct cluster cluster = cluster_new();
    struct cert_pair other;
    int64_t now = NOW;
    CU_ASSERT_FATAL(cert_issue_ca(NOW - DAY_S, cluster.arena, &other, NULL));
    for (size_t i = 0; i < ENTRIES; i++)
        store(&cluster.stored.entries[i], other.certificate);
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    ASSERT_TEXT(cluster.step.what, "a new CA, for there is none");
    ASSERT_INT(count_in(cluster.step.secret.ca_bundle, "BEGIN CERTIFICATE"), 2);
    ASSERT_TEXT(cluster.step.secret.leaf.certificate, "");
    run(&cluster, &now);
    CU_ASSERT(now - NOW < 5 * rotation_times_usual.settle_s);
    assert_served(&cluster, now, 2);
    now += 91 * DAY_S;
    run(&cluster, &now);
    assert_served(&cluster, now, 1);
    cluster_free(&cluster);
}

/* The Secret is deleted while no configuration can be read: API servers trust its CA, and replicas
 * serve its leaf, until a leaf of the new CA is one that all trust. */
static void what_cannot_be_read_may_trust_what_is_lost(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    char *old_leaf = strdup(cluster.stored.items[2]), *old_ca = strdup(cluster.stored.items[0]);
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        store(&cluster.stored.items[i], TEXT(""));
    cluster.unread = true;
    cluster.published_for_s = 0;
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    ASSERT_TEXT(cluster.step.what, "a new CA, for there is none");
    ASSERT_TEXT(cluster.step.secret.leaf.certificate, "");
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && !cluster.step.published);
    ASSERT_TEXT(cluster.step.what, "waits until the webhook configurations can be read");

    cluster.unread = false;
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(cluster.step.write);
    ASSERT_TEXT(cluster.step.what, "ca.crt, from what is published");
    CU_ASSERT(text_ends_with(cluster.step.secret.ca_bundle, text_of(old_ca)));
    CU_ASSERT_FATAL(take_step(&cluster, now, true));
    CU_ASSERT(!cluster.step.write && !cluster.step.published);
    clock_unix_s = now;
    gnutls_global_set_time_function(read_clock);
    ASSERT_INT(client_objects(text_of(old_leaf), text_of(cluster.stored.entries[0])), 0);
    gnutls_global_set_time_function(time);
    run(&cluster, &now);
    ASSERT_INT(cluster.writes, 1);
    assert_served(&cluster, now, 2);
    free(old_leaf);
    free(old_ca);
    cluster_free(&cluster);
}

/* Who may never read them has a certificate in the end: others may have written the bundle. */
static void what_can_never_be_read_is_not_waited_for_for_ever(void)
{
    struct cluster cluster = cluster_new();
    int64_t settle_s = rotation_times_usual.settle_s;
    cluster.unread = true;
    CU_ASSERT_FATAL(take_step(&cluster, NOW, true));
    CU_ASSERT_FATAL(take_step(&cluster, NOW + 10 * settle_s - 1, true));
    CU_ASSERT(!cluster.step.write);
    CU_ASSERT_FATAL(take_step(&cluster, NOW + 10 * settle_s, true));
    ASSERT_TEXT(cluster.step.what, "a new certificate, for there is none");
    cluster_free(&cluster);
}

/* ---- contents that nobody wrote on purpose ---- */

struct spoilt {
    const char *what;
    const char *said; /* in the steps that follow */
    void (*spoil)(struct cluster *cluster);
    size_t writes, cas; /* until all is well, and then */
};

static void put(struct cluster *cluster, size_t item, struct text t)
{
    store(&cluster->stored.items[item], t);
}

static struct cert_pair other_ca(struct cluster *cluster)
{
    struct cert_pair ca;
    CU_ASSERT_FATAL(cert_issue_ca(NOW, cluster->arena, &ca, NULL));
    return ca;
}

/* A leaf of the CA in the Secret, or of another. */
static void put_leaf(struct cluster *cluster, const struct cert_pair *ca, int64_t made_unix_s,
                     const char *name)
{
    const char *const dns[] = {name};
    const struct cert_names names = {.dns = dns, .dns_count = 1};
    const struct cert_pair own = {text_of(cluster->stored.items[0]),
                                  text_of(cluster->stored.items[1])};
    struct cert_pair leaf;
    CU_ASSERT_FATAL(cert_issue_leaf_for(90 * DAY_S, ca == NULL ? &own : ca, &names, made_unix_s,
                                        cluster->arena, &leaf, NULL));
    put(cluster, 2, leaf.certificate);
    put(cluster, 3, leaf.key);
}

static void garbage_ca(struct cluster *c)
{
    put(c, 0, TEXT("\x80 -----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"));
}
static void cut_ca(struct cluster *c)
{
    put(c, 0, arena_printf(c->arena, "%.100s", c->stored.items[0]));
}
/* Of its signature, so that the key is the same. */
static void damaged_ca(struct cluster *c)
{
    char *digit = strstr(c->stored.items[0], "\n-----END") - 10;
    *digit = *digit == 'A' ? 'B' : 'A';
}
static void other_end(struct cluster *c)
{
    memcpy(strstr(c->stored.items[0], "END CERTIFICATE"), "END CERTIFICATX", 15);
}
static void line_too_many(struct cluster *c)
{
    const char *ca = c->stored.items[0];
    size_t at = (size_t)(strstr(ca, "\n-----END") - ca);
    put(c, 0, arena_printf(c->arena, "%.*s\n--%s", (int)at, ca, ca + at));
}
static void ca_behind_half_a_one(struct cluster *c)
{
    const char *ca = c->stored.items[0];
    put(c, 0, arena_printf(c->arena, "%.100s\n%s", ca, ca));
}
static void no_ca(struct cluster *c)
{
    put(c, 0, TEXT(""));
}
static void leaf_as_ca(struct cluster *c)
{
    put(c, 0, text_of(c->stored.items[2]));
}
static void keys_in_bundle(struct cluster *c)
{
    put(c, 0, arena_printf(c->arena, "%s%s", c->stored.items[1], c->stored.items[0]));
}
static void line_ends(struct cluster *c)
{
    struct text_builder dos = {.arena = c->arena};
    for (const char *at = c->stored.items[0]; *at != '\0'; at++)
        text_builder_printf(&dos, *at == '\n' ? "\r\n" : "%c", *at);
    put(c, 0, text_builder_text(&dos));
}
static void many_cas(struct cluster *c)
{
    struct text_builder many = {.arena = c->arena};
    for (int i = 0; i < 12; i++)
        text_builder_add(&many, other_ca(c).certificate);
    text_builder_add(&many, text_of(c->stored.items[0]));
    put(c, 0, text_builder_text(&many));
}
static void no_key(struct cluster *c)
{
    put(c, 1, TEXT(""));
}
static void other_key(struct cluster *c)
{
    put(c, 1, other_ca(c).key);
}
static void damage_key(struct cluster *c, size_t item)
{
    char *digit = c->stored.items[item] + strlen("-----BEGIN PRIVATE KEY-----\n") + 52;
    *digit = *digit == 'A' ? 'B' : 'A';
}
static void damaged_ca_key(struct cluster *c)
{
    damage_key(c, 1);
}
static void damaged_leaf_key(struct cluster *c)
{
    damage_key(c, 3);
}
static void garbage_leaf(struct cluster *c)
{
    put(c, 2, TEXT("-----BEGIN CERTIFICATE-----"));
}
static void leaf_key_of_another(struct cluster *c)
{
    put(c, 3, text_of(c->stored.items[1]));
}
static void expired_leaf(struct cluster *c)
{
    put_leaf(c, NULL, NOW - 91 * DAY_S, wanted_name);
}
static void leaf_of_tomorrow(struct cluster *c)
{
    put_leaf(c, NULL, NOW + 300 * DAY_S, wanted_name);
}
static void other_name(struct cluster *c)
{
    put_leaf(c, NULL, NOW, "other.taffrail.svc");
}
static void leaf_of_another(struct cluster *c)
{
    struct cert_pair ca = other_ca(c);
    put_leaf(c, &ca, NOW, wanted_name);
}
static void nothing_left(struct cluster *c)
{
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        put(c, i, TEXT(""));
}
static void garbage_time(struct cluster *c)
{
    put(c, 4, TEXT("2026-13-99 or so"));
}
static void late_time(struct cluster *c)
{
    const struct text other = other_ca(c).certificate; /* TEXT_ARGS reads its argument twice */
    put(c, 4, TEXT("9999-12-31T23:59:59Z"));
    put(c, 0, arena_printf(c->arena, "%s%.*s", c->stored.items[0], TEXT_ARGS(other)));
}
static void garbage_entries(struct cluster *c)
{
    nothing_left(c);
    for (size_t i = 0; i < ENTRIES; i++)
        store(&c->stored.entries[i], TEXT("Zm9v -----BEGIN CERTIFICATE-----"));
}

static void what_is_spoilt_is_replaced_once(void)
{
    static const struct spoilt cases[] = {
        {"a CA of garbage", "ca.crt, from what is published", garbage_ca, 1, 1},
        {"half a CA", "ca.crt, from what is published", cut_ca, 1, 1},
        {"a damaged CA", "ca.crt, from what is published", damaged_ca, 1, 1},
        {"a CA with another end", "ca.crt, from what is published", other_end, 1, 1},
        {"a CA with a line too many", "ca.crt, from what is published", line_too_many, 1, 1},
        {"half a CA before it", "the Secret, written as it is read", ca_behind_half_a_one, 1, 1},
        {"no CA", "ca.crt, from what is published", no_ca, 1, 1},
        {"a leaf in place of the CA", "ca.crt, from what is published", leaf_as_ca, 1, 1},
        {"keys beside the CA", "the Secret, written as it is read", keys_in_bundle, 1, 1},
        {"line ends of another system", "the Secret, written as it is read", line_ends, 1, 1},
        {"a dozen CAs", "the Secret, written as it is read", many_cas, 1, 4},
        {"no key of the CA", "ca.key of the Secret lacks the key of the newest", no_key, 2, 2},
        {"the key of another CA", "ca.key of the Secret lacks the key", other_key, 2, 2},
        {"a damaged key of the CA", "ca.key of the Secret lacks the key", damaged_ca_key, 2, 2},
        {"a damaged key of the leaf", "the private key is damaged", damaged_leaf_key, 1, 1},
        {"a leaf of garbage", "the certificate cannot be read", garbage_leaf, 1, 1},
        {"a key that is not the leaf's", "does not belong to the", leaf_key_of_another, 1, 1},
        {"a leaf that has ended", "the certificate expired at 2026-11-05", expired_leaf, 1, 1},
        {"a leaf from tomorrow", "is not valid before 2027", leaf_of_tomorrow, 1, 1},
        {"another name", "lacks a name that is wanted", other_name, 1, 1},
        {"a leaf of another CA", "no CA in ca.crt signed the one", leaf_of_another, 1, 1},
        {"an empty Secret", "a new CA, for there is none", nothing_left, 2, 2},
        {"a time of garbage", "the Secret, written as it is read", garbage_time, 1, 1},
        {"a CA that is to stay for ever", "the Secret, written as", late_time, 1, 2},
        {"nothing, and garbage published", "a new CA, for there is none", garbage_entries, 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster cluster = cluster_new();
        int64_t now = NOW;
        run(&cluster, &now);
        arena_reset(cluster.arena);
        cases[i].spoil(&cluster);
        cluster.published_for_s = 0;
        run(&cluster, &now);
        if (cluster.writes != cases[i].writes || strstr(cluster.said, cases[i].said) == NULL) {
            fprintf(stderr, "%s: %zu writes:\n%s", cases[i].what, cluster.writes, cluster.said);
            CU_FAIL("other steps than expected");
        }
        assert_served(&cluster, now, cases[i].cas);
        cluster_free(&cluster);
    }
}

/* The Secret is deleted, since others may know the key, and somebody says when the old CA leaves.
 */
static void a_ca_leaves_when_somebody_says(void)
{
    static const struct {
        const char *said;
        bool early;        /* before the new CA signs */
        int64_t at_unix_s; /* when it leaves; 0: as soon as it can */
    } cases[] = {
        {"2026-01-01T00:00:00Z", true, 0},
        {"1970-01-01T00:00:00Z", true, 0},
        {"2026-01-01T00:00:00Z", false, 0},
        {"2026-11-07T21:20:00Z", true, NOW + DAY_S},
    };
    const int64_t settle_s = rotation_times_usual.settle_s;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster cluster = cluster_new();
        int64_t now = NOW, leaf_s;
        run(&cluster, &now);
        nothing_left(&cluster);
        CU_ASSERT_FATAL(take_step(&cluster, now, true)); /* the new CA */
        CU_ASSERT_FATAL(take_step(&cluster, now, true)); /* its bundles */
        if (cases[i].early)
            put(&cluster, 4, text_of(cases[i].said));
        CU_ASSERT_FATAL(take_step(&cluster, now, true));
        CU_ASSERT(!cluster.step.write);
        cluster.published_for_s = settle_s;
        leaf_s = now += settle_s;
        CU_ASSERT_FATAL(take_step(&cluster, now, true));
        ASSERT_TEXT(cluster.step.what, "a new certificate, for there is none");
        if (!cases[i].early)
            put(&cluster, 4, text_of(cases[i].said));
        assert_served(&cluster, now, 2);
        /* The replicas have time to load it. */
        int64_t leaves_s = cases[i].at_unix_s > 0 ? cases[i].at_unix_s : leaf_s + settle_s;
        CU_ASSERT_FATAL(take_step(&cluster, leaf_s, true));
        CU_ASSERT_FATAL(take_step(&cluster, leaves_s - 1, true));
        CU_ASSERT(!cluster.step.write);
        ASSERT_INT(cluster.step.again_in_s, 1);
        CU_ASSERT_FATAL(take_step(&cluster, leaves_s, true));
        ASSERT_TEXT(cluster.step.what, "the CA before leaves: its time is over");
        now = leaves_s;
        run(&cluster, &now);
        assert_served(&cluster, now, 1);
        cluster_free(&cluster);
    }
}

/* It was said of the CA before this one. */
static void a_time_from_before_a_new_ca_is_forgotten(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    no_key(&cluster);
    put(&cluster, 4, TEXT("2026-01-01T00:00:00Z"));
    cluster.published_for_s = 0;
    run(&cluster, &now);
    assert_served(&cluster, now, 2);
    cluster_free(&cluster);
}

static uint32_t random_state;

static uint32_t draw(size_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % (uint32_t)below;
}

/* One item is cut, changed in one byte, emptied, doubled, or replaced by another. */
static void spoil_at_random(struct cluster *c)
{
    char **item = &c->stored.items[draw(ROTATION_ITEM_COUNT)];
    size_t size = strlen(*item);
    const char *other = c->stored.items[draw(ROTATION_ITEM_COUNT)];
    switch (draw(5)) {
    case 0:
        (*item)[size == 0 ? 0 : draw(size)] = '\0';
        break;
    case 1:
        if (size > 0)
            (*item)[draw(size)] = (char)(1 + draw(255));
        break;
    case 2:
        store(item, TEXT(""));
        break;
    case 3:
        store(item, arena_printf(c->arena, "%s%s", *item, other));
        break;
    default:
        store(item, arena_printf(c->arena, "%s", other));
    }
}

static void anything_comes_to_rest(void)
{
    for (uint32_t seed = 1; seed <= 80; seed++) {
        struct cluster cluster = cluster_new();
        int64_t now = NOW;
        random_state = seed * 2654435761U;
        run(&cluster, &now);
        arena_reset(cluster.arena);
        for (size_t i = 1 + draw(4); i > 0; i--)
            spoil_at_random(&cluster);
        cluster.published_for_s = draw(2) * DAY_S;
        run(&cluster, &now);
        if (cluster.writes > 3) {
            fprintf(stderr, "seed %u: %zu writes:\n%s", seed, cluster.writes, cluster.said);
            CU_FAIL("more writes than a CA, a leaf and the old CA's end");
        }
        assert_served(&cluster, now,
                      count_in(text_of(cluster.stored.items[0]), "BEGIN CERTIFICATE"));
        cluster_free(&cluster);
    }
}

/* ---- clocks ---- */

static void a_clock_that_is_behind_changes_nothing(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    CU_ASSERT(!take_step(&cluster, NOW - 3650 * DAY_S, true));
    ASSERT_INT(cluster.error.kind, ERROR_TLS);
    ASSERT_TEXT(text_of(cluster.error.what),
                "a CA is not valid before 2026-11-06T21:15:00Z, and the clock says "
                "2016-11-08T21:20:00Z: this clock is wrong, or that of whoever made the CA was; "
                "mend the clock, or delete the Secret and empty caBundle of the webhooks to have "
                "a new CA made");
    /* A little behind is not behind. */
    CU_ASSERT_FATAL(take_step(&cluster, NOW - HOUR_S, false));
    cluster_free(&cluster);
}

static void a_clock_that_is_ahead_makes_a_ca_once(void)
{
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    run(&cluster, &now);
    now = NOW + 10950 * DAY_S;
    run(&cluster, &now);
    ASSERT_INT(cluster.writes, 2); /* the CA, and once that is published the leaf */
    assert_served(&cluster, now, 1);
    CU_ASSERT(!take_step(&cluster, NOW, true));
    ASSERT_INT(cluster.error.kind, ERROR_TLS);
    cluster_free(&cluster);
}

/* Whatever the clock says, and in any order, a state that is at rest is not written again. */
static void a_clock_that_jumps_does_not_write_for_ever(void)
{
    static const int days[] = {0, 59, 61, 10, 3000, 2990, 2, 3700, 3695, 0, 3705, 8000, 7990};
    struct cluster cluster = cluster_new();
    int64_t now = NOW;
    size_t writes = 0;
    run(&cluster, &now);
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < COUNT_OF(days); i++) {
            now = NOW + days[i] * DAY_S;
            cluster.writes = 0;
            for (size_t step = 0; step < 8; step++) {
                if (take_step(&cluster, now, true) && step > 5)
                    CU_ASSERT(!cluster.step.write);
                cluster.published_for_s = DAY_S;
            }
            writes += cluster.writes;
        }
    CU_ASSERT(writes < 6 * COUNT_OF(days));
    cluster_free(&cluster);
}

static void names_that_cannot_be_are_said(void)
{
    static const char *const wrong[] = {"no name"};
    struct cluster cluster = cluster_new();
    cluster.dns = wrong;
    CU_ASSERT(!take_step(&cluster, NOW, true));
    ASSERT_INT(cluster.error.kind, ERROR_USAGE);
    CU_ASSERT(strstr(cluster.error.what, "\"no name\" is no DNS name") != NULL);
    cluster_free(&cluster);
}

/* Names are compared by the letter, so that what was issued for a name is known to have it. */
static void any_name_that_is_issued_is_found_again(void)
{
    static const char *const odd[] = {"*.taffrail.svc", "UPPER.taffrail.svc", "a_b.svc",
                                      "localhost"};
    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        struct cluster cluster = cluster_new();
        cluster.dns = &odd[i];
        CU_ASSERT_FATAL(take_step(&cluster, NOW, true));
        CU_ASSERT_FATAL(take_step(&cluster, NOW, true));
        CU_ASSERT(!cluster.step.write);
        cluster_free(&cluster);
    }
}

const char unit_suite[] = "certs rotate";
const struct unit_test unit_tests[] = {
    {"a first certificate is made at once", a_first_certificate_is_made_at_once},
    {"a leaf is renewed at two thirds", a_leaf_is_renewed_at_two_thirds},
    {"a CA is followed by another", a_ca_is_followed_by_another},
    {"what is not published does not sign", what_is_not_published_does_not_sign},
    {"another CA is succeeded", another_ca_is_succeeded},
    {"what cannot be read may trust what is lost", what_cannot_be_read_may_trust_what_is_lost},
    {"what can never be read is not waited for for ever",
     what_can_never_be_read_is_not_waited_for_for_ever},
    {"what is spoilt is replaced once", what_is_spoilt_is_replaced_once},
    {"a CA leaves when somebody says", a_ca_leaves_when_somebody_says},
    {"a time from before a new CA is forgotten", a_time_from_before_a_new_ca_is_forgotten},
    {"anything comes to rest", anything_comes_to_rest},
    {"a clock that is behind changes nothing", a_clock_that_is_behind_changes_nothing},
    {"a clock that is ahead makes a CA once", a_clock_that_is_ahead_makes_a_ca_once},
    {"a clock that jumps does not write for ever", a_clock_that_jumps_does_not_write_for_ever},
    {"names that cannot be are said", names_that_cannot_be_are_said},
    {"any name that is issued is found again", any_name_that_is_issued_is_found_again},
    {NULL, NULL},
};
