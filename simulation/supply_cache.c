/* Caches a supply's answers. Pods of a workload ask equal questions, one after another. */
#include <string.h>

#include "simulation/supply_internal.h"

void cache_create(struct supply_cache *cache, struct arena *arena)
{
    for (size_t i = 0; i < COUNT_OF(cache->seeds); i++)
        cache->seeds[i] = hash_seed_new();
    cache->slots = ARENA_ARRAY(arena, CACHE_SLOTS, struct cache_slot);
}

/* ---- all that a question consists of, hashed ---- */

struct hashing {
    const struct hash_seed *seeds;
    struct cache_key key; /* of what was added */
};

/* Strings are preceded by their length and lists by their count, so that different questions differ
 * in what is hashed. */
static void add_number(struct hashing *hashing, uint64_t number)
{
    for (size_t i = 0; i < COUNT_OF(hashing->key.parts); i++)
        hashing->key.parts[i] = hash_fold(hashing->key.parts[i] ^ number, hashing->seeds[i].factor);
}

static void add_string(struct hashing *hashing, const char *string)
{
    struct text text = text_of(string);
    add_number(hashing, text.size);
    for (size_t i = 0; i < COUNT_OF(hashing->key.parts); i++)
        hashing->key.parts[i] = hash_on(hashing->key.parts[i], hashing->seeds[i], text);
}

static void add_labels(struct hashing *hashing, struct solver_labels labels)
{
    add_number(hashing, labels.count);
    for (size_t i = 0; i < labels.count; i++) {
        add_string(hashing, labels.items[i].key);
        add_string(hashing, labels.items[i].value);
    }
}

static void add_expressions(struct hashing *hashing, struct solver_expressions expressions)
{
    add_number(hashing, expressions.count);
    for (size_t i = 0; i < expressions.count; i++) {
        const struct solver_expression *expression = &expressions.items[i];
        add_string(hashing, expression->key);
        add_number(hashing, (uint64_t)expression->op);
        add_number(hashing, expression->value_count);
        for (size_t j = 0; j < expression->value_count; j++)
            add_string(hashing, expression->values[j]);
    }
}

static void add_tolerations(struct hashing *hashing, const struct solver_shape *shape)
{
    add_number(hashing, shape->toleration_count);
    for (size_t i = 0; i < shape->toleration_count; i++) {
        const struct solver_toleration *toleration = &shape->tolerations[i];
        add_string(hashing, toleration->key);
        add_string(hashing, toleration->value);
        add_number(hashing, (toleration->exists ? 1U : 0U) + (toleration->any_effect ? 2U : 0U) +
                                (toleration->gt ? 4U : 0U) + (toleration->lt ? 8U : 0U));
        add_number(hashing, toleration->any_effect ? 0 : (uint64_t)toleration->effect);
    }
}

static void add_ports(struct hashing *hashing, const struct solver_shape *shape)
{
    add_number(hashing, shape->host_port_count);
    for (size_t i = 0; i < shape->host_port_count; i++) {
        add_string(hashing, shape->host_ports[i].ip);
        add_string(hashing, shape->host_ports[i].protocol);
        add_number(hashing, shape->host_ports[i].port);
    }
}

static void add_volumes(struct hashing *hashing, const struct solver_shape *shape)
{
    add_number(hashing, shape->volume_count);
    for (size_t i = 0; i < shape->volume_count; i++) {
        add_number(hashing, shape->volumes[i].alternative_count);
        for (size_t j = 0; j < shape->volumes[i].alternative_count; j++)
            add_expressions(hashing, shape->volumes[i].alternatives[j]);
    }
}

static void add_requests(struct hashing *hashing, const struct named_amounts *requests)
{
    add_number(hashing, requests->count);
    for (size_t i = 0; i < requests->count; i++) {
        add_string(hashing, requests->items[i].resource);
        add_number(hashing, (uint64_t)requests->items[i].quantity);
    }
}

struct cache_key cache_key_of(const struct supply_cache *cache, enum question_kind kind,
                              const struct solver_shape *shape,
                              const struct named_amounts *requests)
{
    struct hashing hashing = {.seeds = cache->seeds};
    for (size_t i = 0; i < COUNT_OF(hashing.key.parts); i++)
        hashing.key.parts[i] = cache->seeds[i].start;
    add_number(&hashing, (uint64_t)kind);
    add_requests(&hashing, requests);
    add_labels(&hashing, shape->node_selector);
    add_number(&hashing, shape->required_count);
    for (size_t i = 0; i < shape->required_count; i++)
        add_expressions(&hashing, shape->required[i]);
    add_tolerations(&hashing, shape);
    add_ports(&hashing, shape);
    add_volumes(&hashing, shape);
    return hashing.key;
}

/* ---- slots ---- */

static struct cache_slot *slot_of(const struct supply_cache *cache, struct cache_key key)
{
    return &cache->slots[key.parts[0] % CACHE_SLOTS];
}

static uint64_t mark_of(const struct supply_cache *cache, struct cache_key key, size_t part,
                        const struct zone_bits *answer)
{
    struct text words = {(const char *)answer->words, sizeof answer->words};
    return key.parts[part] ^ hash_text(cache->seeds[part], words);
}

bool cache_find(const struct supply_cache *cache, struct cache_key key, struct zone_bits *answer)
{
    const struct cache_slot *slot = slot_of(cache, key);
    bool same = true;
    for (size_t i = 0; i < ZONE_WORDS; i++)
        answer->words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    for (size_t i = 0; i < COUNT_OF(slot->marks); i++)
        same &= atomic_load_explicit(&slot->marks[i], memory_order_relaxed) ==
                mark_of(cache, key, i, answer);
    return same;
}

void cache_put(const struct supply_cache *cache, struct cache_key key,
               const struct zone_bits *answer)
{
    struct cache_slot *slot = slot_of(cache, key);
    for (size_t i = 0; i < ZONE_WORDS; i++)
        atomic_store_explicit(&slot->words[i], answer->words[i], memory_order_relaxed);
    for (size_t i = 0; i < COUNT_OF(slot->marks); i++)
        atomic_store_explicit(&slot->marks[i], mark_of(cache, key, i, answer),
                              memory_order_relaxed);
}
