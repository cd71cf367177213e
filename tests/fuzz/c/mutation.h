/* SPDX-License-Identifier: Apache-2.0
 *
 * Damaged copies of a sound input: the same number gives the same copy. */
#ifndef MUTATION_H
#define MUTATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t state;
} random_t;

#if N6_GUIDED
/* What libFuzzer has chosen; 0 behind its end. */
static const uint8_t *guide;
static size_t guide_bytes;

static uint32_t random_word(random_t *random)
{
    uint32_t word = 0u;
    size_t bytes = guide_bytes < sizeof word ? guide_bytes : sizeof word;
    (void)random;
    memcpy(&word, guide, bytes);
    guide += bytes;
    guide_bytes -= bytes;
    return word;
}
#else
static uint32_t random_word(random_t *random)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)(random->state >> 16);
}
#endif

static uint32_t random_below(random_t *random, uint32_t limit)
{
    return limit == 0u ? 0u : random_word(random) % limit;
}

static uint32_t word_of(random_t *random, const uint8_t *data, uint32_t bytes, uint32_t old)
{
    static const uint32_t odd[] = {0u, 1u, 4u, 7u, 8u, 0xFFu, 0xFFFFu, 0x0FFFFFF8u, 0x0FFFFFFFu, 0x10000000u, 0x20000000u,
                                   0x2FFFFFFFu, 0x40000000u, 0x4FFFFFFCu, 0x7FFFFFFFu, 0x80000000u, 0x90000000u, 0xFFFFFFF8u,
                                   0xFFFFFFFFu};
    uint32_t other = 0u;
    switch (random_below(random, 6u)) {
    case 0:
        return odd[random_below(random, sizeof odd / sizeof *odd)];
    case 1:
        return old + random_below(random, 65u) - 32u;
    case 2:
        return old ^ 1u << random_below(random, 32u);
    case 3:
        memcpy(&other, data + random_below(random, bytes / 4u) * 4u, sizeof other);
        return other;
    case 4:
        return (old & 0xF0000000u) | random_below(random, 0x10000000u);
    default:
        return random_word(random);
    }
}

/* Change the data. first, last: bytes in which half of the changes are. Return the new length. */
static uint32_t mutate(random_t *random, uint8_t *data, uint32_t bytes, uint32_t first, uint32_t last)
{
    for (uint32_t count = 1u + random_below(random, 4u); count != 0u && bytes >= 8u; count--) {
        bool is_there = first < last && last <= bytes && random_below(random, 2u) == 0u;
        uint32_t at = is_there ? first + random_below(random, last - first) : random_below(random, bytes), word;
        if (random_below(random, 3u) == 0u || at > bytes - 4u) {
            data[at] = (uint8_t)random_word(random);
        } else {
            at -= at % 4u;
            memcpy(&word, data + at, sizeof word);
            word = word_of(random, data, bytes, word);
            memcpy(data + at, &word, sizeof word);
        }
        if (random_below(random, 30u) == 0u) {
            bytes = random_below(random, bytes + 1u);
        }
    }
    return bytes;
}

/* Read a file, at most `room` bytes. End the program if there is no such file. */
static inline uint32_t read_file(const char *path, uint8_t *data, size_t room)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    size_t bytes = fread(data, 1u, room, file);
    fclose(file);
    return (uint32_t)bytes;
}

#endif
