/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that writes and reads a word of the PSRAM after one register was set to a value that the part does not accept;
 * -DCHANGE= names the register.
 */
#include "n6_board_psram.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "n6_xspi_nor.h"
#include "n6_xspi_psram.h"

#define NOTHING 0
#define READ_LATENCY 1
#define WRITE_LATENCY 2
#define READ_OPCODE 3
#define WRITE_EDGES 4
#define EIGHT_LINES 5
#define NO_STROBE 6
#define MEMORY_TYPE 7
#define SMALL_PART 8
#define PADS_OFF 9
#define PIN 10
#define SWAPPED_PORTS 11
#define UNMAPPED 12
#define NEVER_OPENED 13
#define NO_CLOCK 14

const char n6_program[] = "test";

static void change(void)
{
#if CHANGE == READ_LATENCY
    n6_modify(N6_XSPI1_TCR, 0u, N6_XSPI_TCR_DCYC);
#elif CHANGE == WRITE_LATENCY
    n6_modify(N6_XSPI1_WTCR, N6_XSPI_TCR_DCYC, 4u);
#elif CHANGE == READ_OPCODE
    N6_REG32(N6_XSPI1_IR) = 0u;
#elif CHANGE == WRITE_EDGES
    n6_modify(N6_XSPI1_WCCR, N6_XSPI_WCCR_ADDTR, 0u);
#elif CHANGE == EIGHT_LINES
    n6_modify(N6_XSPI1_CCR, N6_XSPI_CCR_DMODE, N6_FIELD(N6_XSPI_CCR_DMODE, 4));
#elif CHANGE == NO_STROBE
    n6_modify(N6_XSPI1_WCCR, N6_XSPI_WCCR_DQSE, 0u);
#elif CHANGE == MEMORY_TYPE
    n6_modify(N6_XSPI1_DCR1, N6_XSPI_DCR1_MTYP, 0u);
#elif CHANGE == SMALL_PART
    n6_modify(N6_XSPI1_DCR1, N6_XSPI_DCR1_DEVSIZE, N6_FIELD(N6_XSPI_DCR1_DEVSIZE, N6_PSRAM_DEVSIZE - 1u));
#elif CHANGE == PADS_OFF
    n6_modify(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO2SV, 0u);
#elif CHANGE == PIN
    n6_modify(N6_GPIOP_MODER, 3u << 2 * 4, 0u);
#elif CHANGE == SWAPPED_PORTS
    n6_modify(N6_XSPI1_CR, N6_XSPI_CR_EN, 0u);
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_EN, 0u);
    N6_REG32(N6_XSPIM_CR) = N6_XSPIM_CR_MODE;
    n6_modify(N6_XSPI1_CR, 0u, N6_XSPI_CR_EN);
#elif CHANGE == UNMAPPED
    n6_modify(N6_XSPI1_CR, N6_XSPI_CR_FMODE, 0u);
#elif CHANGE == NO_CLOCK
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI1SEL, N6_FIELD(N6_RCC_CCIPR6_XSPI1SEL, 1));
#endif
}

int main(void)
{
    uint32_t id = 0;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_clock_start();
    (void)n6_xspi_nor_open(&id);
    /* The PSRAM's refresh is counted for the profile's clock. */
    (void)n6_clock_switch();
#if CHANGE != NEVER_OPENED
    n6_psram_status_t status = n6_xspi_psram_open(&id);
    n6_put("status=");
    n6_put_u32(status);
    n6_put(" id=");
    n6_put_hex32(id);
    n6_put_end();
    if (status != N6_PSRAM_OK) {
        n6_put(n6_xspi_psram_text(status));
        n6_put_end();
        return 1;
    }
#endif
    change();
    N6_REG32(N6_PSRAM_BASE + 64u) = 0x01020304u; /* WRITE */
    n6_put("word=");
    n6_put_hex32(N6_REG32(N6_PSRAM_BASE + 64u)); /* READ */
    n6_put_end();
    n6_put("end");
    n6_put_end();
    return 0;
}
