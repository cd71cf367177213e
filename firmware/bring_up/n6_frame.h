/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages over the console's UART: COBS frames with a CRC-32. A zero byte ends a frame and occurs nowhere else. Text may appear
 * between frames.
 */
#ifndef N6_FRAME_H
#define N6_FRAME_H

#include <stdint.h>

#include "n6_link_format.h"

typedef struct {
    uint8_t data[N6_LINK_MESSAGE_MAX];
    uint32_t bytes;
} n6_message_t;

/* Return the word at any address, little endian. */
uint32_t n6_frame_word(const uint8_t *data);

/* Add the lowest bytes of a value, little endian. Bytes beyond the end of a message are dropped. */
void n6_frame_add(n6_message_t *message, uint32_t value, uint32_t bytes);

/* Add a text without its end, as far as it fits in front of the CRC. */
void n6_frame_add_text(n6_message_t *message, const char *text);

/* Begin the answer to a request: its type and number, and a status. */
void n6_frame_answer(n6_message_t *answer, const n6_message_t *request, uint32_t status);

/* Wait for a whole message with a correct CRC, of at least type and number; skip all other bytes. idle: called for each look at
 * the UART, or NULL. */
void n6_frame_receive(n6_message_t *message, void (*idle)(void));

/* Send a message; its CRC is added. */
void n6_frame_send(n6_message_t *message);

#endif
