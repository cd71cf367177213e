/* SPDX-License-Identifier: Apache-2.0
 *
 * An FSBL that waits for a release (firmware/recovery), for tests/firmware/host_recovery.py: host_recovery NOR. The NOR is a file.
 * Words are little endian.
 *
 *     in     bytes, then so many bytes of the line           out    bytes, then so many bytes of the line
 *     in     POWER, number, seed                             out    nothing
 *     in     HELD, 0 or 1                                    out    nothing
 *     in     WORN, address                                   out    nothing
 *
 * POWER switches it on. In the middle of the erase or the program of that number, counted from 1, the power fails; 0: never. Then
 * the first half of its bytes is done, or with a seed random bits of all. A board without power, or after a reset, answers nothing.
 * The sector that is WORN, 0 for none, reports an erase and stays as it is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "n6_board_nor.h"
#include "n6_console.h"
#include "n6_fault.h"
#include "n6_nor_write.h"
#include "n6_recovery.h"

#define POWER UINT32_MAX
#define HELD (UINT32_MAX - 1u)
#define WORN (UINT32_MAX - 2u)

static jmp_buf off, on;
static uint8_t heard[1u << 17], said[1u << 17];
static uint32_t heard_bytes, heard_at, said_bytes, cut_at, seed, writes, worn;
static bool is_asked, is_held;

static void read_all(void *data, uint32_t bytes)
{
    if (fread(data, 1u, bytes, stdin) != bytes) {
        exit(0);
    }
}

/* Send the answer of the last part of the line, and read the next part. */
static void next_part(void)
{
    if (is_asked) {
        fwrite(&said_bytes, sizeof said_bytes, 1u, stdout);
        fwrite(said, 1u, said_bytes, stdout);
        fflush(stdout);
        said_bytes = 0u;
    }
    is_asked = false;
    heard_at = heard_bytes = 0u;
    uint32_t word;
    read_all(&word, sizeof word);
    if (word == POWER || word == HELD || word == WORN) {
        uint32_t number;
        read_all(&number, sizeof number);
        if (word == POWER) {
            cut_at = number;
            read_all(&seed, sizeof seed);
            writes = said_bytes = 0u;
            longjmp(on, 1);
        }
        if (word == HELD) {
            is_held = number != 0u;
        } else {
            worn = number;
        }
        return;
    }
    if (word > sizeof heard) {
        exit(2);
    }
    read_all(heard, word);
    heard_bytes = word;
    is_asked = true;
}

bool n6_get_byte(uint8_t *byte)
{
    if (heard_at == heard_bytes) {
        next_part();
        return false;
    }
    *byte = heard[heard_at++];
    return true;
}

void n6_put_byte(uint8_t byte)
{
    if (said_bytes < sizeof said) {
        said[said_bytes++] = byte;
    }
}

void n6_put(const char *text)
{
    while (*text != '\0') {
        n6_put_byte((uint8_t)*text++);
    }
}

void n6_put_end(void)
{
    n6_put("\r\n");
}

void n6_put_u32(uint32_t value)
{
    (void)value;
}

void n6_put_hex32(uint32_t value)
{
    (void)value;
}

static uint8_t random_bits(void)
{
    /* xorshift of 32 bits. */
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return (uint8_t)(seed >> 8);
}

/* Write bytes, or what the power leaves of that; erase if there is no data. */
static void put(uint8_t *flash, const uint8_t *data, uint32_t bytes)
{
    const bool is_cut = ++writes == cut_at;
    /* A few of the bits of a torn write are done, or half or most of them. */
    const uint32_t kind = seed % 3u;
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t done = i < bytes / 2u ? 0xFFu : 0u;
        if (seed != 0u) {
            const uint8_t one = random_bits(), other = random_bits();
            done = kind == 0u ? one & other : kind == 1u ? one : one | other;
        }
        const uint8_t value = data == NULL ? 0xFFu : data[i] & flash[i];
        flash[i] = is_cut ? (flash[i] & ~done) | (value & done) : value;
    }
    if (is_cut) {
        longjmp(off, 1);
    }
}

bool n6_nor_erase(uint32_t address)
{
    if (address != worn) {
        put((uint8_t *)(uintptr_t)address, NULL, N6_NOR_SECTOR_BYTES);
    }
    return true;
}

bool n6_nor_program(uint32_t address, const void *data, uint32_t bytes)
{
    uint8_t *flash = (uint8_t *)(uintptr_t)address;
    const bool is_worn = worn != 0u && address - worn < N6_NOR_SECTOR_BYTES;
    if (bytes == 0u || bytes % 2u != 0u || address % 2u != 0u || address / N6_NOR_PAGE != (address + bytes - 1u) / N6_NOR_PAGE) {
        abort();
    }
    for (uint32_t i = 0; i < bytes && !is_worn; i++) {
        /* A byte that is programmed twice has an undefined content on a part that corrects errors. */
        if (flash[i] != 0xFFu) {
            abort();
        }
    }
    put(flash, data, bytes);
    return true;
}

/* The board is then without power, until it is switched on. */
_Noreturn void n6_reset_chip(void)
{
    longjmp(off, 1);
}

int main(int count, char **arguments)
{
    int file = count == 2 ? open(arguments[1], O_RDWR) : -1;
    void *wanted = (void *)(uintptr_t)N6_NOR_BASE;
    if (file < 0 || mmap(wanted, N6_NOR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) != wanted) {
        perror("NOR");
        return 2;
    }
    if (setjmp(on) == 0 || setjmp(off) != 0) {
        for (;;) {
            /* Without power, the line is read and answered with nothing. */
            heard_at = heard_bytes;
            next_part();
        }
    }
    n6_recovery_serve(is_held);
}
