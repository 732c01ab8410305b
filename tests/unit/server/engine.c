/* One engine stands behind `check` and `serve`: what a manifest is told offline is what the API
 * server would be told of the same object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/manifest.h"
#include "server/server.h"
#include "unit.h"

const char unit_suite[] = "one engine";

enum { NOW = 1795230245, BUDGET_BYTES = 1 << 28 };

static struct text review_of(const struct object *object, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out,
                        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
                        "\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"userInfo\":{"
                        "\"username\":\"jane\"},\"namespace\":");
    const struct node namespace = node_of_text(object->namespace);
    text_builder_add(&out, node_json(&namespace, arena));
    text_builder_add(&out, TEXT(",\"object\":"));
    text_builder_add(&out, node_json(object->root->node, arena));
    text_builder_add(&out, TEXT("}}"));
    return text_builder_text(&out);
}

static void assert_equal(const struct finding *checked, const struct finding *served)
{
    CU_ASSERT_STRING_EQUAL(checked->rail, served->rail);
    ASSERT_INT(checked->action, served->action);
    ASSERT_INT(checked->undecided, served->undecided);
    const struct {
        struct text checked, served;
    } texts[] = {
        {checked->path, served->path},       {checked->found, served->found},
        {checked->message, served->message}, {checked->fix, served->fix},
        {checked->policy, served->policy},   {checked->exception, served->exception},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CU_ASSERT(text_equal(texts[i].checked, texts[i].served));
    ASSERT_INT(checked->allowed_total, served->allowed_total);
    for (size_t i = 0; i < checked->allowed_count && i < served->allowed_count; i++)
        CU_ASSERT(text_equal(checked->allowed[i], served->allowed[i]));
}

static size_t compare(const struct world *world, const struct object *object, struct arena *arena)
{
    struct subject subject = {.object = object, .requester = {.name = TEXT("jane")}};
    struct verdict checked;
    policy_evaluate(world, &subject, NOW, arena, &checked);

    struct text answer;
    struct review_record record;
    struct error error;
    if (!review_answer(world, REVIEW_VALIDATE, review_of(object, arena), NOW, arena, &answer,
                       &record, &error)) {
        fprintf(stderr, "%.*s: %s\n", TEXT_ARGS(object->name), error.what);
        CU_FAIL("the review was not answered");
        return 0;
    }
    ASSERT_INT(checked.action, record.verdict.action);
    /* What is undecided for want of a whole source check says once a run, serve at load. */
    size_t count = 0;
    for (size_t i = 0; i < checked.finding_count; i++) {
        if (checked.findings[i].unseen != 0)
            continue;
        if (count < record.verdict.finding_count)
            assert_equal(&checked.findings[i], &record.verdict.findings[count]);
        count++;
    }
    ASSERT_INT(count, record.verdict.finding_count);
    return count;
}

static void compare_folder(const char *folder, const char *policy, size_t *objects,
                           size_t *findings)
{
    struct arena *arena = arena_create(BUDGET_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct manifests manifests;
    manifests_init(&manifests, arena);
    manifests_read(&manifests, folder, TEXT("default"));
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    struct world_options options = {
        .policy_paths = &policy, .policy_path_count = 1, .change = &manifests};
    struct world *world = NULL;
    CU_ASSERT_FATAL(world_load(&options, 1, NOW, &world, &errors, &warnings));
    for (size_t i = 0; i < manifests.count; i++)
        *findings += compare(world, &manifests.items[i], arena);
    *objects += manifests.count;
    world_destroy(world);
    arena_destroy(arena);
}

static void check_and_serve_find_the_same(void)
{
    const char *source = getenv("TAFFRAIL_SOURCE_DIR");
    const char *corpus = getenv("TAFFRAIL_CORPUS");
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    char policy[4096];
    char scenarios[4096];
    snprintf(policy, sizeof policy, "%s/manifests/policies/strict.yaml", source);
    snprintf(scenarios, sizeof scenarios, "%s/tests/scenarios", source);
    size_t objects = 0;
    size_t findings = 0;
    compare_folder(scenarios, policy, &objects, &findings);
    CU_ASSERT(objects >= 15);
    CU_ASSERT(findings >= 15);
    if (corpus == NULL) {
        printf("skipped: TAFFRAIL_CORPUS names no folder of published manifests ");
        return;
    }
    objects = 0;
    compare_folder(corpus, policy, &objects, &findings);
    CU_ASSERT(objects > 0);
}

const struct unit_test unit_tests[] = {
    {"check and serve find the same", check_and_serve_find_the_same},
    {NULL, NULL},
};
