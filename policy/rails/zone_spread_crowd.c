/* More replicas than there are zones, where each zone takes one. */
#include "catalog/zones.h"
#include "kube/pod.h"
#include "kube/rollout.h"
#include "kube/topology.h"
#include "policy/rails/zone_spread.h"
#include "policy/reading.h"

/* Whether an update must end a pod before another can run, and does not: 25 % of less than four
 * pods is none. */
static bool updates_without_room(const struct object *object, int64_t replicas)
{
    struct rollout rollout;
    return rollout_read(object, replicas, &rollout) && rollout.unavailable == 0;
}

/* Those of one revision: then an update's pods do not see the old ones. */
static bool is_of_one_revision(const struct topology_term *term)
{
    FOR_ITEMS(key, node_get(term->term->node, "matchLabelKeys"))
        if (text_is(node_string(key), "pod-template-hash"))
            return true;
    return false;
}

static void judge_term(struct rail_call *call, const struct topology_term *term, int64_t replicas)
{
    struct zones zones = {0};
    enum zone_key key = zone_key_of(node_string(term->key->node));
    zones_read(call->world->snapshot, call->world->catalog, key, call->arena, &zones);
    int64_t count = (int64_t)zones.count;
    if (!zones.complete || replicas < count)
        return;
    if (replicas > count)
        report_with(
            call, .field = term->key, .found = node_text(term->key->node),
            .statement = arena_printf(call->arena,
                                      "Only %lld of %lld replicas can run, since this "
                                      "anti-affinity allows one in each zone.",
                                      (long long)count, (long long)replicas),
            .fault = TEXT("There are more replicas than zones."), .extent = replicas,
            .fix = arena_printf(call->arena,
                                "Replace the anti-affinity with topologySpreadConstraints: %.*s.",
                                TEXT_ARGS(zone_spread_constraints(call, "DoNotSchedule"))));
    else if (updates_without_room(call->object, replicas) && !is_of_one_revision(term))
        report(call, SEVERITY_WARN, term->key,
               TEXT("Set spec.strategy.rollingUpdate to {maxSurge: 0, maxUnavailable: 1}."),
               "With one replica in each of the %lld zones, an update finds no zone for its first "
               "pod.",
               (long long)count);
}

void zone_spread_judge_crowd(struct rail_call *call, const struct workload *workload)
{
    int64_t replicas = zone_spread_replicas(call, call->object);
    const struct topology_terms *terms = call_topology(call, workload);
    FOR_EACH(term, terms)
        if (term->use == TOPOLOGY_ANTI_AFFINITY && term->required &&
            zone_key_of(node_string(term->key->node)) != ZONE_KEY_NONE &&
            topology_term_selects_itself(call->world->snapshot, workload, term)) {
            judge_term(call, term, replicas);
            return;
        }
}
