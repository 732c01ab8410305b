/* Policy files: no crash, no leak; a refused file has a reason and a place, and an accepted one can
 * be evaluated. The first byte '{' selects JSON. */
/* reads: policy/load.c policy/schema.c policy/schema_message.c policy/document_keys.c
 * policy/grant.c policy/override.c policy/exception.c policy/match.c */
#include "catalog/catalog.h"
#include "fuzz.h"
#include "policy/policy_set.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000 };

static const struct catalog *catalog;
static struct arena *arena;

#define NAMED(rest) ", \"metadata\": {\"name\": \"web\", \"labels\": {\"a\": \"b\"}" rest "}}"
static const char *const objects[] = {
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"" NAMED(", \"namespace\": \"team-a\""),
    "{\"apiVersion\": \"ray.io/v1\", \"kind\": \"RayCluster\"" NAMED(", \"namespace\": \"ml-a\""),
    "{\"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\"" NAMED(""),
};

/* Each object is created by an account in a namespace whose labels are known, and changed by nobody
 * where they are not. */
struct subjects {
    struct object objects[COUNT_OF(objects)];
    struct match_subject items[2 * COUNT_OF(objects)];
    struct object namespace;
};

static void make_subjects(struct subjects *subjects)
{
    static const struct text groups[] = {TEXT("dev"), TEXT("system:authenticated")};
    static const struct requester account = {
        .name = TEXT("system:serviceaccount:team-a:web"),
        .groups = groups,
        .group_count = COUNT_OF(groups),
    };
    subjects->namespace.labels = fuzz_tree(TEXT("{\"a\": \"b\"}"), &doc_limits_manifest, arena);
    for (size_t i = 0; i < COUNT_OF(objects); i++) {
        const struct node *root = fuzz_tree(text_of(objects[i]), &doc_limits_manifest, arena);
        struct error error;
        REQUIRE(object_read(root, NULL, TEXT(""), arena, &subjects->objects[i], &error));
        const struct match_subject subject = {.object = &subjects->objects[i],
                                              .root_name = TEXT("web"),
                                              .operation = OPERATION_UPDATE};
        subjects->items[2 * i] = subject;
        subjects->items[2 * i + 1] = subject;
        subjects->items[2 * i + 1].operation = OPERATION_CREATE;
        subjects->items[2 * i + 1].requester = &account;
        subjects->items[2 * i + 1].namespace = &subjects->namespace;
    }
}

static void ask_rail(const struct policy *policy, const struct rail_use *use,
                     const struct match_subject *subject)
{
    bool expired = false, unknown = false, waits = false;
    enum mode mode = use->mode;
    const struct exception *exception =
        exception_find(policy, use->rail->name, subject, NOW_UNIX_S, &expired, &unknown);
    REQUIRE(exception != NULL || !expired);
    REQUIRE(exception == NULL || expired == (exception->expires_unix_s < NOW_UNIX_S));
    REQUIRE(!unknown || subject->namespace == NULL);
    const struct override *override = override_find(policy, use, subject, &mode, &waits);
    REQUIRE(mode <= MODE_ENFORCE && (override != NULL || waits || mode == use->mode));
    REQUIRE(!waits || subject->namespace == NULL);
    REQUIRE(mode == MODE_OFF || policy_may_use(policy, use));
}

static void ask(const struct policy *policy, const struct subjects *subjects)
{
    REQUIRE(policy->name.size > 0 && policy->place.line > 0);
    for (size_t i = 0; i < COUNT_OF(subjects->items); i++)
        match_evaluate(&policy->match, &subjects->items[i]);
    for (size_t i = 0; i < policy->rail_count; i++) {
        const struct rail_use *use = &policy->rails[i];
        REQUIRE(use->rail != NULL && use->settings != NULL && use->mode <= MODE_ENFORCE);
        for (size_t j = 0; j < COUNT_OF(subjects->items); j++)
            ask_rail(policy, use, &subjects->items[j]);
        docs_url(policy, use->rail->name, arena);
    }
    for (size_t i = 0; i < policy->exception_count; i++)
        REQUIRE(policy->exceptions[i].id.size > 0 && policy->exceptions[i].rails.count > 0 &&
                policy->exceptions[i].place.line > 0);
}

/* What others ask of a set before they hold an object against it. */
static void ask_set(const struct policy_set *set)
{
    struct custom_resources resources = {0};
    struct custom_kinds owners = {0};
    struct problems errors = {.arena = arena};
    kind_set judged = policy_set_judged_kinds(set);
    for (size_t i = 0; i < rail_count(); i++)
        for (enum kind kind = 0; kind < KIND_COUNT; kind++)
            for (enum operation as = OPERATION_CREATE; as <= OPERATION_CONNECT; as++)
                REQUIRE(!policy_set_judges(set, rail_at(i), kind, as) ||
                        policy_set_uses(set, rail_at(i)));
    (void)policy_set_asks_supply(set);
    (void)policy_set_plans(set);
    (void)policy_set_changes_pods(set);
    REQUIRE(policy_set_cpu_limit_us(set) > 0 && policy_set_timeout_s(set) >= 0);
    REQUIRE(policy_set_karpenter(set) != NULL);
    policy_set_custom_resources(set, arena, &resources);
    for (size_t i = 0; i < resources.count; i++)
        REQUIRE(resources.items[i].plural.size > 0);
    policy_set_owner_kinds(set, arena, &owners);
    for (size_t i = 0; i < owners.count; i++)
        REQUIRE(owners.items[i].kind.size > 0);
    (void)policy_set_unseen_sources(set, judged, arena);
    bool good = policy_refuse_long(set, NOW_UNIX_S, arena, &errors);
    REQUIRE(good == (errors.count == 0));
}

static void load(void *argument)
{
    const char *path = argument;
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    const struct policy_set *set = NULL;
    bool good = policy_load(&path, 1, catalog, arena, &set, &errors, &warnings);
    REQUIRE(good == (errors.count == 0));
    for (size_t i = 0; i < errors.count; i++)
        REQUIRE(errors.items[i].what[0] != '\0' && errors.items[i].place.file != NULL);
    if (!good)
        return;
    policy_warn_expired(set, NOW_UNIX_S, &warnings);
    ask_set(set);
    struct subjects subjects;
    make_subjects(&subjects);
    for (size_t i = 0; i < policy_set_count(set); i++)
        ask(&set->items[i], &subjects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *paths[2];
    if (arena == NULL) {
        paths[0] = fuzz_path("p.yaml");
        paths[1] = fuzz_path("p.json");
        catalog = catalog_builtin(arena_create(ARENA_BYTES));
        arena = arena_create(ARENA_BYTES);
    }
    const char *path = paths[size > 0 && data[0] == '{'];
    fuzz_write(path, data, size);
    fuzz_guarded(arena, load, (void *)(uintptr_t)path);
    return 0;
}
