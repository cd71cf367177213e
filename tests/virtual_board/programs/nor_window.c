/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that reads a word of the NOR after one register was set to a value that the part does not accept; -DCHANGE= names
 * the register.
 */
#include "n6_board_nor.h"
#include "n6_board_slots.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "n6_xspi.h"
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
#define NO_STROBE 9
#define FEWER_CYCLES 10
#define SMALL_PART 11
#define TOO_FAST 12
#define RANGE 13
#define FROM_HCLK 14
#define FROM_PER 15
#define FROM_IC4 16
#define PER_OFF 17
#define SECOND_CHIP 18
#define STILL_MAPPED 19
#define OTHER_MODE 20
#define TIMEOUT 21
#define DATA_EDGE 22
#define SLIGHTLY_FAST 23
#define CHIP_SELECT 24

const char n6_program[] = "test";

#if CHANGE == OCTAL_STR
static void command(uint32_t lines, uint32_t instruction)
{
    n6_modify(N6_XSPI2_CR, 0u, N6_XSPI_CR_EN);
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, 0u);
    N6_REG32(N6_XSPI2_CCR) = lines;
    N6_REG32(N6_XSPI2_IR) = instruction;
}

/* Change from octal DTR to octal STR: configuration register 2 at address 0 gets 1, after a write enable. */
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
static inline void change(void)
{
#if CHANGE == DUMMY_CYCLES
    n6_modify(N6_XSPI2_TCR, N6_XSPI_TCR_DCYC, 21u);
#elif CHANGE == NO_STROBE
    n6_modify(N6_XSPI2_TCR, N6_XSPI_TCR_DCYC, 10u);
    n6_modify(N6_XSPI2_CCR, N6_XSPI_CCR_DQSE, 0u);
#elif CHANGE == FEWER_CYCLES
    n6_modify(N6_XSPI2_TCR, N6_XSPI_TCR_DCYC, 10u);
#elif CHANGE == SMALL_PART
    n6_modify(N6_XSPI2_DCR1, N6_XSPI_DCR1_DEVSIZE, N6_FIELD(N6_XSPI_DCR1_DEVSIZE, 3u));
#elif CHANGE == TOO_FAST
    n6_modify(N6_RCC_IC3CFGR, N6_RCC_IC3CFGR_INT, N6_FIELD(N6_RCC_IC3CFGR_INT, 1u));
#elif CHANGE == RANGE
    n6_modify(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3VRSEL, 0u);
#elif CHANGE == FROM_HCLK
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, 0u);
#elif CHANGE == FROM_PER
    N6_REG32(N6_RCC_MISCENSR) = N6_RCC_MISCENR_PEREN;
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, N6_FIELD(N6_RCC_CCIPR6_XSPI2SEL, 1u));
#elif CHANGE == PER_OFF
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, N6_FIELD(N6_RCC_CCIPR6_XSPI2SEL, 1u));
#elif CHANGE == FROM_IC4
    N6_REG32(N6_RCC_IC3CFGR + 4u) = 23u << N6_RCC_IC3CFGR_INT_POS;
    N6_REG32(N6_RCC_DIVENSR) = N6_RCC_DIVENR_IC3EN << 1;
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, N6_FIELD(N6_RCC_CCIPR6_XSPI2SEL, 3u));
#elif CHANGE == SECOND_CHIP
    n6_modify(N6_XSPI2_CR, 0u, N6_XSPI_CR_CSSEL);
#elif CHANGE == MEMORY_TYPE
    n6_modify(N6_XSPI2_DCR1, N6_XSPI_DCR1_MTYP, 0u);
#elif CHANGE == OPCODE
    N6_REG32(N6_XSPI2_IR) = 0x13u;
#elif CHANGE == ONE_EDGE
    n6_modify(N6_XSPI2_CCR, N6_XSPI_CCR_IDTR, 0u);
#elif CHANGE == DATA_EDGE
    n6_modify(N6_XSPI2_CCR, N6_XSPI_CCR_DDTR, 0u);
#elif CHANGE == SLIGHTLY_FAST
    n6_modify(N6_RCC_IC3CFGR, N6_RCC_IC3CFGR_INT, N6_FIELD(N6_RCC_IC3CFGR_INT, 3u));
#elif CHANGE == CHIP_SELECT
    n6_modify(N6_GPION_MODER, 3u << 2 * 1, 0u);
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
#if CHANGE == STILL_MAPPED
    n6_modify(N6_XSPI2_TCR, N6_XSPI_TCR_DCYC, 21u); /* BUSY */
#elif CHANGE == OTHER_MODE
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, 0u); /* BUSY */
#elif CHANGE == TIMEOUT
    n6_xspi_stop(N6_XSPI2_BASE);
    n6_modify(N6_XSPI2_CR, 0u, N6_XSPI_CR_TCEN | N6_XSPI_CR_EN);
    (void)N6_REG32(N6_NOR_BASE);
    n6_modify(N6_XSPI2_TCR, N6_XSPI_TCR_DCYC, 20u);
#else
    n6_xspi_stop(N6_XSPI2_BASE);
    change();
    n6_modify(N6_XSPI2_CR, 0u, N6_XSPI_CR_EN);
#endif
    n6_put("word=");
    n6_put_hex32(N6_REG32(N6_SLOT_WEIGHTS_ADDRESS)); /* READ */
    n6_put_end();
    n6_put("end");
    n6_put_end();
    return 0;
}
