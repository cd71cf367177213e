/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers over I2C2 as a master, to the board's audio codec and to an address without a device.
 */
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "put.h"

#define CODEC 0x1Au
#define NOBODY 0x55u
#define PENDING(irq) (N6_REG32(N6_NVIC_ICPR + 4u * ((irq) / 32u)) >> (irq) % 32u & 1u)

const char n6_program[] = "test";

static uint32_t status(void)
{
    return N6_REG32(N6_I2C2_ISR);
}

static void begin(uint32_t address, uint32_t bytes, uint32_t flags)
{
    N6_REG32(N6_I2C2_CR2) = address << 1 | bytes << N6_I2C_CR2_NBYTES_POS | N6_I2C_CR2_START | flags;
}

static void send(uint8_t byte)
{
    while (!(status() & N6_I2C_ISR_TXIS)) {
    }
    N6_REG32(N6_I2C2_TXDR) = byte;
}

static uint32_t receive(void)
{
    while (!(status() & N6_I2C_ISR_RXNE)) {
    }
    return N6_REG32(N6_I2C2_RXDR);
}

static void clear(void)
{
    N6_REG32(N6_I2C2_ICR) = N6_I2C_ICR_STOPCF | N6_I2C_ICR_NACKCF;
}

static void write_register(uint8_t number, uint32_t value)
{
    begin(CODEC, 3u, N6_I2C_CR2_AUTOEND);
    send(number);
    send((uint8_t)(value >> 8));
    send((uint8_t)value);
    clear();
}

static uint32_t read_register(uint8_t number)
{
    begin(CODEC, 1u, 0u);
    send(number);
    begin(CODEC, 2u, N6_I2C_CR2_RD_WRN | N6_I2C_CR2_AUTOEND);
    uint32_t value = receive() << 8;
    value |= receive();
    clear();
    return value;
}

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    N6_REG32(N6_RCC_APB1ENSR1) = N6_RCC_APB1ENR1_I2C2EN;
    N6_REG32(N6_I2C2_CR1) = N6_I2C_CR1_PE;
    put("idle=", status());

    begin(NOBODY, 1u, N6_I2C_CR2_AUTOEND);
    put("nobody=", status());
    clear();
    put("cleared=", status());

    put("id=", read_register(0u));
    write_register(0u, 0u);
    put("id=", read_register(0u));
    write_register(4u, 0x1234u);
    put("bias=", read_register(4u));

    /* Without AUTOEND the bus is kept; with RELOAD the transfer continues. */
    begin(CODEC, 1u, 0u);
    send(4u);
    put("complete=", status());
    begin(CODEC, 1u, N6_I2C_CR2_RD_WRN | N6_I2C_CR2_RELOAD);
    put("first=", receive());
    put("reload=", status());
    N6_REG32(N6_I2C2_CR2) = CODEC << 1 | N6_I2C_CR2_RD_WRN | N6_I2C_CR2_AUTOEND | 1u << N6_I2C_CR2_NBYTES_POS;
    put("second=", receive());
    put("stopped=", status());
    clear();

    put("before=", PENDING(N6_IRQ_I2C2_EV));
    N6_REG32(N6_I2C2_CR1) = N6_I2C_CR1_PE | N6_I2C_CR1_TXIE;
    begin(CODEC, 1u, N6_I2C_CR2_AUTOEND);
    put("pending=", PENDING(N6_IRQ_I2C2_EV));
    n6_put("end");
    n6_put_end();
    return 0;
}
