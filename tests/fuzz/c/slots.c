/* SPDX-License-Identifier: Apache-2.0
 *
 * slots: damaged copies of a flash slot for n6_model_slot_check() and n6_slot_check(), which must read
 * nothing outside of it. In half of them the trailer's own CRC is correct again. Counts accepted copies. */
#include "memory.h"

#include "harness.h"

#include <stddef.h>

#include "n6_crc32.h"
#include "n6_model_slot.h"
#include "n6_slot.h"
#include "n6_slot_trailer.h"

#define SLOT 0x71000000u
#define ROOM 0x10000u
/* Bytes of the file in the sound slot. */
#define FILE_BYTES 200u
#define TRAILER_AT 208u

static uint8_t seed_data[ROOM];
static uint32_t seed_bytes, sound;
static bool is_first = true;

static void mend(uint8_t *slot, uint32_t bytes)
{
    n6_model_trailer_t trailer;
    if (bytes >= TRAILER_AT + sizeof trailer) {
        memcpy(&trailer, slot + TRAILER_AT, sizeof trailer);
        trailer.trailer_crc32 = n6_crc32((const uint8_t *)&trailer, offsetof(n6_model_trailer_t, trailer_crc32));
        memcpy(slot + TRAILER_AT, &trailer, sizeof trailer);
    }
}

static void prepare(const char *seed)
{
    seed_bytes = read_file(seed, seed_data, sizeof seed_data);
    map_memory(SLOT, ROOM);
}

static void try_one(random_t *random)
{
    uint8_t *slot = (uint8_t *)(uintptr_t)SLOT;
    open_only(SLOT, ROOM, ROOM);
    memcpy(slot, seed_data, seed_bytes);
    uint32_t bytes = seed_bytes, file = FILE_BYTES;
    if (!is_first) {
        bytes = mutate(random, slot, seed_bytes, TRAILER_AT, TRAILER_AT + sizeof(n6_model_trailer_t));
        if (random_below(random, 2u) == 0u) {
            mend(slot, bytes);
        }
        if (random_below(random, 8u) == 0u) {
            file = word_of(random, seed_data, seed_bytes, file);
        }
    }
    is_first = false;
    open_only(SLOT, bytes, ROOM);
    const n6_model_trailer_t *trailer;
    sound += n6_model_slot_check(SLOT, file, bytes, &trailer) == N6_MODEL_SLOT_OK;
    /* The build ensures that the slot has room for the stated bytes. */
    uint32_t said = random_below(random, 400u), end = (said + N6_SLOT_TRAILER_ALIGNMENT) + sizeof(n6_slot_trailer_t), crc32;
    if (end <= bytes) {
        (void)n6_slot_check(SLOT, said, 1u, &crc32);
    }
}

static void try_inputs(random_t *random, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        try_one(random);
    }
}

static void print_reached(void)
{
    printf(" %u", sound);
}
