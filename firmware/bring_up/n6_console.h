/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on USART1, 8N1, polled. Every function returns also where nobody listens.
 */
#ifndef N6_CONSOLE_H
#define N6_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

/* Pins, clock and baud rate of n6_board_console.h; to be called after the clocks are set. */
void n6_console_open(void);

void n6_put(const char *text);
void n6_put_u32(uint32_t value);
/* 0x and eight digits. */
void n6_put_hex32(uint32_t value);
/* Two digits per byte, nothing between them. */
void n6_put_bytes(const uint8_t *data, uint32_t count);
/* Carriage return and line feed, then waits until all of it has left the chip. */
void n6_put_end(void);

/* For anything but text. */
void n6_put_byte(uint8_t byte);
/* False where none has arrived. */
bool n6_get_byte(uint8_t *byte);

#endif
