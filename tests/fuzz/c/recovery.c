/* SPDX-License-Identifier: Apache-2.0
 *
 * recovery: requests to n6_recovery_serve() that no host sends: any type, length and values, with a correct CRC and without, and
 * noise between them. The sanitizer sees each access outside of the flash behind the FSBL. Counts answered requests. */
#include "memory.h"

#include "frames.h"

#include "n6_board_nor.h"
#include "n6_board_slots.h"
#include "n6_fault.h"
#include "n6_nor_write.h"
#include "n6_recovery.h"
#include "n6_recovery_format.h"

#define FIRST (N6_SLOT_FSBL_ADDRESS + N6_SLOT_FSBL_BYTES)
#define USED (N6_NOR_BASE + N6_NOR_BYTES - FIRST)

static jmp_buf again;

/* An address near a sector of the flash, or any. */
static uint32_t address(void)
{
    uint32_t sector = N6_NOR_BASE + random_below(numbers, N6_NOR_BYTES / N6_NOR_SECTOR_BYTES + 2u) * N6_NOR_SECTOR_BYTES;
    switch (random_below(numbers, 4u)) {
    case 0:
        return random_word(numbers);
    case 1:
        return sector + random_below(numbers, N6_NOR_SECTOR_BYTES);
    default:
        return sector;
    }
}

static uint32_t make_message(uint8_t *message, uint32_t bytes)
{
    message[0] = (uint8_t)(N6_RECOVERY_HELLO - 1u + random_below(numbers, 7u));
    if (bytes > 5u) {
        uint32_t place = address();
        memcpy(message + 2, &place, sizeof place);
    }
    if (bytes > 9u && message[0] == N6_RECOVERY_CRC) {
        uint32_t size = random_below(numbers, 3u) == 0u ? random_word(numbers) : N6_NOR_SECTOR_BYTES * random_below(numbers, 40u);
        memcpy(message + 6, &size, sizeof size);
        bytes = random_below(numbers, 4u) == 0u ? bytes : 10u;
    }
    return bytes;
}

void n6_put(const char *text)
{
    (void)text;
}

void n6_put_u32(uint32_t value)
{
    (void)value;
}

void n6_put_hex32(uint32_t value)
{
    (void)value;
}

void n6_put_end(void)
{
}

bool n6_nor_erase(uint32_t place)
{
    memset((void *)(uintptr_t)place, 0xFF, N6_NOR_SECTOR_BYTES);
    return random_below(numbers, 50u) != 0u;
}

bool n6_nor_program(uint32_t place, const void *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        ((uint8_t *)(uintptr_t)place)[i] &= ((const uint8_t *)data)[i];
    }
    return random_below(numbers, 50u) != 0u;
}

_Noreturn void n6_reset_chip(void)
{
    longjmp(again, 1);
}

static void prepare(const char *seed)
{
    (void)seed;
    map_memory(N6_NOR_BASE, 2u * N6_NOR_BYTES);
    open_only(FIRST, USED, USED);
}

static void serve(void)
{
    (void)setjmp(again);
    n6_recovery_serve(false);
}

static void try_inputs(random_t *random, uint32_t count)
{
    serve_messages(random, count, serve);
}
