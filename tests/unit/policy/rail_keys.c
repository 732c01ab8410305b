/* The rails' keys: what is refused, and what is accepted with a warning because it cannot work. */
#include "rail_table.h"

struct keys_case {
    const char *rails;    /* YAML, under spec.rails */
    const char *problems; /* a line each; the last ones are warnings */
};

static struct text problems_of(const char *rails, const struct catalog *catalog,
                               struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = arena_printf(arena,
                                "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails,"
                                " metadata: {name: keys}, spec: {mode: enforce, rails: {%s}}}",
                                rails);
    struct problems problems = {.arena = arena};
    const struct node *root = NULL;
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, &problems, rail_table_take_root,
                  (void *)&root);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    struct schema schema = {source, arena, &problems};
    struct policy policy = {0};
    struct problems warnings = {.arena = arena};
    bool good = document_read(&schema, root, catalog, &warnings, &policy);
    ASSERT_INT(good, problems.count == 0);
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < problems.count; i++)
        text_builder_printf(&lines, "%s%s", lines.size == 0 ? "" : "\n", problems.items[i].what);
    for (size_t i = 0; i < warnings.count; i++)
        text_builder_printf(&lines, "%s%s", lines.size == 0 ? "" : "\n", warnings.items[i].what);
    return text_builder_text(&lines);
}

static void hold(const struct keys_case *cases, size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    for (size_t i = 0; i < count; i++) {
        struct text found = problems_of(cases[i].rails, catalog, arena);
        if (!text_is(found, cases[i].problems))
            fprintf(stderr, "%s\n", cases[i].rails);
        ASSERT_TEXT(found, cases[i].problems);
    }
    arena_destroy(arena);
}

