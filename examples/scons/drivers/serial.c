#include "serial.h"

#include <stdint.h>

/* USART1, at its secure address (RM0486). The clock and the baud rate are those that the FSBL has set. */
#define USART1_BASE 0x52001000u
#define USART1_CR1 (*(volatile uint32_t *)(USART1_BASE + 0x00u))
#define USART1_ISR (*(volatile uint32_t *)(USART1_BASE + 0x1Cu))
#define USART1_TDR (*(volatile uint32_t *)(USART1_BASE + 0x28u))
#define CR1_UE (1u << 0)
#define CR1_TE (1u << 3)
#define ISR_TC (1u << 6)
#define ISR_TXE (1u << 7)

void serial_open(void)
{
    USART1_CR1 |= CR1_UE | CR1_TE;
}

static void put(char letter)
{
    while ((USART1_ISR & ISR_TXE) == 0u) {
    }
    USART1_TDR = (uint8_t)letter;
}

void serial_write(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            put('\r');
        }
        put(*text);
    }
    while ((USART1_ISR & ISR_TC) == 0u) {
    }
}

void serial_write_number(unsigned value)
{
    char digits[11];
    unsigned place = sizeof digits - 1u;
    digits[place] = '\0';
    do {
        digits[--place] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0u);
    serial_write(&digits[place]);
}
