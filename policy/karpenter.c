/* What policies say of Karpenter's own settings: a cluster has one set of them, whoever says so. */
#include <string.h>

#include "policy/document.h"

#define AT(member) offsetof(struct document, policy.karpenter.member)

static const struct key gate_keys[] = {
#define GATE(gate, words)                                   \
    {.name = #gate,                                         \
     .type = KEY_BOOL,                                      \
     .offset = AT(gates) + KARPENTER_##gate * sizeof(bool), \
     .summary = words,                                      \
     .given_offset = AT(given) + KARPENTER_##gate * sizeof(bool)},
#include "kube/karpenter_gates.def"
#undef GATE
    {0},
};

/* The two policies come after the gates. */
enum { PREFERENCE_POLICY = KARPENTER_GATE_COUNT, MIN_VALUES_POLICY };

const struct key karpenter_keys[] = {
    {.name = "preferencePolicy",
     .type = KEY_ENUM,
     .offset = AT(preference_policy),
     .summary = "PREFERENCE_POLICY. With Ignore it buys nodes as if nothing were preferred: "
                "preferred terms and ScheduleAnyway are findings of less weight, zone-spread warns "
                "of a spread that is only preferred, and a preference that zone-pin adds is for "
                "kube-scheduler alone",
     .default_value = "Respect",
     .choices = karpenter_preference_policies,
     .given_offset = AT(given) + PREFERENCE_POLICY * sizeof(bool)},
    {.name = "minValuesPolicy",
     .type = KEY_ENUM,
     .offset = AT(min_values_policy),
     .summary = "MIN_VALUES_POLICY. With BestEffort it buys a node even when fewer instance types "
                "are left than minValues asks for: placeable and zone-pin count on it",
     .default_value = "Strict",
     .choices = karpenter_min_values_policies,
     .given_offset = AT(given) + MIN_VALUES_POLICY * sizeof(bool)},
    {.name = "featureGates",
     .type = KEY_MAP,
     .summary = "FEATURE_GATES, each true or false",
     .children = gate_keys},
    {0},
};

/* ---- one setting of many policies ---- */

static const char *name_of(size_t word)
{
    if (word == PREFERENCE_POLICY)
        return "preferencePolicy";
    return word == MIN_VALUES_POLICY ? "minValuesPolicy" : karpenter_gates[word];
}

static const char *value_of(const struct karpenter_words *words, size_t word)
{
    if (word == PREFERENCE_POLICY)
        return karpenter_preference_policies[words->preference_policy];
    if (word == MIN_VALUES_POLICY)
        return karpenter_min_values_policies[words->min_values_policy];
    return words->gates[word] ? "true" : "false";
}

void karpenter_note_places(const struct schema *schema, const struct field *spec,
                           struct karpenter_words *words)
{
    const struct field *map = field_get(schema->arena, spec, "karpenter");
    const struct field *gates = field_get(schema->arena, map, "featureGates");
    for (size_t i = 0; i < KARPENTER_WORD_COUNT; i++) {
        const struct field *field =
            field_get(schema->arena, i < KARPENTER_GATE_COUNT ? gates : map, name_of(i));
        if (words->given[i])
            words->places[i] = source_place(schema->source, schema->arena, field_offset(field));
    }
}

/* The first policy that says something of it; NULL: none. */
static const struct policy *first_to_say(const struct policy_set *policies, size_t word)
{
    FOR_EACH(policy, policies)
        if (policy->karpenter.given[word])
            return policy;
    return NULL;
}

static void refuse_contradictions(const struct policy_set *policies, size_t word,
                                  const struct policy *first, struct problems *errors)
{
    const struct place *place = &first->karpenter.places[word];
    FOR_EACH(policy, policies) {
        const char *value = value_of(&policy->karpenter, word);
        if (!policy->karpenter.given[word] || strcmp(value, value_of(&first->karpenter, word)) == 0)
            continue;
        problems_add(errors, ERROR_POLICY, policy->karpenter.places[word],
                     "spec.karpenter.%s%s: found %s, but the policy \"%.*s\" says %s at %s:%u:%u; "
                     "the cluster's Karpenter is set one way: let the policies agree, or say it in "
                     "one of them alone",
                     word < KARPENTER_GATE_COUNT ? "featureGates." : "", name_of(word), value,
                     TEXT_ARGS(first->name), value_of(&first->karpenter, word), place->file,
                     place->line, place->column);
    }
}

static bool gate_is(const struct policy_set *policies, enum karpenter_gate gate, bool on)
{
    const struct policy *first = first_to_say(policies, gate);
    return first != NULL && first->karpenter.gates[gate] == on;
}

static bool ignores_preferences(const struct policy_set *policies)
{
    const struct policy *first = first_to_say(policies, PREFERENCE_POLICY);
    return first != NULL && first->karpenter.preference_policy == KARPENTER_IGNORE_PREFERENCES;
}

static bool best_effort_min_values(const struct policy_set *policies)
{
    const struct policy *first = first_to_say(policies, MIN_VALUES_POLICY);
    return first != NULL && first->karpenter.min_values_policy == KARPENTER_BEST_EFFORT_MIN_VALUES;
}

void karpenter_settle(struct policy_set *policies, struct problems *errors,
                      struct problems *warnings)
{
    size_t errors_before = errors->count;
    for (size_t word = 0; word < KARPENTER_WORD_COUNT; word++) {
        const struct policy *first = first_to_say(policies, word);
        if (first != NULL)
            refuse_contradictions(policies, word, first, errors);
    }
    policies->karpenter = (struct karpenter_settings){
        .ignore_preferences = ignores_preferences(policies),
        .best_effort_min_values = best_effort_min_values(policies),
        .no_reserved_capacity = gate_is(policies, KARPENTER_ReservedCapacity, false),
        .no_static_capacity = gate_is(policies, KARPENTER_StaticCapacity, false),
        .node_overlays = gate_is(policies, KARPENTER_NodeOverlay, true),
    };
    if (errors->count > errors_before)
        return;
    for (size_t i = 0; i < policies->count; i++)
        for (size_t j = 0; j < policies->items[i].rail_count; j++) {
            const struct rail_use *use = &policies->items[i].rails[j];
            if (use->rail->weigh != NULL && policy_may_use(&policies->items[i], use))
                use->rail->weigh(use->settings, &policies->karpenter, use->place, warnings);
        }
}

const struct karpenter_settings *policy_set_karpenter(const struct policy_set *policies)
{
    return &policies->karpenter;
}