static void lists_and_numbers_have_bounds(void)
{
    static const struct keys_case cases[] = {
        {"accelerators: {resources: []}", "spec.rails.accelerators.resources: found 0 items, "
                                          "expected at least 1; name them, or leave the key out"},
        {"accelerators: {taints: []}", "spec.rails.accelerators.taints: found 0 items, expected at "
                                       "least 1; name them, or leave the key out"},
        {"accelerators: {requireLimits: all}",
         "spec.rails.accelerators.requireLimits: found \"all\"; allowed: any, accelerator, off"},
        {"accelerators: {resources: [a.com/b], taints: [c], requireLimits: 'off'}", ""},
        {"capacity-types: {allow: []}", "spec.rails.capacity-types.allow: found 0 items, expected "
                                        "at least 1; name them, or leave the key out"},
        {"capacity-types: {allow: [block]}",
         "spec.rails.capacity-types.allow[0]: found \"block\"; allowed: on-demand, spot, reserved"},
        {"capacity-types: {allow: [on-demand, spot, reserved]}", ""},
        {"disruption-budgets: {consolidationPolicies: []}",
         "spec.rails.disruption-budgets.consolidationPolicies: found 0 items, expected at least 1; "
         "name them, or leave the key out"},
        {"disruption-budgets: {consolidationPolicies: [WhenUnderutilized]}",
         "spec.rails.disruption-budgets.consolidationPolicies[0]: found \"WhenUnderutilized\"; "
         "allowed: WhenEmpty, WhenEmptyOrUnderutilized, Balanced"},
        {"disruption-budgets: {consolidationPolicies: [WhenEmpty, WhenEmptyOrUnderutilized, "
         "Balanced]}",
         ""},
        {"instance-types: {allow: {types: [], families: [], sizes: [], categories: [], "
         "architectures: []}}",
         "spec.rails.instance-types.allow.types: found 0 items, expected at least 1; name them, or "
         "leave the key out\nspec.rails.instance-types.allow.families: found 0 items, expected at "
         "least 1; name them, or leave the key out\nspec.rails.instance-types.allow.sizes: found 0 "
         "items, expected at least 1; name them, or leave the key "
         "out\nspec.rails.instance-types.allow.categories: found 0 items, expected at least 1; "
         "name them, or leave the key out\nspec.rails.instance-types.allow.architectures: found 0 "
         "items, expected at least 1; name them, or leave the key out"},
        {"instance-types: {deny: {types: [], families: [], sizes: [], categories: [], "
         "architectures: []}}",
         "spec.rails.instance-types.deny.types: found 0 items, expected at least 1; name them, or "
         "leave the key out\nspec.rails.instance-types.deny.families: found 0 items, expected at "
         "least 1; name them, or leave the key out\nspec.rails.instance-types.deny.sizes: found 0 "
         "items, expected at least 1; name them, or leave the key "
         "out\nspec.rails.instance-types.deny.categories: found 0 items, expected at least 1; name "
         "them, or leave the key out\nspec.rails.instance-types.deny.architectures: found 0 items, "
         "expected at least 1; name them, or leave the key out"},
        {"instance-types: {allow: {architectures: [x86], minGeneration: 0}, deny: "
         "{architectures: [arm]}, max: {gpus: -1, cpu: 0}}",
         "spec.rails.instance-types.allow.minGeneration: found the number 0, expected a whole "
         "number from 1 to 99\nspec.rails.instance-types.allow.architectures[0]: found \"x86\"; "
         "allowed: amd64, arm64\nspec.rails.instance-types.deny.architectures[0]: found \"arm\", "
         "did you mean `arm64`? allowed: amd64, arm64\nspec.rails.instance-types.max.cpu: found "
         "the number 0, expected a quantity above 0, such as 64 or "
         "256Gi\nspec.rails.instance-types.max.gpus: found the number -1, expected a whole number "
         "from 0 to 64"},
        {"instance-types: {allow: {minGeneration: 100}, max: {gpus: 65}}",
         "spec.rails.instance-types.allow.minGeneration: found the number 100, expected a whole "
         "number from 1 to 99\nspec.rails.instance-types.max.gpus: found the number 65, expected a "
         "whole number from 0 to 64"},
        {"instance-types: {allow: {types: ['m5.*'], families: [m5], sizes: [large], categories: "
         "[m], architectures: [amd64, arm64], minGeneration: 1}, deny: {types: [c6g.large], "
         "families: [c6g], sizes: [large], categories: [c], architectures: [arm64]}, max: "
         "{gpus: 0}}",
         ""},
        {"instance-types: {deny: {architectures: [amd64]}, max: {gpus: 64, cpu: 1, memory: 1Gi}}",
         ""},
        {"node-class: {amiFamilies: [], maxHopLimit: 0, requireTags: []}",
         "spec.rails.node-class.amiFamilies: found 0 items, expected at least 1; name them, or "
         "leave the key out\nspec.rails.node-class.maxHopLimit: found the number 0, expected a "
         "whole number from 1 to 64\nspec.rails.node-class.requireTags: found 0 items, expected at "
         "least 1; name them, or leave the key out"},
        {"node-class: {amiFamilies: [AL1], maxHopLimit: 65}",
         "spec.rails.node-class.amiFamilies[0]: found \"AL1\", did you mean `AL2`? allowed: AL2, "
         "AL2023, Bottlerocket, Custom, Ubuntu, Windows2019, Windows2022, "
         "Windows2025\nspec.rails.node-class.maxHopLimit: found the number 65, expected a whole "
         "number from 1 to 64"},
        {"node-class: {amiFamilies: [AL2, AL2023, Bottlerocket, Custom, Ubuntu, Windows2019, "
         "Windows2022, Windows2025], maxHopLimit: 64, requireTags: [team]}",
         ""},
        {"node-class: {maxHopLimit: 1}", ""},
        {"scheduler-bypass: {schedulers: []}",
         "spec.rails.scheduler-bypass.schedulers: found 0 items, expected at least 1; name them, "
         "or leave the key out"},
        {"volume-binding: {zonalProvisioners: []}",
         "spec.rails.volume-binding.zonalProvisioners: found 0 items, expected at least 1; name "
         "them, or leave the key out"},
        {"zone-pin: {bound: never, unbound: never}",
         "spec.rails.zone-pin.bound: found \"never\"; allowed: off, annotate, "
         "require\nspec.rails.zone-pin.unbound: found \"never\"; allowed: off, annotate, prefer, "
         "require"},
        {"zone-spread: {minReplicas: 1, action: add, whenUnsatisfiable: Never}",
         "spec.rails.zone-spread.minReplicas: found the number 1, expected a whole number from 2 "
         "to 100000\nspec.rails.zone-spread.action: found \"add\"; allowed: require, "
         "default\nspec.rails.zone-spread.whenUnsatisfiable: found \"Never\"; allowed: "
         "ScheduleAnyway, DoNotSchedule"},
        {"zone-spread: {minReplicas: 100001}",
         "spec.rails.zone-spread.minReplicas: found the number 100001, expected a whole number "
         "from 2 to 100000"},
        {"zone-spread: {minReplicas: 100000, action: default, whenUnsatisfiable: DoNotSchedule}",
         ""},
        {"zone-spread: {minReplicas: 2, action: require}", ""},
        {"zones: {allow: []}", "spec.rails.zones.allow: found 0 items, expected at least 1; name "
                               "them, or leave the key out"},
        {"disruption-opt-out: {maxDuration: soon}",
         "spec.rails.disruption-opt-out.maxDuration: found \"soon\", expected a duration above 0 "
         "in h, m and s, such as 720h or 1h30m"},
        {"node-rotation: {maxExpireAfter: 0s}",
         "spec.rails.node-rotation.maxExpireAfter: found \"0s\", expected a duration above 0 in h, "
         "m and s, such as 720h or 1h30m"},
        {"resource-requests: {max: {cpu: 0, memory: much}}",
         "spec.rails.resource-requests.max.cpu: found the number 0, expected a quantity above 0, "
         "such as 64 or 256Gi\nspec.rails.resource-requests.max.memory: found \"much\", expected a "
         "quantity above 0, such as 64 or 256Gi"},
        {"pool-limits: {max: {cpu: 0}, maxTotal: [cpu]}",
         "spec.rails.pool-limits.max.cpu: found the number 0, expected a quantity above 0, such as "
         "64 or 256Gi\nspec.rails.pool-limits.maxTotal: found a list, expected a map of names to "
         "quantities, as in {cpu: 1000, memory: 4Ti}"},
        {"pool-overlap: {ignorePairs: a/b}", "spec.rails.pool-overlap.ignorePairs: found \"a/b\", "
                                             "expected a list of globs; write [\"a/b\"]"},
    };
    hold(cases, COUNT_OF(cases));
}

