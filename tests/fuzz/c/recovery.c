/* SPDX-License-Identifier: Apache-2.0
 *
 * recovery SEED COUNT NUMBER: requests to n6_recovery_serve() that no host sends: any type, length and values, with a correct CRC
 * and without, and noise between them. The sanitizer sees each access outside of the flash behind the FSBL. The program prints the
 * number of tried and of answered requests. */
#include "memory.h"
#include "mutation.h"

#include <setjmp.h>

#include "n6_board_nor.h"
#include "n6_board_slots.h"
#include "n6_console.h"
#include "n6_crc32.h"
#include "n6_fault.h"
#include "n6_link_format.h"
#include "n6_nor_write.h"
#include "n6_recovery.h"
#include "n6_recovery_format.h"

/* Bytes of a message, and more than fit. */
#define LONGEST (N6_LINK_MESSAGE_MAX + 40u)
#define FIRST (N6_SLOT_FSBL_ADDRESS + N6_SLOT_FSBL_BYTES)
#define USED (N6_NOR_BASE + N6_NOR_BYTES - FIRST)

static random_t numbers;
static uint32_t left, answered, at, waiting;
static uint8_t line[3u * LONGEST];
static jmp_buf no_more, again;

static uint32_t put_frame(const uint8_t *message, uint32_t bytes)
{
    uint32_t out = 1u, code = 0u;
    for (uint32_t i = 0; i <= bytes; i++) {
        if (i == bytes || message[i] == 0u || out - code == 0xFFu) {
            bool full = i < bytes && message[i] != 0u;
            line[code] = (uint8_t)(out - code);
            code = out++;
            i -= full;
        } else {
            line[out++] = message[i];
        }
    }
    line[code] = 0u;
    return code + 1u;
}

/* An address near a sector of the flash, or any. */
static uint32_t address(void)
{
    uint32_t sector = N6_NOR_BASE + random_below(&numbers, N6_NOR_BYTES / N6_NOR_SECTOR_BYTES + 2u) * N6_NOR_SECTOR_BYTES;
    switch (random_below(&numbers, 4u)) {
    case 0:
        return random_word(&numbers);
    case 1:
        return sector + random_below(&numbers, N6_NOR_SECTOR_BYTES);
    default:
        return sector;
    }
}

static void next_line(void)
{
    uint8_t message[LONGEST + 4u];
    uint32_t bytes = 2u + random_below(&numbers, random_below(&numbers, 3u) == 0u ? LONGEST - 2u : 14u);
    for (uint32_t i = 0; i < bytes; i++) {
        message[i] = (uint8_t)random_word(&numbers);
    }
    message[0] = (uint8_t)(N6_RECOVERY_HELLO - 1u + random_below(&numbers, 7u));
    if (bytes > 5u) {
        uint32_t place = address();
        memcpy(message + 2, &place, sizeof place);
    }
    if (bytes > 9u && message[0] == N6_RECOVERY_CRC) {
        uint32_t size = random_below(&numbers, 3u) == 0u ? random_word(&numbers) : N6_NOR_SECTOR_BYTES * random_below(&numbers, 40u);
        memcpy(message + 6, &size, sizeof size);
        bytes = random_below(&numbers, 4u) == 0u ? bytes : 10u;
    }
    uint32_t crc = n6_crc32(message, bytes);
    memcpy(message + bytes, &crc, sizeof crc);
    waiting = put_frame(message, bytes + 4u);
    if (random_below(&numbers, 5u) == 0u) {
        line[random_below(&numbers, waiting)] = (uint8_t)random_word(&numbers);
        line[waiting - 1u] = 0u;
    }
    at = 0u;
}

bool n6_get_byte(uint8_t *byte)
{
    if (at == waiting) {
        if (left-- == 0u) {
            longjmp(no_more, 1);
        }
        next_line();
        return false;
    }
    *byte = line[at++];
    return true;
}

void n6_put_byte(uint8_t byte)
{
    static uint32_t zeros;
    zeros += byte == 0u;
    answered = zeros / 2u;
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
    return random_below(&numbers, 50u) != 0u;
}

bool n6_nor_program(uint32_t place, const void *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        ((uint8_t *)(uintptr_t)place)[i] &= ((const uint8_t *)data)[i];
    }
    return random_below(&numbers, 50u) != 0u;
}

_Noreturn void n6_reset_chip(void)
{
    longjmp(again, 1);
}

int main(int count, char **arguments)
{
    if (count != 4) {
        return 2;
    }
    const uint32_t tried = (uint32_t)atol(arguments[2]);
    left = tried;
    numbers.state = 0x9E3779B97F4A7C15u ^ (uint64_t)atol(arguments[3]);
    map_memory(N6_NOR_BASE, 2u * N6_NOR_BYTES);
    open_only(FIRST, USED, USED);
    if (setjmp(no_more) == 0) {
        (void)setjmp(again);
        n6_recovery_serve(false);
    }
    printf("%u %u\n", tried, answered);
    return 0;
}
