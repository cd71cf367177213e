/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to a server on a console, each in a frame with a CRC, and damaged frames between them. */
#ifndef FRAMES_H
#define FRAMES_H

#include "harness.h"

#include <setjmp.h>

#include "n6_console.h"
#include "n6_crc32.h"
#include "n6_link_format.h"

/* Bytes of a message, and more than fit. */
#define LONGEST (N6_LINK_MESSAGE_MAX + 40u)

static random_t *numbers;
static uint32_t left, answered, at, waiting;
static uint8_t line[3u * LONGEST];
static jmp_buf no_more;

/* Make a message in place, of random bytes, and return its length. */
static uint32_t make_message(uint8_t *message, uint32_t bytes);

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

static void next_line(void)
{
    uint8_t message[LONGEST + 4u];
    uint32_t bytes = 2u + random_below(numbers, random_below(numbers, 3u) == 0u ? LONGEST - 2u : 13u);
    for (uint32_t i = 0; i < bytes; i++) {
        message[i] = (uint8_t)random_word(numbers);
    }
    bytes = make_message(message, bytes);
    uint32_t crc = n6_crc32(message, bytes);
    memcpy(message + bytes, &crc, sizeof crc);
    waiting = put_frame(message, bytes + 4u);
    if (random_below(numbers, 5u) == 0u) {
        line[random_below(numbers, waiting)] = (uint8_t)random_word(numbers);
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

/* Give the server so many messages. It never returns by itself. */
static void serve_messages(random_t *random, uint32_t count, void (*serve)(void))
{
    numbers = random;
    left = count;
    at = waiting = 0u;
    if (setjmp(no_more) == 0) {
        serve();
    }
}

static void print_reached(void)
{
    printf(" %u", answered);
}

#endif
