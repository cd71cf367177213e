/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UART_H
#define UART_H

#include <stdint.h>

/* Write to USART1, which the loader has opened: 115200 baud, 8N1. */
void uart_write(const char *text);
void uart_write_number(int32_t number);

#endif
