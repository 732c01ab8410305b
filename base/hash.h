/* Hashes of texts, for tables in which nobody can choose texts that collide. */
#ifndef TAFFRAIL_BASE_HASH_H
#define TAFFRAIL_BASE_HASH_H

#include <string.h>
#include <sys/random.h>

#include "base/base.h"

/* Nobody outside the process knows it. */
struct hash_seed {
    uint64_t start, factor;
};

static inline struct hash_seed hash_seed_new(void)
{
    struct hash_seed seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (struct hash_seed){(uintptr_t)&seed, UINT64_C(0x9E3779B97F4A7C15)};
    seed.factor |= 1;
    return seed;
}

static inline uint64_t hash_load(const char *bytes, size_t size)
{
    uint64_t value = 0;
    if (size > 0)
        memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Goes on from the hash of what stands before the text. */
static inline uint64_t hash_on(uint64_t hash, struct hash_seed seed, struct text t)
{
    hash ^= t.size;
    for (; t.size > 8; t.data += 8, t.size -= 8)
        hash = hash_fold(hash ^ hash_load(t.data, 8), seed.factor);
    return hash_fold(hash ^ hash_load(t.data, t.size), seed.factor);
}

static inline uint64_t hash_text(struct hash_seed seed, struct text t)
{
    return hash_on(seed.start, seed, t);
}

#endif
