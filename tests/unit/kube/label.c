/* Keys and values of labels: which the API server accepts, which Karpenter leaves to itself, and
 * what the names of zones say. */
#include "kube/label.h"
#include "kube/zone.h"
#include "unit.h"

#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN
#define SIXTY_THREE FIFTY TEN "012"
#define TWO_HUNDRED_FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY

static void keys_and_values_have_a_form(void)
{
    static const struct {
        const char *text;
        bool is_key, is_value, is_domain;
    } cases[] = {
        {"", false, true, false},
        {"a", true, true, true},
        {"A", true, true, false},
        {"Z", true, true, false},
        {"0", true, true, true},
        {"9", true, true, true},
        {"az", true, true, true},
        {"a-b", true, true, true},
        {"a.b", true, true, true},
        {"a_b", true, true, false},
        {"a b", false, false, false},
        {"a/b", true, false, false},
        {"a.b/c.d", true, false, false},
        {"a/b/c", false, false, false},
        {"/b", false, false, false},
        {"a/", false, false, false},
        {"A/b", false, false, false},
        {"a_b/c", false, false, false},
        {"a/B_c", true, false, false},
        /* at the ends of a whole, and of the parts of a domain */
        {"-a", false, false, false},
        {"a-", false, false, false},
        {"_a", false, false, false},
        {"a_", false, false, false},
        {".a", false, false, false},
        {"a.", false, false, false},
        {"a..b", true, true, false},
        {"a-.b", true, true, false},
        {"a.-b", true, true, false},
        {"a--b", true, true, true},
        /* how long they may be */
        {SIXTY_THREE, true, true, true},
        {SIXTY_THREE "3", false, false, true},
        {"a/" SIXTY_THREE, true, false, false},
        {"a/" SIXTY_THREE "3", false, false, false},
        {TWO_HUNDRED_FIFTY "012", false, false, true},
        {TWO_HUNDRED_FIFTY "0123", false, false, false},
        {TWO_HUNDRED_FIFTY "012/a", true, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text text = text_of(cases[i].text);
        if (label_key_is_valid(text) != cases[i].is_key ||
            label_value_is_valid(text) != cases[i].is_value ||
            domain_is_valid(text) != cases[i].is_domain)
            fprintf(stderr, "%s:\n", cases[i].text);
        CU_ASSERT_EQUAL(label_key_is_valid(text), cases[i].is_key);
        CU_ASSERT_EQUAL(label_value_is_valid(text), cases[i].is_value);
        CU_ASSERT_EQUAL(domain_is_valid(text), cases[i].is_domain);
    }
}

/* Of its own domains it takes the keys that it knows. */
static void karpenter_keeps_labels_for_itself(void)
{
    static const struct {
        const char *key;
        bool restricted;
    } cases[] = {
        {"kubernetes.io/hostname", true},
        {"karpenter.sh/nodepool", true},
        {"karpenter.sh/capacity-type", false},
        {"karpenter.sh/other", true},
        {"a.karpenter.sh/other", true},
        {"akarpenter.sh/other", false},
        {"my-karpenter.sh/other", false},
        {"1karpenter.sh/other", false},
        {"karpenter.sh.example.com/other", false},
        {"a.karpenter.k8s.aws/other", true},
        {"my-karpenter.k8s.aws/other", false},
        {"karpenter.k8s.aws/instance-cpu", false},
        {"karpenter.k8s.aws/instance-colour", true},
        {"karpenter.sh", false},
        {"team", false},
        {"example.com/karpenter.sh", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool restricted = label_is_restricted(text_of(cases[i].key));
        if (restricted != cases[i].restricted)
            fprintf(stderr, "%s:\n", cases[i].key);
        CU_ASSERT_EQUAL(restricted, cases[i].restricted);
    }
}

/* Clouds and operators label nodes behind the back of NodePools. */
static void some_labels_are_put_by_others(void)
{
    static const struct {
        const char *key;
        bool by_others;
    } cases[] = {
        {"eks.amazonaws.com/nodegroup", true},
        {"alpha.eksctl.io/nodegroup-name", true},
        {"cloud.google.com/gke-nodepool", true},
        {"kubernetes.azure.com/agentpool", true},
        {"agentpool", true},
        {"node-role.kubernetes.io/worker", true},
        {"feature.node.kubernetes.io/cpu-cpuid.AVX", true},
        {"nvidia.com/gpu.present", true},
        {"amd.com/gpu", true},
        {"node.openshift.io/os_id", true},
        {"topology.k8s.aws/network-node-layer-1", true},
        {"k8s.amazonaws.com/accelerator", true},
        {"team", false},
        {"example.com/nvidia.com", false},
        {"my-nvidia.com/gpu.present", false},
        {"nvidia.com.example.com/gpu", false},
        {"karpenter.sh/nodepool", false},
        {"topology.kubernetes.io/zone", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool by_others = label_is_put_by_others(text_of(cases[i].key));
        if (by_others != cases[i].by_others)
            fprintf(stderr, "%s:\n", cases[i].key);
        CU_ASSERT_EQUAL(by_others, cases[i].by_others);
    }
}

static void the_region_is_in_the_name_of_a_zone(void)
{
    static const char *const cases[][2] = {
        {"eu-west-1a", "eu-west-1"},
        {"us-gov-west-1b", "us-gov-west-1"},
        {"us-west-2-lax-1a", "us-west-2"},
        {"ap-southeast-10c", "ap-southeast-10"},
        /* none of AWS */
        {"eu-west-1", ""},
        {"europe-west", ""},
        {"us-east-", ""},
        {"zone1a", ""},
        {"-1a", ""},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_TEXT(zone_region(text_of(cases[i][0])), cases[i][1]);
}

const char unit_suite[] = "kube label";
const struct unit_test unit_tests[] = {
    {"keys and values have a form", keys_and_values_have_a_form},
    {"Karpenter keeps labels for itself", karpenter_keeps_labels_for_itself},
    {"some labels are put by others", some_labels_are_put_by_others},
    {"the region is in the name of a zone", the_region_is_in_the_name_of_a_zone},
    {NULL, NULL},
};
