/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on USART1, 8N1, polled. Every function returns even if no terminal is connected.
 */
#ifndef N6_CONSOLE_H
#define N6_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

/* Set the pins, clock and baud rate of n6_board_console.h. Call it after the clocks are set. */
void n6_console_open(void);

void n6_put(const char *text);
void n6_put_u32(uint32_t value);
/* Print 0x and eight digits. */
void n6_put_hex32(uint32_t value);
/* Print two digits per byte, without separators. */
void n6_put_bytes(const uint8_t *data, uint32_t count);
/* Print carriage return and line feed, then wait until all text has left the chip. */
void n6_put_end(void);

/* Send a byte of binary data. */
void n6_put_byte(uint8_t byte);
/* Read a received byte. Return false if none has arrived. */
bool n6_get_byte(uint8_t *byte);

#endif
