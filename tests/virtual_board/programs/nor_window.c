/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a word of the NOR after a single register was set otherwise than the part needs; -DCHANGE= says which.
 */
#include "n6_board.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_xspi_nor.h"

#define NOTHING 0
#define DUMMY_CYCLES 1
#define MEMORY_TYPE 2
#define OPCODE 3
#define ONE_EDGE 4
#define SWAPPED_PORTS 5
#define PADS_OFF 6
#define PIN 7
#define OCTAL_STR 8

const char n6_program[] = "test";

#if CHANGE == OCTAL_STR
static void command(uint32_t lines, uint32_t instruction)
{
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, 0u);
    N6_REG32(N6_XSPI2_CCR) = lines;
    N6_REG32(N6_XSPI2_IR) = instruction;
}

/* From octal DTR to octal STR: configuration register 2 at address 0 gets 1, after a write enable. */
static void change(void)
{
    uint32_t dtr = 0x1Cu, address = 0x3C00u, data = 0x0C000000u;
    command(dtr, 0x06F9u);
    N6_REG32(N6_XSPI2_DLR) = 1u;
    command(dtr | address | data, 0x728Du);
    N6_REG32(N6_XSPI2_AR) = 0u;
    *(volatile uint16_t *)N6_XSPI2_DR = 0x0101u;
    N6_REG32(N6_XSPI2_CCR) = 0x04003414u; /* instruction of 16 bits, address of 32 bits and data on eight lines */
    N6_REG32(N6_XSPI2_TCR) = 20u;
    N6_REG32(N6_XSPI2_IR) = 0xEC13u;
    n6_modify(N6_XSPI2_CR, 0u, N6_FIELD(N6_XSPI_CR_FMODE, 3u));
}
#else
static void change(void)
{
#if CHANGE == DUMMY_CYCLES
    n6_modify(N6_XSPI2_TCR, N6_XSPI_TCR_DCYC, 6u);
#elif CHANGE == MEMORY_TYPE
    n6_modify(N6_XSPI2_DCR1, N6_XSPI_DCR1_MTYP, 0u);
#elif CHANGE == OPCODE
    N6_REG32(N6_XSPI2_IR) = 0x13u;
#elif CHANGE == ONE_EDGE
    n6_modify(N6_XSPI2_CCR, N6_XSPI_CCR_IDTR, 0u);
#elif CHANGE == SWAPPED_PORTS
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_EN, 0u);
    N6_REG32(N6_XSPIM_CR) = N6_XSPIM_CR_MODE;
    n6_modify(N6_XSPI2_CR, 0u, N6_XSPI_CR_EN);
#elif CHANGE == PADS_OFF
    n6_modify(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3SV, 0u);
#elif CHANGE == PIN
    n6_modify(N6_GPION_MODER, 3u << 2 * 4, 0u);
#endif
}
#endif

int main(void)
{
    uint32_t jedec_id;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_xspi_nor_open(&jedec_id);
    change();
    n6_put("word=");
    n6_put_hex32(N6_REG32(N6_SLOT_WEIGHTS_ADDRESS)); /* READ */
    n6_put_end();
    n6_put("end");
    n6_put_end();
    return 0;
}
