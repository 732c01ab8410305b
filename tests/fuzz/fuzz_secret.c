/* The Secret with the certificates, and the two webhook configurations, with a NUL between them: no
 * crash, no leak; what is to be written has a leaf that serves, and is read as it was written. */
/* reads: server/webhook_manager_body.c certs/rotate.c certs/inspect.c certs/bundle_check.c
 * base/base64.c */
#include <string.h>

#include "certs/certs.h"
#include "fuzz.h"
#include "server/webhook_manager.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000, BUNDLES_MAX = 64 };

static const char *const names[] = {"taffrail.taffrail.svc"};
static const struct webhook_manager_settings settings = {
    .namespace = "taffrail",
    .secret = "taffrail-tls",
    .configuration = "taffrail",
    .service = "taffrail",
    .names = {.dns = names, .dns_count = 1},
};

static struct arena *arena;

static const struct node *read_json(struct text json)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error;
    source->text = json;
    REQUIRE(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &error));
    return root;
}

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

static void check_written(const struct node *read, const struct rotation_secret *secret)
{
    struct rotation_secret again;
    struct error error;
    int64_t not_after_unix_s;
    const struct node *root = read_json(secret_body(read, &settings, secret, arena));
    rotation_secret_read(root, arena, &again);
    REQUIRE(same_secret(secret, &again));
    REQUIRE(secret->leaf.certificate.size == 0 ||
            cert_check(&secret->leaf, NOW_UNIX_S, &not_after_unix_s, &error));
    REQUIRE(cert_check_bundle(secret->ca_bundle, &error));
}

struct parts {
    const struct node *secret, *configurations[CONFIGURATION_COUNT];
};

static void rotate(void *argument)
{
    const struct parts *parts = argument;
    struct text published[BUNDLES_MAX];
    struct rotation_view view = {.names = settings.names,
                                 .published = published,
                                 .times = rotation_times_usual,
                                 .published_for_s = 3600,
                                 .now_unix_s = NOW_UNIX_S};
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
    if (step.write)
        check_written(parts->secret, &step.secret);
    for (size_t i = 0; i < CONFIGURATION_COUNT && !step.write; i++) {
        enum resource resource =
            i == 0 ? RESOURCE_VALIDATING_CONFIGURATION : RESOURCE_MUTATING_CONFIGURATION;
        struct webhook_entries entries = entries_of(&settings, parts->configurations[i], arena);
        struct text body =
            bundles_body(resource, parts->configurations[i], &entries, step.bundle, arena);
        REQUIRE(node_count(node_get(read_json(body), "webhooks")) == entries.count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (arena == NULL)
        arena = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL);
    arena_reset(arena);
    struct text text = {(const char *)data, size}, secret = text, rest = TEXT("");
    text_split(text, '\0', &secret, &rest);
    struct text validating = rest, mutating = TEXT("");
    text_split(rest, '\0', &validating, &mutating);
    struct parts parts = {
        object_of(RESOURCE_SECRET, secret, arena),
        {object_of(RESOURCE_VALIDATING_CONFIGURATION, validating, arena),
         object_of(RESOURCE_MUTATING_CONFIGURATION, mutating, arena)},
    };
    struct error error;
    REQUIRE(arena_guard(arena, rotate, &parts, &error) || error.kind == ERROR_LIMIT);
    return 0;
}
