/* What is kept of what a rail says: what is told twice of a custom resource, and what is only
 * counted. */
#include "policy/record.h"
#include "rail_table.h"

static const struct object *read_object(const char *yaml, struct arena *arena)
{
    return rail_table_read(yaml, arena).items;
}

/* A rail says at each template what it says of the whole resource. */
static void what_is_outside_of_templates_is_said_once(void)
{
    struct arena *arena = arena_create((size_t)16 << 20);
    struct object object = *read_object(
        "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: a}, spec: {groups: [{name: a, "
        "other: 1, template: {spec: {nodeName: m}}}, {name: a, other: 2}], suspend: true}}",
        arena);
    const struct pod_template template = {
        .spec = field_at(arena, object.root, "spec.groups[0].template.spec"),
        .metadata = field_at(arena, object.root, "spec.groups[0].template.metadata")};
    const struct field *groups = field_at(arena, object.root, "spec.groups");
    const struct {
        const struct field *field;
        const char *found;
        size_t drafts; /* after it was said again */
    } rows[] = {
        {field_at(arena, object.root, "spec.suspend"), "true", 1},
        {field_at(arena, object.root, "spec.suspend"), "false", 1},
        /* items are told apart by their places */
        {field_get(arena, field_item(arena, groups, 0), "other"), "1", 1},
        {field_get(arena, field_item(arena, groups, 1), "other"), "1", 1},
        {NULL, "", 1},
        {field_get(arena, template.spec, "nodeName"), "m", 2},
    };
    size_t expected = 0;
    object.template = &template;
    struct record record = {.arena = arena, .object = &object, .seed = hash_seed_new()};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct draft draft = {.field = rows[i].field, .found = text_of(rows[i].found)};
        record_add(&record, &draft);
        record_add(&record, &draft);
        expected += rows[i].drafts;
        ASSERT_INT(record.drafts.count, expected);
    }
    arena_destroy(arena);
}

/* What is beyond what is kept need not be put into words, unless it is compared. */
static void what_is_only_counted_needs_no_words(void)
{
    struct arena *arena = arena_create((size_t)16 << 20);
    const struct object *object =
        read_object("{apiVersion: v1, kind: Pod, metadata: {name: a}}", arena);
    const struct pod_template template = {0};
    struct object in_template = *object;
    struct excuses excuses = {0};
    in_template.template = &template;
    const struct {
        struct record record;
        size_t said;
        bool counts;
    } rows[] = {
        {{.object = object}, DRAFTS_KEPT - 1, false},
        {{.object = object}, DRAFTS_KEPT, true},
        {{.object = object, .keeps_all = true}, DRAFTS_KEPT, false},
        {{.object = object, .of_old = true}, DRAFTS_KEPT, false},
        {{.object = object, .excuses = &excuses}, DRAFTS_KEPT, false},
        {{.object = &in_template}, DRAFTS_KEPT, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record record = rows[i].record;
        record.counts[false][SEVERITY_WARN] = rows[i].said;
        CU_ASSERT_EQUAL(record_counts(&record, SEVERITY_WARN), rows[i].counts);
        ASSERT_INT(record.counts[false][SEVERITY_WARN], rows[i].said + rows[i].counts);
        CU_ASSERT_FALSE(record_counts(&record, SEVERITY_RAIL));
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy record";
const struct unit_test unit_tests[] = {
    {"what is outside of templates is said once", what_is_outside_of_templates_is_said_once},
    {"what is only counted needs no words", what_is_only_counted_needs_no_words},
    {NULL, NULL},
};
