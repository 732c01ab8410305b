/* Chooses the zone of a StatefulSet's ordinal: balanced with the claims that exist, and the same
 * for every replica of taffrail. */
#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/snapshot_internal.h"
#include "pinning/pin.h"

/* Beyond this the zone of an ordinal follows from its number alone: to look at every claim takes
 * too long. */
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

struct pin_set pin_set_of(const struct snapshot *snapshot, const struct object *pod)
{
    const struct owner *owner = &pod->controller;
    struct pin_set result = {0};
    struct text prefix;
    struct text number;
    if (kind_of(owner->api_version, owner->kind) != KIND_STATEFUL_SET ||
        !text_split_last(pod->name, '-', &prefix, &number) || !text_equal(prefix, owner->name) ||
        !text_to_int64(number, &result.ordinal) || result.ordinal > INT32_MAX)
        return (struct pin_set){0};
    const struct object *set =
        snapshot_find(snapshot, KIND_STATEFUL_SET, pod->namespace, owner->name);
    if (set == NULL || !uids_agree(set->uid, owner->uid))
        return (struct pin_set){0};
    result.set = set;
    result.start = node_int32(set->root->node, "spec.ordinals.start", 0);
    result.replicas = node_int32(set->root->node, "spec.replicas", 1);
    return result;
}

/* ---- shares ---- */

/* The set as it is in the snapshot. Zones are numbers, in rotated order. */
struct balance {
    const struct zones *candidates;
    size_t first; /* the candidate with number 0 */
    size_t count;
    int64_t *settled; /* by zone: claims that are in it */
    int64_t *left;    /* by zone: what is left of its share */
    bool *is_settled; /* by ordinal, from start */
    int64_t replicas;
};

static struct text zone_at(const struct balance *balance, size_t number)
{
    return balance->candidates->items[(balance->first + number) % balance->count];
}

/* Records that an ordinal's claim is in a zone. Where a set has several claim templates, the first
 * one found decides. */
static void settle(struct balance *balance, const struct pin_set *set, int64_t ordinal,
                   struct text zone)
{
    if (zone.size == 0 || ordinal == set->ordinal)
        return;
    balance->is_settled[ordinal - set->start] = true;
    for (size_t i = 0; i < balance->count; i++)
        if (text_equal(zone_at(balance, i), zone))
            balance->settled[i]++;
}

static bool is_open(const struct balance *balance, const struct pin_set *set, int64_t ordinal)
{
    return ordinal >= set->start && ordinal - set->start < balance->replicas &&
           !balance->is_settled[ordinal - set->start];
}

/* Reads the ordinal at the end of a claim's name, as a StatefulSet writes it: "0", "1", "10". */
static bool read_ordinal(struct text digits, int64_t *ordinal)
{
    bool padded = digits.size > 1 && digits.data[0] == '0';
    return text_is_digits(digits) && !padded && text_to_int64(digits, ordinal);
}

/* The claims of a template: they are sorted by name, so they are adjacent. */
static void settle_claims(struct balance *balance, const struct snapshot *snapshot,
                          const struct pin_set *set, const struct node *template,
                          struct arena *arena)
{
    struct text namespace = set->set->namespace;
    struct object_list claims = snapshot->kinds[KIND_PERSISTENT_VOLUME_CLAIM];
    struct text prefix = arena_printf(arena, "%.*s-%.*s-",
                                      TEXT_ARGS(node_string(node_at(template, "metadata.name"))),
                                      TEXT_ARGS(set->set->name));
    for (size_t i = object_list_search(claims, namespace, prefix); i < claims.count; i++) {
        const struct object *claim = claims.items[i];
        int64_t ordinal = 0;
        if (!text_equal(claim->namespace, namespace) || !text_starts_with(claim->name, prefix))
            return;
        struct text rest = {claim->name.data + prefix.size, claim->name.size - prefix.size};
        if (read_ordinal(rest, &ordinal) && is_open(balance, set, ordinal))
            settle(balance, set, ordinal, claim_settled_zone(snapshot, claim, arena));
    }
}

/* Returns how many ordinals are settled, in any zone. */
static int64_t count_settled(struct balance *balance, const struct snapshot *snapshot,
                             const struct pin_set *set, struct arena *arena)
{
    const struct node *templates = node_at(set->set->root->node, "spec.volumeClaimTemplates");
    int64_t total = 0;
    FOR_ITEMS(item, templates)
        settle_claims(balance, snapshot, set, item, arena);
    for (int64_t i = 0; i < balance->replicas; i++)
        total += balance->is_settled[i] ? 1 : 0;
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

static size_t own_zone(const struct balance *balance, int64_t index)
{
    int64_t count = (int64_t)balance->count;
    return (size_t)(((index % count) + count) % count);
}

/* Ordinals before wanted take the zone of their number first, while its share lasts; then the
 * others take what is left. So a claim that is bound where it was sent does not change the zones of
 * the others. */
static size_t hand_out(struct balance *balance, int64_t wanted, struct arena *arena)
{
    int64_t *displaced = ARENA_ARRAY(arena, (size_t)balance->replicas, int64_t);
    size_t displaced_count = 0;
    for (int64_t i = 0; i < balance->replicas; i++) {
        size_t own = own_zone(balance, i);
        if (balance->is_settled[i])
            continue;
        if (balance->left[own] == 0) {
            displaced[displaced_count++] = i;
            continue;
        }
        if (i == wanted)
            return own;
        balance->left[own]--;
    }
    size_t zone = 0;
    for (size_t i = 0; i < displaced_count; i++) {
        while (zone + 1 < balance->count && balance->left[zone] == 0)
            zone++;
        if (displaced[i] == wanted)
            return zone;
        balance->left[zone]--;
    }
    return own_zone(balance, wanted);
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
        return zone_at(&balance, own_zone(&balance, index));
    balance.settled = ARENA_ARRAY(arena, balance.count, int64_t);
    balance.left = ARENA_ARRAY(arena, balance.count, int64_t);
    balance.is_settled = ARENA_ARRAY(arena, (size_t)balance.replicas, bool);
    int64_t total = count_settled(&balance, snapshot, set, arena);
    share_out(&balance, balance.replicas - total);
    return zone_at(&balance, hand_out(&balance, index, arena));
}
