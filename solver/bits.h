/* Sets of small numbers, a bit each. */
#ifndef TAFFRAIL_SOLVER_BITS_H
#define TAFFRAIL_SOLVER_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITS_WORD 64u

static inline size_t bits_words(size_t count)
{
    return (count + BITS_WORD - 1) / BITS_WORD;
}

static inline bool bits_has(const uint64_t *words, size_t number)
{
    return (words[number / BITS_WORD] >> (number % BITS_WORD) & 1) != 0;
}

static inline void bits_add(uint64_t *words, size_t number)
{
    words[number / BITS_WORD] |= (uint64_t)1 << (number % BITS_WORD);
}

static inline void bits_remove(uint64_t *words, size_t number)
{
    words[number / BITS_WORD] &= ~((uint64_t)1 << (number % BITS_WORD));
}

static inline void bits_fill(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count / BITS_WORD; i++)
        words[i] = UINT64_MAX;
    if (count % BITS_WORD != 0)
        words[count / BITS_WORD] = ((uint64_t)1 << (count % BITS_WORD)) - 1;
}

static inline bool bits_any(const uint64_t *words, size_t word_count)
{
    for (size_t i = 0; i < word_count; i++)
        if (words[i] != 0)
            return true;
    return false;
}

static inline bool bits_meet(const uint64_t *a, const uint64_t *b, size_t word_count)
{
    for (size_t i = 0; i < word_count; i++)
        if ((a[i] & b[i]) != 0)
            return true;
    return false;
}

/* `for (BITS_EACH(number, words, word_count))` goes over the numbers in the set, ascending. */
static inline size_t bits_next(const uint64_t *words, size_t word_count, size_t from)
{
    size_t index = from / BITS_WORD;
    if (index >= word_count)
        return SIZE_MAX;
    uint64_t word = words[index] >> (from % BITS_WORD) << (from % BITS_WORD);
    while (word == 0) {
        if (++index >= word_count)
            return SIZE_MAX;
        word = words[index];
    }
    return index * BITS_WORD + (size_t)__builtin_ctzll(word);
}
#define BITS_EACH(number, words, word_count)             \
    size_t number = bits_next((words), (word_count), 0); \
    (number) != SIZE_MAX;                                \
    (number) = bits_next((words), (word_count), (number) + 1)

#endif
