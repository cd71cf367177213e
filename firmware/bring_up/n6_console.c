/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_console.h"

#include "n6_board_console.h"
#include "n6_pins.h"
#include "n6_reg.h"
#include "n6_soc_gpio.h"
#include "n6_soc_system.h"
#include "n6_soc_usart.h"

/* The kernel clock: the internal oscillator, independent of the clocks of CPU and buses. */
#define USART1_FROM_HSI 6

/* Longer than one character at 9600 baud on the fastest clock. */
#define POLLS 2000000u

void n6_console_open(void)
{
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, N6_CONSOLE_TX_PORT_ENABLE | N6_CONSOLE_RX_PORT_ENABLE);
    n6_enable(N6_RCC_APB2ENSR, N6_RCC_APB2ENR, N6_RCC_APB2ENR_USART1EN);
    n6_pin_alternate(N6_CONSOLE_TX_PORT_BASE, N6_CONSOLE_TX_PIN, N6_CONSOLE_TX_AF, N6_PULL_NONE);
    n6_pin_alternate(N6_CONSOLE_RX_PORT_BASE, N6_CONSOLE_RX_PIN, N6_CONSOLE_RX_AF, N6_PULL_UP);
    n6_modify(N6_RCC_CCIPR13, N6_RCC_CCIPR13_USART1SEL, N6_FIELD(N6_RCC_CCIPR13_USART1SEL, USART1_FROM_HSI));
    N6_REG32(N6_USART1_CR1) = 0u;
    N6_REG32(N6_USART1_CR2) = 0u;
    N6_REG32(N6_USART1_CR3) = 0u;
    N6_REG32(N6_USART1_PRESC) = 0u;
    N6_REG32(N6_USART1_BRR) = (N6_HSI_HZ + N6_CONSOLE_BAUD / 2u) / N6_CONSOLE_BAUD;
    /* Set FIFOEN before UE, which locks it. The FIFO takes the next bytes while the program answers a frame. TXE and RXNE then
     * mean "not full" and "not empty", at the same positions (ST's device header: USART_ISR_TXE_TXFNF, RXNE_RXFNE). */
    N6_REG32(N6_USART1_CR1) = N6_USART1_CR1_FIFOEN;
    N6_REG32(N6_USART1_CR1) = N6_USART1_CR1_FIFOEN | N6_USART1_CR1_UE | N6_USART1_CR1_RE | N6_USART1_CR1_TE;
}

static void put_char(char character)
{
    (void)n6_wait_for(N6_USART1_ISR, N6_USART1_ISR_TXE, N6_USART1_ISR_TXE, POLLS);
    N6_REG32(N6_USART1_TDR) = (uint8_t)character;
}

void n6_put(const char *text)
{
    while (*text != '\0') {
        put_char(*text++);
    }
}

void n6_put_u32(uint32_t value)
{
    char digits[10];
    uint32_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0u);
    while (count != 0u) {
        put_char(digits[--count]);
    }
}

static void put_digit(uint32_t digit)
{
    put_char("0123456789abcdef"[digit & 15u]);
}

void n6_put_hex32(uint32_t value)
{
    n6_put("0x");
    for (uint32_t shift = 32u; shift != 0u; shift -= 4u) {
        put_digit(value >> (shift - 4u));
    }
}

void n6_put_bytes(const uint8_t *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_digit((uint32_t)data[i] >> 4);
        put_digit(data[i]);
    }
}

void n6_put_end(void)
{
    n6_put("\r\n");
    (void)n6_wait_for(N6_USART1_ISR, N6_USART1_ISR_TC, N6_USART1_ISR_TC, POLLS);
}

void n6_put_byte(uint8_t byte)
{
    put_char((char)byte);
}

bool n6_get_byte(uint8_t *byte)
{
    uint32_t status = N6_REG32(N6_USART1_ISR);
    if ((status & N6_USART1_ISR_ORE) != 0u) {
        /* A byte was lost: the CRC of its frame will be wrong. No more bytes arrive until this flag is cleared. */
        N6_REG32(N6_USART1_ICR) = N6_USART1_ICR_ORECF;
    }
    if ((status & N6_USART1_ISR_RXNE) == 0u) {
        return false;
    }
    *byte = (uint8_t)N6_REG32(N6_USART1_RDR);
    return true;
}
