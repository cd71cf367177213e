/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that prints hello and ends; -DDOES= names an action before that.
 */
#include "n6_board_console.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_pins.h"
#include "n6_reg.h"
#include "n6_soc.h"

#define NOTHING 0
#define WRONG_FUNCTION 1
#define OTHER_PIN 2
#define WRONG_DIVISOR 3
#define READ_FUSES 4
#define BLOW_A_FUSE 5
#define FUSES_WITHOUT_CLOCK 6
#define RAM_OFF_WHILE_RUNNING 7
#define READ_BOOT_ROM 8
#define OTHER_MEMORIES 9

const char n6_program[] = "test";

static void break_console(void)
{
#if DOES == WRONG_FUNCTION
    n6_pin_alternate(N6_CONSOLE_TX_PORT_BASE, N6_CONSOLE_TX_PIN, N6_CONSOLE_TX_AF + 1u, N6_PULL_NONE);
#elif DOES == OTHER_PIN
    n6_modify(N6_CONSOLE_TX_PORT_BASE + N6_GPIO_MODER_OFFSET, 3u << (2u * N6_CONSOLE_TX_PIN), 0u);
    n6_pin_alternate(N6_CONSOLE_TX_PORT_BASE, N6_CONSOLE_TX_PIN + 3u, N6_CONSOLE_TX_AF, N6_PULL_NONE);
#elif DOES == WRONG_DIVISOR
    N6_REG32(N6_USART1_BRR) = 7u * N6_REG32(N6_USART1_BRR);
#endif
}

static void use_fuses(void)
{
#if DOES != FUSES_WITHOUT_CLOCK
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
#endif
#if DOES == BLOW_A_FUSE
    N6_REG32(N6_BSEC_WDR) = N6_BSEC_FVR124_HSLV_VDDIO3;
    N6_REG32(N6_BSEC_OTPCR) = 124u | N6_BSEC_OTPCR_PROG; /* BLOW */
    n6_put((N6_REG32(N6_BSEC_OTPSR) & N6_BSEC_OTPSR_PROGFAIL) != 0u ? "failed " : "done ");
#endif
    n6_put("fuse=");
    n6_put_hex32(N6_REG32(N6_BSEC_FVR124));
    n6_put_end();
}

static void use_other_memories(void)
{
    n6_enable(N6_RCC_MEMENSR, N6_RCC_MEMENR, N6_RCC_MEMENR_VENCRAMEN | N6_RCC_MEMENR_CACHEAXIRAMEN | N6_RCC_MEMENR_BKPSRAMEN);
    N6_REG32(N6_VENCRAM_BASE) = 1u;
    N6_REG32(N6_CACHEAXIRAM_BASE) = 2u;
    N6_REG32(N6_BKPSRAM_BASE) = 3u;
    N6_REG32(N6_ITCM_BASE) = 4u;
    N6_REG32(N6_DTCM_BASE) = 5u;
    n6_put("sum=");
    /* Read TCM by its non-secure addresses, too. */
    n6_put_u32(N6_REG32(N6_VENCRAM_BASE) + N6_REG32(N6_CACHEAXIRAM_BASE) + N6_REG32(N6_BKPSRAM_BASE) +
               N6_REG32(N6_ITCM_BASE - N6_SECURE_BIT) + N6_REG32(N6_DTCM_BASE - N6_SECURE_BIT));
    n6_put_end();
}

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    break_console();
    if (DOES >= READ_FUSES && DOES <= FUSES_WITHOUT_CLOCK) {
        use_fuses();
    }
    if (DOES == RAM_OFF_WHILE_RUNNING) {
        N6_REG32(N6_FLEXRAM_BASE) = 1u;
        N6_REG32(N6_RCC_MEMENCR) = N6_RCC_MEMENR_FLEXRAMEN;
        N6_REG32(N6_FLEXRAM_BASE) = 2u; /* LOST */
    }
    if (DOES == READ_BOOT_ROM) {
        (void)N6_REG32(N6_BOOTROM_BASE + 0x100u); /* READ */
    }
    if (DOES == OTHER_MEMORIES) {
        use_other_memories();
    }
    n6_put("hello");
    n6_put_end();
    n6_put("end");
    n6_put_end();
    for (;;) {
    }
}
