/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_frame.h"

#include <stdbool.h>
#include <stddef.h>

#include "n6_console.h"
#include "n6_crc32.h"

#define COBS_LONGEST 0xFFu
/* Type and number. */
#define SHORTEST 2u

uint32_t n6_frame_word(const uint8_t *data)
{
    return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

void n6_frame_add(n6_message_t *message, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes && message->bytes < N6_LINK_MESSAGE_MAX; i++) {
        message->data[message->bytes++] = (uint8_t)(value >> 8u * i);
    }
}

void n6_frame_add_text(n6_message_t *message, const char *text)
{
    for (; *text != '\0' && message->bytes + N6_LINK_CRC_BYTES < N6_LINK_MESSAGE_MAX; text++) {
        message->data[message->bytes++] = (uint8_t)*text;
    }
}

void n6_frame_answer(n6_message_t *answer, const n6_message_t *request, uint32_t status)
{
    answer->bytes = 0u;
    n6_frame_add(answer, (uint32_t)request->data[0] | N6_LINK_ANSWER, 1u);
    n6_frame_add(answer, request->data[1], 1u);
    n6_frame_add(answer, status, 1u);
}

/* Decode a COBS frame in place. Return false for an invalid frame. */
static bool decode(n6_message_t *message)
{
    uint32_t in = 0, out = 0;
    while (in < message->bytes) {
        uint32_t code = message->data[in++];
        if (code == 0u || code - 1u > message->bytes - in) {
            return false;
        }
        for (uint32_t i = 1; i < code; i++) {
            message->data[out++] = message->data[in++];
        }
        if (code != COBS_LONGEST && in < message->bytes) {
            message->data[out++] = 0u;
        }
    }
    message->bytes = out;
    return true;
}

/* Receive the bytes up to the next zero. Return false if they do not fit into a message. */
static bool receive_frame(n6_message_t *message, void (*idle)(void))
{
    bool fits = true;
    message->bytes = 0u;
    for (;;) {
        uint8_t byte;
        if (idle != NULL) {
            idle();
        }
        if (!n6_get_byte(&byte)) {
            continue;
        }
        if (byte == 0u) {
            return fits;
        }
        fits = fits && message->bytes < N6_LINK_MESSAGE_MAX;
        if (fits) {
            message->data[message->bytes++] = byte;
        }
    }
}

void n6_frame_receive(n6_message_t *message, void (*idle)(void))
{
    for (;;) {
        if (!receive_frame(message, idle) || !decode(message) || message->bytes < SHORTEST + N6_LINK_CRC_BYTES) {
            continue;
        }
        message->bytes -= N6_LINK_CRC_BYTES;
        if (n6_crc32(message->data, message->bytes) == n6_frame_word(message->data + message->bytes)) {
            return;
        }
    }
}

/* A message is shorter than the longest run of COBS, so each run ends at a zero or at the end. */
void n6_frame_send(n6_message_t *message)
{
    n6_frame_add(message, n6_crc32(message->data, message->bytes), N6_LINK_CRC_BYTES);
    n6_put_byte(0u);
    for (uint32_t start = 0; start <= message->bytes;) {
        uint32_t end = start;
        while (end < message->bytes && message->data[end] != 0u) {
            end++;
        }
        n6_put_byte((uint8_t)(end - start + 1u));
        for (uint32_t i = start; i < end; i++) {
            n6_put_byte(message->data[i]);
        }
        start = end + 1u;
    }
    n6_put_byte(0u);
}
