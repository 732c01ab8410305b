/* Caches a supply's answers. Pods of a workload ask equal questions, one after another. */
#include <string.h>

#include "simulation/supply_internal.h"

void cache_create(struct supply_cache *cache, struct arena *arena)
{
    for (size_t i = 0; i < COUNT_OF(cache->seeds); i++)
        cache->seeds[i] = hash_seed_new();
    cache->slots = ARENA_ARRAY(arena, CACHE_SLOTS, struct cache_slot);
}

/* ---- all that a question consists of, as bytes ---- */

/* Strings are preceded by their length and lists by their count, so that different questions give
 * different bytes. */
static void add_number(struct text_builder *bytes, uint64_t number)
{
    text_builder_add(bytes, (struct text){(const char *)&number, sizeof number});
}

static void add_string(struct text_builder *bytes, const char *string)
{
    struct text text = text_of(string);
    add_number(bytes, text.size);
    text_builder_add(bytes, text);
}

static void add_labels(struct text_builder *bytes, struct solver_labels labels)
{
    add_number(bytes, labels.count);
    for (size_t i = 0; i < labels.count; i++) {
        add_string(bytes, labels.items[i].key);
        add_string(bytes, labels.items[i].value);
    }
}

static void add_expressions(struct text_builder *bytes, struct solver_expressions expressions)
{
    add_number(bytes, expressions.count);
    for (size_t i = 0; i < expressions.count; i++) {
        const struct solver_expression *expression = &expressions.items[i];
        add_string(bytes, expression->key);
        add_number(bytes, (uint64_t)expression->op);
        add_number(bytes, expression->value_count);
        for (size_t j = 0; j < expression->value_count; j++)
            add_string(bytes, expression->values[j]);
    }
}

static void add_tolerations(struct text_builder *bytes, const struct solver_shape *shape)
{
    add_number(bytes, shape->toleration_count);
    for (size_t i = 0; i < shape->toleration_count; i++) {
        const struct solver_toleration *toleration = &shape->tolerations[i];
        add_string(bytes, toleration->key);
        add_string(bytes, toleration->value);
        add_number(bytes, (toleration->exists ? 1U : 0U) + (toleration->any_effect ? 2U : 0U));
        add_number(bytes, toleration->any_effect ? 0 : (uint64_t)toleration->effect);
    }
}

static void add_ports(struct text_builder *bytes, const struct solver_shape *shape)
{
    add_number(bytes, shape->host_port_count);
    for (size_t i = 0; i < shape->host_port_count; i++) {
        add_string(bytes, shape->host_ports[i].ip);
        add_string(bytes, shape->host_ports[i].protocol);
        add_number(bytes, shape->host_ports[i].port);
    }
}

static void add_volumes(struct text_builder *bytes, const struct solver_shape *shape)
{
    add_number(bytes, shape->volume_count);
    for (size_t i = 0; i < shape->volume_count; i++) {
        add_number(bytes, shape->volumes[i].alternative_count);
        for (size_t j = 0; j < shape->volumes[i].alternative_count; j++)
            add_expressions(bytes, shape->volumes[i].alternatives[j]);
    }
}

static void add_requests(struct text_builder *bytes, const struct named_amounts *requests)
{
    add_number(bytes, requests->count);
    for (size_t i = 0; i < requests->count; i++) {
        add_string(bytes, requests->items[i].resource);
        add_number(bytes, (uint64_t)requests->items[i].quantity);
    }
}

struct cache_key cache_key_of(const struct supply_cache *cache, enum question_kind kind,
                              const struct solver_shape *shape,
                              const struct named_amounts *requests, struct arena *arena)
{
    struct text_builder bytes = {.arena = arena};
    struct cache_key key = {{0}};
    add_number(&bytes, (uint64_t)kind);
    add_requests(&bytes, requests);
    add_labels(&bytes, shape->node_selector);
    add_number(&bytes, shape->required_count);
    for (size_t i = 0; i < shape->required_count; i++)
        add_expressions(&bytes, shape->required[i]);
    add_tolerations(&bytes, shape);
    add_ports(&bytes, shape);
    add_volumes(&bytes, shape);
    for (size_t i = 0; i < COUNT_OF(key.parts); i++)
        key.parts[i] = hash_text(cache->seeds[i], text_builder_text(&bytes));
    return key;
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
