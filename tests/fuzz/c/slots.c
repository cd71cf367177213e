/* SPDX-License-Identifier: Apache-2.0
 *
 * slots SLOT COUNT NUMBER: damaged copies of a flash slot for n6_model_slot_check() and n6_slot_check(), which must read
 * nothing outside of it. In half of them the trailer's own CRC is correct again. The program prints the number of tried and of
 * accepted copies. */
#include "memory.h"
#include "mutation.h"

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

static void mend(uint8_t *slot, uint32_t bytes)
{
    n6_model_trailer_t trailer;
    if (bytes >= TRAILER_AT + sizeof trailer) {
        memcpy(&trailer, slot + TRAILER_AT, sizeof trailer);
        trailer.trailer_crc32 = n6_crc32((const uint8_t *)&trailer, offsetof(n6_model_trailer_t, trailer_crc32));
        memcpy(slot + TRAILER_AT, &trailer, sizeof trailer);
    }
}

int main(int count, char **arguments)
{
    static uint8_t seed[ROOM];
    if (count != 4) {
        return 2;
    }
    uint32_t bytes = read_file(arguments[1], seed, sizeof seed), sound = 0u, tried = (uint32_t)atol(arguments[2]);
    random_t random = {0x9E3779B97F4A7C15u ^ (uint64_t)atol(arguments[3])};
    map_memory(SLOT, ROOM);
    for (uint32_t i = 0; i < tried; i++) {
        uint8_t *slot = (uint8_t *)(uintptr_t)SLOT;
        open_only(SLOT, ROOM, ROOM);
        memcpy(slot, seed, bytes);
        uint32_t left = i == 0u ? bytes : mutate(&random, slot, bytes, TRAILER_AT, TRAILER_AT + sizeof(n6_model_trailer_t));
        uint32_t file = FILE_BYTES;
        if (i != 0u && random_below(&random, 2u) == 0u) {
            mend(slot, left);
        }
        if (i != 0u && random_below(&random, 8u) == 0u) {
            file = word_of(&random, seed, bytes, file);
        }
        open_only(SLOT, left, ROOM);
        const n6_model_trailer_t *trailer;
        sound += n6_model_slot_check(SLOT, file, left, &trailer) == N6_MODEL_SLOT_OK;
        /* The build ensures that the slot has room for the stated bytes. */
        uint32_t said = random_below(&random, 400u), end = (said + N6_SLOT_TRAILER_ALIGNMENT) + sizeof(n6_slot_trailer_t), crc32;
        if (end <= left) {
            (void)n6_slot_check(SLOT, said, 1u, &crc32);
        }
    }
    printf("%u %u\n", tried, sound);
    return 0;
}
