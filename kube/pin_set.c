/* Zones of a StatefulSet's ordinals: balanced over what is there, and the same whoever asks. */
#include "kube/pin.h"

/* Beyond this, homes alone are balance enough, and a look at every claim would take too long. */
enum { MOST_REPLICAS = 1000 };

static uint64_t hash_of(struct text t)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < t.size; i++)
        hash = (hash ^ (unsigned char)t.data[i]) * 1099511628211ULL;
    return hash ^ (hash >> 32);
}

size_t pin_rotation(struct text identity, const struct zones *candidates)
{
    return (size_t)(hash_of(identity) % candidates->count);
}

/* ---- which ordinal of which set ---- */

static int64_t number_at(const struct object *object, const char *path, int64_t absent)
{
    int64_t number = 0;
    if (!node_integer(node_at(object->root->node, path), &number) || number < 0 ||
        number > INT32_MAX)
        return absent;
    return number;
}

struct pin_set pin_set_of(const struct snapshot *snapshot, const struct object *pod)
{
    const struct owner *owner = &pod->controller;
    struct pin_set result = {0};
    struct text prefix;
    struct text number;
    if (kind_of(owner->api_version, owner->kind) != KIND_STATEFUL_SET ||
        !text_split_last(pod->name, '-', &prefix, &number) || !text_equal(prefix, owner->name) ||
        !text_to_int64(number, &result.ordinal) || result.ordinal < 0 || result.ordinal > INT32_MAX)
        return (struct pin_set){0};
    const struct object *set =
        snapshot_find(snapshot, KIND_STATEFUL_SET, pod->namespace, owner->name);
    if (set == NULL || !uids_agree(set->uid, owner->uid))
        return (struct pin_set){0};
    result.set = set;
    result.start = number_at(set, "spec.ordinals.start", 0);
    result.replicas = number_at(set, "spec.replicas", 1);
    return result;
}

static struct text claim_name(const struct node *template, const struct object *set,
                              int64_t ordinal, struct arena *arena)
{
    struct text name = node_string(node_at(template, "metadata.name"));
    return arena_printf(arena, "%.*s-%.*s-%lld", TEXT_ARGS(name), TEXT_ARGS(set->name),
                        (long long)ordinal);
}

/* ---- shares ---- */

/* The set as the snapshot shows it. Zones are numbers, in rotated order. */
struct balance {
    const struct zones *candidates;
    size_t first; /* the candidate that is number 0 */
    size_t count;
    int64_t *settled; /* claims that are in each zone */
    int64_t *left;    /* of its share */
    bool *is_settled; /* of each ordinal, from start */
    int64_t replicas;
};

static struct text zone_at(const struct balance *balance, size_t number)
{
    return balance->candidates->items[(balance->first + number) % balance->count];
}

static struct text settled_zone(const struct snapshot *snapshot, const struct pin_set *set,
                                int64_t ordinal, struct arena *arena)
{
    const struct node *templates = node_at(set->set->root->node, "spec.volumeClaimTemplates");
    struct text zone = TEXT("");
    for (size_t i = 0; node_is(templates, NODE_LIST) && zone.size == 0 && i < node_count(templates);
         i++)
        zone = claim_settled_zone(snapshot, set->set->namespace,
                                  claim_name(node_item(templates, i), set->set, ordinal, arena),
                                  arena);
    return zone;
}

/* Returns how many are settled, in whatever zone. */
static int64_t count_settled(struct balance *balance, const struct snapshot *snapshot,
                             const struct pin_set *set, struct arena *arena)
{
    int64_t total = 0;
    for (int64_t i = 0; i < balance->replicas; i++) {
        if (set->start + i == set->ordinal)
            continue;
        struct text zone = settled_zone(snapshot, set, set->start + i, arena);
        if (zone.size == 0)
            continue;
        balance->is_settled[i] = true;
        total++;
        for (size_t j = 0; j < balance->count; j++)
            if (text_equal(zone_at(balance, j), zone))
                balance->settled[j]++;
    }
    return total;
}

static void share_out(struct balance *balance, int64_t unsettled)
{
    for (; unsettled > 0; unsettled--) {
        size_t least = 0;
        for (size_t i = 1; i < balance->count; i++)
            if (balance->settled[i] + balance->left[i] <
                balance->settled[least] + balance->left[least])
                least = i;
        balance->left[least]++;
    }
}

static size_t home_of(const struct balance *balance, int64_t index)
{
    int64_t count = (int64_t)balance->count;
    return (size_t)(((index % count) + count) % count);
}

/* Those before wanted first take their homes, then those without a home what is left: a claim that
 * is bound where it was sent leaves the zones of all the others as they are. */
static size_t hand_out(struct balance *balance, int64_t wanted, struct arena *arena)
{
    int64_t *homeless = ARENA_ARRAY(arena, (size_t)balance->replicas, int64_t);
    size_t homeless_count = 0;
    for (int64_t i = 0; i < balance->replicas; i++) {
        size_t home = home_of(balance, i);
        if (balance->is_settled[i])
            continue;
        if (balance->left[home] == 0) {
            homeless[homeless_count++] = i;
            continue;
        }
        if (i == wanted)
            return home;
        balance->left[home]--;
    }
    size_t zone = 0;
    for (size_t i = 0; i < homeless_count; i++) {
        while (zone + 1 < balance->count && balance->left[zone] == 0)
            zone++;
        if (homeless[i] == wanted)
            return zone;
        balance->left[zone]--;
    }
    return home_of(balance, wanted);
}

struct text pin_zone_of_ordinal(const struct snapshot *snapshot, const struct pin_set *set,
                                const struct zones *candidates, struct arena *arena)
{
    const struct object *object = set->set;
    struct text identity = object->uid.size > 0
                               ? object->uid
                               : arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(object->namespace),
                                              TEXT_ARGS(object->name));
    int64_t index = set->ordinal - set->start;
    struct balance balance = {
        .candidates = candidates,
        .first = pin_rotation(identity, candidates),
        .count = candidates->count,
        .replicas = index >= set->replicas ? index + 1 : set->replicas,
    };
    if (index < 0 || balance.replicas > MOST_REPLICAS)
        return zone_at(&balance, home_of(&balance, index));
    balance.settled = ARENA_ARRAY(arena, balance.count, int64_t);
    balance.left = ARENA_ARRAY(arena, balance.count, int64_t);
    balance.is_settled = ARENA_ARRAY(arena, (size_t)balance.replicas, bool);
    int64_t total = count_settled(&balance, snapshot, set, arena);
    share_out(&balance, balance.replicas - total);
    return zone_at(&balance, hand_out(&balance, index, arena));
}
