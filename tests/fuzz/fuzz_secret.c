/* The Secret with the certificates, the two webhook configurations, and for how many seconds these
 * have been seen so, below 0 where one cannot be read, with a NUL between them; certificates by the
 * names of issued.h. No crash, no
 * leak; what is to be written is read as it was written, and a leaf that is made serves. */
/* reads: server/webhook_manager_body.c certs/rotate.c certs/inspect.c certs/bundle_check.c
 * base/base64.c */
#include <string.h>

#include "certs/certs.h"
#include "fuzz.h"
#include "issued.h"
#include "server/webhook_manager.h"

enum { ARENA_BYTES = 64 << 20, PUBLISHED_FOR_S = 3600, BUNDLES_MAX = 64 };

static const struct webhook_manager_settings settings = {
    .namespace = "taffrail",
    .secret = "taffrail-tls",
    .configuration = "taffrail",
    .service = "taffrail",
};

static struct arena *arena;

static bool same_secret(const struct rotation_secret *a, const struct rotation_secret *b)
{
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++) {
        size_t offset = rotation_items[i].offset;
        const struct text *one = (const void *)((const char *)a + offset);
        const struct text *other = (const void *)((const char *)b + offset);
        if (!text_equal(*one, *other))
            return false;
    }
    return true;
}

/* A leaf that cannot serve stays as it was read while nothing can sign another that all trust. */
static void check_leaf(const struct rotation_step *step, const struct rotation_secret *before)
{
    const struct cert_pair *leaf = &step->secret.leaf;
    struct error error;
    int64_t not_after_unix_s;
    if (step->leaf_not_after_unix_s == 0)
        REQUIRE(text_equal(leaf->certificate, before->leaf.certificate) &&
                text_equal(leaf->key, before->leaf.key));
    else
        REQUIRE(cert_check(leaf, ISSUED_NOW_UNIX_S, &not_after_unix_s, &error) &&
                not_after_unix_s == step->leaf_not_after_unix_s);
}

static void check_written(const struct node *read, const struct rotation_secret *secret)
{
    struct rotation_secret again;
    struct error error;
    struct text body = secret_body(read, &settings, secret, arena);
    rotation_secret_read(fuzz_tree(body, &doc_limits_manifest, arena), arena, &again);
    REQUIRE(same_secret(secret, &again));
    REQUIRE(cert_check_bundle(secret->ca_bundle, &error));
}

struct parts {
    const struct node *secret, *configurations[CONFIGURATION_COUNT];
    int64_t published_for_s;
    bool may_lose_trust;
};

static void rotate(const struct parts *parts)
{
    struct text published[BUNDLES_MAX];
    struct rotation_view view = {.names = issued_names,
                                 .published = published,
                                 .times = rotation_times_usual,
                                 .published_for_s = parts->published_for_s,
                                 .may_lose_trust = parts->may_lose_trust,
                                 .now_unix_s = ISSUED_NOW_UNIX_S};
    struct rotation_step step;
    struct error error;
    rotation_secret_read(parts->secret, arena, &view.secret);
    for (size_t i = 0; i < CONFIGURATION_COUNT; i++) {
        struct webhook_entries entries = entries_of(&settings, parts->configurations[i], arena);
        (void)bundle_manager(parts->configurations[i], arena);
        for (size_t j = 0; j < entries.count && view.published_count < BUNDLES_MAX; j++)
            published[view.published_count++] = bundle_of(entries.ours[j], arena);
    }
    if (!certs_rotate(&view, arena, &step, &error)) {
        REQUIRE(error.what[0] != '\0');
        return;
    }
    check_leaf(&step, &view.secret);
    size_t ca_count;
    REQUIRE(certs_signer(step.secret.leaf.certificate, step.secret.ca_bundle, &ca_count) <=
            ca_count);
    if (step.write)
        check_written(parts->secret, &step.secret);
    for (size_t i = 0; i < CONFIGURATION_COUNT && !step.write; i++) {
        enum resource resource =
            i == 0 ? RESOURCE_VALIDATING_CONFIGURATION : RESOURCE_MUTATING_CONFIGURATION;
        struct webhook_entries entries = entries_of(&settings, parts->configurations[i], arena);
        struct text body =
            bundles_body(resource, parts->configurations[i], &entries, step.bundle, arena);
        const struct node *root = fuzz_tree(body, &doc_limits_manifest, arena);
        REQUIRE(node_count(node_get(root, "webhooks")) == entries.count);
    }
}

static void read_all(void *argument)
{
    const struct text *input = argument;
    struct text part, rest = issued_in(*input, ISSUED_BASE64, arena);
    struct parts parts = {.published_for_s = PUBLISHED_FOR_S};
    static const enum resource resources[] = {RESOURCE_SECRET, RESOURCE_VALIDATING_CONFIGURATION,
                                              RESOURCE_MUTATING_CONFIGURATION};
    for (size_t i = 0; i < COUNT_OF(resources); i++) {
        struct text left = TEXT("");
        part = rest;
        text_split(rest, '\0', &part, &left);
        *(i == 0 ? &parts.secret : &parts.configurations[i - 1]) =
            object_of(resources[i], part, arena);
        rest = left;
    }
    int64_t published_for_s = 0;
    if (text_to_int64(rest, &published_for_s) && published_for_s >= 0)
        parts.published_for_s = published_for_s;
    parts.may_lose_trust = published_for_s < 0;
    rotate(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text(&arena, ARENA_BYTES, read_all, data, size);
}
