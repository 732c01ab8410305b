/* What counts as a placeholder, and where an object has one. */
#include "kube/placeholder.h"

#include "object_fixture.h"

static void marks_are_known(void)
{
    static const struct {
        const char *text;
        bool placeholder;
    } rows[] = {
        {"${ZONE}", true},
        {"$(ZONE)", true},
        {"{{ .Values.zone }}", true},
        {"<<ZONE>>", true},
        {"nodes-${CLUSTER}-role", true},
        {"}${ZONE}", true},
        {"a{b<c$d${ZONE}", true},
        {"${A and $(B)", true},
        /* a mark ends after it begins */
        {"${ZONE", false},
        {"}${", false},
        {"{{ zone }", false},
        {"<<ZONE>", false},
        {"$(ZONE}", false},
        /* the marks of shells, of JSON and of prose */
        {"$ZONE", false},
        {"{\"a\": \"b\"}", false},
        {"<zone>", false},
        {"a < b", false},
        {"us-east-1a", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (text_has_placeholder(text_of(rows[i].text)) != rows[i].placeholder)
            fprintf(stderr, "%s\n", rows[i].text);
        CU_ASSERT_EQUAL(text_has_placeholder(text_of(rows[i].text)), rows[i].placeholder);
    }
}

static void capitals_are_known(void)
{
    static const struct {
        const char *text;
        bool capitals;
    } rows[] = {
        {"ARCH", true}, {"INSTANCE_TYPE", true}, {"ABC", true},   {"AZZ", true},    {"AB", false},
        {"", false},    {"Arch", false},         {"ARCh", false}, {"ARCH1", false}, {"A-B", false},
        {"A@B", false}, {"A[B", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (text_is_capitals(text_of(rows[i].text)) != rows[i].capitals)
            fprintf(stderr, "%s\n", rows[i].text);
        CU_ASSERT_EQUAL(text_is_capitals(text_of(rows[i].text)), rows[i].capitals);
    }
}

static void the_first_is_found(void)
{
    static const struct {
        const char *spec, *but, *path; /* path: NULL: there is none */
    } rows[] = {
        {"{role: 'nodes-${C}'}", NULL, "spec.role"},
        {"{role: nodes}", NULL, NULL},
        {"'${C}'", NULL, "spec"},
        {"nodes", NULL, NULL},
        {"7", NULL, NULL},
        {"{}", NULL, NULL},
        {"[]", NULL, NULL},
        {"{a: x, b: '${B}', c: '${C}'}", NULL, "spec.b"},
        {"{list: [x, {k: [y, '{{ z }}']}]}", NULL, "spec.list[1].k[1]"},
        {"[x, '<<y>>']", NULL, "spec[1]"},
        {"{a: {b: [x, y], c: {d: 7}}}", NULL, NULL},
        /* names of fields are none */
        {"{'${K}': x}", NULL, NULL},
        /* a member that another rail reads, and one deeper of the same name */
        {"{userData: '${C}'}", "userData", NULL},
        {"{userData: {a: ['${C}']}}", "userData", NULL},
        {"{userData: '${C}', role: '${R}'}", "userData", "spec.role"},
        {"{a: {userData: '${C}'}}", "userData", "spec.a.userData"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(1 << 20);
        const char *yaml =
            arena_printf(arena, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: %s}",
                         rows[i].spec)
                .data;
        const char *const but[] = {"tags", rows[i].but, NULL};
        const struct object *object = fixture_object(arena, yaml, "shop");
        const struct field *found =
            field_placeholder(arena, field_get(arena, object->root, "spec"), but);
        struct text path = found == NULL ? TEXT("none") : field_path(arena, found);
        if (!text_is(path, rows[i].path == NULL ? "none" : rows[i].path))
            fprintf(stderr, "%s\n", rows[i].spec);
        ASSERT_TEXT(path, rows[i].path == NULL ? "none" : rows[i].path);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube placeholders";
const struct unit_test unit_tests[] = {
    {"marks are known", marks_are_known},
    {"capitals are known", capitals_are_known},
    {"the first is found", the_first_is_found},
    {NULL, NULL},
};
