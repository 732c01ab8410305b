/* Hashes of Go structs. The expected ones are those of the library itself: a Go program that hashes
 * these structs with github.com/mitchellh/hashstructure/v2 2.0.2 (FormatV2, SlicesAsSets,
 * IgnoreZeroValue, ZeroNil), as Karpenter does. */
#include "kube/go_hash.h"

#include "object_fixture.h"

const char unit_suite[] = "kube go hash";

enum { BUDGET_BYTES = 4 << 20 };

/* type Inner struct { Index int32; Name string } */
static const struct go_field inner_fields[] = {
    {.name = "Index", .key = "index", .kind = GO_INT32},
    {.name = "Name", .key = "name", .kind = GO_STRING},
    {0},
};
static const struct go_struct inner = {"Inner", inner_fields};

/* type Device struct { Count int64; Index int32; On bool; Limit *int64; Flag *bool; Word *string;
 * Labels map[string]string; Inner Inner; Pointer *Inner; Set []Inner } */
static const struct go_field device_fields[] = {
    {.name = "Count", .key = "count", .kind = GO_INT64},
    {.name = "Index", .key = "index", .kind = GO_INT32},
    {.name = "On", .key = "lit", .kind = GO_BOOL},
    {.name = "Limit", .key = "limit", .kind = GO_INT64, .pointer = true},
    {.name = "Flag", .key = "flag", .kind = GO_BOOL, .pointer = true},
    {.name = "Word", .key = "word", .kind = GO_STRING, .pointer = true},
    {.name = "Labels", .key = "labels", .kind = GO_STRING_MAP},
    {.name = "Inner", .key = "inner", .kind = GO_STRUCT, .inside = &inner},
    {.name = "Pointer", .key = "pointer", .kind = GO_STRUCT, .pointer = true, .inside = &inner},
    {.name = "Set", .key = "set", .kind = GO_STRUCT_SET, .inside = &inner},
    {0},
};
static const struct go_struct device = {"Device", device_fields};

static const struct node *spec_of(const char *yaml, struct arena *arena)
{
    const char *object = arena_printf(arena, "{apiVersion: v1, kind: Pod, spec: %s}", yaml).data;
    return node_get(fixture_object(arena, object, "")->root->node, "spec");
}

static void structs(void)
{
    static const struct {
        const char *yaml;
        uint64_t hash;
    } cases[] = {
        {"{}", UINT64_C(13881316335758173239)},
        {"{count: 0, index: 0, lit: false}", UINT64_C(13881316335758173239)},
        {"{count: 1}", UINT64_C(2547921432965453977)},
        {"{count: -1}", UINT64_C(3352727211933438306)},
        {"{count: 72623859790382856}", UINT64_C(1606490168094816231)},
        {"{index: 1}", UINT64_C(6059408009036732912)},
        {"{index: -2}", UINT64_C(1921156404780541119)},
        {"{index: 16909060}", UINT64_C(9045551527752274542)},
        {"{lit: true}", UINT64_C(8548989691691943068)},
        {"{limit: 0}", UINT64_C(14654735658347305399)},
        {"{limit: 5}", UINT64_C(16639776488952590140)},
        {"{flag: false}", UINT64_C(13515385348438118472)},
        {"{flag: true}", UINT64_C(1123457208482616594)},
        {"{word: ''}", UINT64_C(17408726396086993180)},
        {"{word: a}", UINT64_C(15922848440977237111)},
        {"{labels: {}}", UINT64_C(13639519579010554166)},
        {"{labels: {a: b}}", UINT64_C(7377930192738421783)},
        {"{labels: {b: a}}", UINT64_C(12685077858068710652)},
        {"{labels: {a: b, c: d}}", UINT64_C(7408089744183051596)},
        {"{labels: {a: ''}}", UINT64_C(16127200493475367213)},
        {"{inner: {}}", UINT64_C(13881316335758173239)},
        {"{inner: {name: a}}", UINT64_C(4866654322783343695)},
        {"{pointer: {}}", UINT64_C(6242458237204037358)},
        {"{pointer: {name: a}}", UINT64_C(18080225031590212320)},
        {"{set: []}", UINT64_C(5165361564114545096)},
        {"{set: [{}]}", UINT64_C(10463385282848228514)},
        {"{set: [{index: 1}]}", UINT64_C(7975379950980076850)},
        {"{set: [{index: 1}, {index: 0, name: b}]}", UINT64_C(4389986881073707659)},
        {"{set: [{name: b}, {index: 1}]}", UINT64_C(4389986881073707659)}, /* in any order */
        {"{count: 1, index: 2, lit: true, limit: 3}", UINT64_C(5662284932067064405)},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        uint64_t hash = 0;
        CU_ASSERT(go_hash_struct(&device, spec_of(cases[i].yaml, arena), arena, &hash));
        if (hash != cases[i].hash)
            fprintf(stderr, "%s\n", cases[i].yaml);
        ASSERT_INT(hash, cases[i].hash);
        arena_destroy(arena);
    }
}

/* What Go does not read into these fields has no hash, though it differs from other values. */
static void values_that_go_cannot_read(void)
{
    static const char *const cases[] = {
        "{count: a}",    "{count: 1.5}", "{index: '1'}",     "{lit: 'true'}",
        "{lit: 1}",      "{word: 1}",    "{labels: [a]}",    "{inner: a}",
        "{pointer: []}", "{set: {}}",    "{labels: {a: 1}}", "{set: [a]}",
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    uint64_t hashes[COUNT_OF(cases)] = {0}, empty = 0;
    CU_ASSERT(go_hash_struct(&device, spec_of("{}", arena), arena, &empty));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CU_ASSERT(!go_hash_struct(&device, spec_of(cases[i], arena), arena, &hashes[i]));
        CU_ASSERT(hashes[i] != empty);
        for (size_t j = 0; j < i; j++)
            CU_ASSERT(hashes[i] != hashes[j]);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"structs", structs},
    {"values that Go cannot read", values_that_go_cannot_read},
    {NULL, NULL},
};