static void what_cannot_work_is_told(void)
{
#define KEEPS_NONE_OUT \
    "instance-types: no type of the catalogue matches all keys of deny, so it keeps none out"
    static const struct keys_case cases[] = {
        {"accelerators: {resources: ['nvidia.com/*', 'amd.com/gp?']}",
         "accelerators: every one of resources is a pattern, so no taint key is known: give "
         "taints"},
        {"accelerators: {resources: ['nvidia.com/*', amd.com/gpu]}", ""},
        {"accelerators: {resources: ['nvidia.com/*'], taints: [gpu]}", ""},
        {"instance-types: {allow: {families: [m5, m5z, zzz9], sizes: [larg], categories: [q]}}",
         "the catalogue has no type with karpenter.k8s.aws/instance-family \"m5z\"; did you mean "
         "\"m5zn\"?\nthe catalogue has no type with karpenter.k8s.aws/instance-family "
         "\"zzz9\"\nthe "
         "catalogue has no type with karpenter.k8s.aws/instance-size \"larg\"; did you mean "
         "\"large\"?\nthe catalogue has no type with karpenter.k8s.aws/instance-category \"q\""
         "\ninstance-types: no type of the catalogue is in this list: "
         "everything that names a type will be a finding"},
        {"instance-types: {allow: {families: [m5, g5], sizes: [large]}}",
         "instance-types: g5 selects nothing together with the other keys; only m5.large is left"},
        {"instance-types: {allow: {families: [m5, g5, p3], sizes: [large, xlarge]}, deny: "
         "{types: [g5.xlarge]}}",
         "instance-types: g5, p3 select nothing together with the other keys; only m5.large, "
         "m5.xlarge are left"},
        {"instance-types: {allow: {families: [m5, g5], sizes: [large]}, deny: {types: [m5.large]}}",
         "instance-types: no type of the catalogue is in this list: everything that names a type "
         "will be a finding"},
        {"instance-types: {allow: {families: [m5, p3, g5]}, max: {cpu: 2}}",
         "instance-types: p3, g5 select nothing together with the other keys; only m5.large is "
         "left"},
        {"instance-types: {deny: {types: ['*']}}",
         "instance-types: no type of the catalogue is in this list: everything that names a type "
         "will be a finding"},
        {"instance-types: {allow: {types: [m5.large, m9z.*]}, deny: {types: [c5.*, c5.larg]}}",
         "the catalogue has no type with node.kubernetes.io/instance-type \"m9z.*\"\nthe catalogue "
         "has no type with node.kubernetes.io/instance-type \"c5.larg\"; did you mean "
         "\"c5.large\"?"},
        {"instance-types: {deny: {families: [p4*, p5]}}",
         "the catalogue has no type with karpenter.k8s.aws/instance-family \"p4*\"; only types "
         "takes "
         "globs: write types: [\"p4*.*\"] instead"},
        {"instance-types: {deny: {sizes: ['metal-?4xl']}}",
         "the catalogue has no type with karpenter.k8s.aws/instance-size \"metal-?4xl\"; only "
         "types "
         "takes globs: write types: [\"*.metal-?4xl\"] instead\n" KEEPS_NONE_OUT},
        {"instance-types: {deny: {sizes: ['*.metal*']}}",
         "the catalogue has no type with karpenter.k8s.aws/instance-size \"*.metal*\"; only types "
         "takes globs: write types: [\"*.metal*\"] instead\n" KEEPS_NONE_OUT},
        {"instance-types: {deny: {categories: [gpu]}}",
         "the catalogue has no type with karpenter.k8s.aws/instance-category "
         "\"gpu\"\n" KEEPS_NONE_OUT},
        {"instance-types: {deny: {categories: [p], families: [g5]}}", KEEPS_NONE_OUT},
        /* the catalogue does not say of g2 which processors it has */
        {"instance-types: {deny: {families: [g2], architectures: [arm64]}}", ""},
        {"instance-types: {deny: {types: ['*.metal*'], sizes: [metal, metal-24xl]}}", ""},
        {"pool-overlap: {ignorePairs: [general, a/b, batch]}",
         "pool-overlap: \"general\" names one pool, and no pair is ignored; write two names, as in "
         "default/batch\npool-overlap: \"batch\" names one pool, and no pair is ignored; write two "
         "names, as in default/batch"},
        {"pool-overlap: {}", ""},
        {"resource-requests: {require: [cpu, memroy, gpu, ephemeral-storage, hugepages-2Mi, "
         "nvidia.com/gpu]}",
         "resource-requests: Kubernetes has no resource \"memroy\", so every container will be a "
         "finding; did you mean \"memory\"?\nresource-requests: Kubernetes has no resource "
         "\"gpu\", so every container will be a finding; did you mean \"cpu\"?"},
        /* all letters of "cpu" changed */
        {"resource-requests: {require: [mem]}",
         "resource-requests: Kubernetes has no resource \"mem\", so every container will be a "
         "finding"},
        {"resource-requests: {require: [everything]}",
         "resource-requests: Kubernetes has no resource \"everything\", so every container will be "
         "a finding"},
        {"tolerations: {allow: ['a:NoSchedul', 'b:Evict', 'c:NoExecute', 'd=e:NoSchedule', "
         "'f:PreferNoSchedule']}",
         "tolerations: \"a:NoSchedul\" grants nothing, since no taint has the effect "
         "\"NoSchedul\"; did you mean NoSchedule?\ntolerations: \"b:Evict\" grants nothing, since "
         "no taint has the effect \"Evict\""},
        {"zones: {}", "zones: allow names no zone, so nothing is found; name the zones that may be "
                      "used, as in [eu-west-1a, eu-west-1b]"},
        {"zones: {allow: [eu-west-1a]}", ""},
    };
    hold(cases, COUNT_OF(cases));
}

const char unit_suite[] = "policy keys of the rails";
const struct unit_test unit_tests[] = {
    {"lists and numbers have bounds", lists_and_numbers_have_bounds},
    {"what cannot work is told", what_cannot_work_is_told},
    {NULL, NULL},
};
