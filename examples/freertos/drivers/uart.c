/* SPDX-License-Identifier: Apache-2.0 */
#include "uart.h"

#define USART1 0x52001000u
#define USART_ISR (*(volatile uint32_t *)(USART1 + 0x1Cu))
#define USART_TDR (*(volatile uint32_t *)(USART1 + 0x28u))
#define USART_ISR_TXE (1u << 7)

static void put(char character)
{
    while ((USART_ISR & USART_ISR_TXE) == 0u) {
    }
    USART_TDR = (uint8_t)character;
}

void uart_write(const char *text)
{
    while (*text != '\0') {
        put(*text++);
    }
}

void uart_write_number(int32_t number)
{
    char digits[10];
    int count = 0;
    uint32_t left = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    if (number < 0) {
        put('-');
    }
    do {
        digits[count++] = (char)('0' + left % 10u);
        left /= 10u;
    } while (left != 0u);
    while (count != 0) {
        put(digits[--count]);
    }
}
