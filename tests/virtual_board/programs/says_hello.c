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
#define ALIAS_OPEN 10
#define ALIAS_SECURED 11
#define RESET_VALUES 12
#define BYPASS 13
#define RESET_ITSELF 14
#define ATTRIBUTES 15
#define STARVE_WATCHDOG 16
#define SHOW_RAM 17
#define READ_CONTEXT 18

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

static void show(const char *name, uint32_t value)
{
    n6_put(name);
    n6_put("=");
    n6_put_hex32(value);
    n6_put_end();
}

static void use_alias(void)
{
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_SYSCFGEN);
    n6_enable(N6_RCC_AHB3ENSR, N6_RCC_AHB3ENR, N6_RCC_AHB3ENR_RIFSCEN);
#if DOES == ALIAS_SECURED
    N6_REG32(N6_RIFSC_SECCFGR1) = N6_RIFSC_SECCFGR1_SYSCFG;
#endif
    N6_REG32(N6_SYSCFG_VDDIO3CCCR - N6_SECURE_BIT) = 0x278u; /* ALIAS */
    show("secure", N6_REG32(N6_SYSCFG_VDDIO3CCCR));
    show("alias", N6_REG32(N6_SYSCFG_VDDIO3CCCR - N6_SECURE_BIT));
}

/* Write a word to three banks, reset the system, and read them. */
static void reset_itself(void)
{
    if ((N6_REG32(N6_RCC_HWRSR) & N6_RCC_HWRSR_SFTRSTF) == 0u) {
        N6_REG32(N6_FLEXRAM_BASE) = 1u;
        N6_REG32(N6_AXISRAM1_BASE) = 2u;
        N6_REG32(N6_AXISRAM2_BASE) = 3u;
        N6_REG32(N6_SCB_AIRCR) = N6_FIELD(N6_SCB_AIRCR_VECTKEY, 0x05FAu) | N6_SCB_AIRCR_SYSRESETREQ;
        for (;;) {
        }
    }
    show("flexram", N6_REG32(N6_FLEXRAM_BASE));
    show("axisram1", N6_REG32(N6_AXISRAM1_BASE));
    show("axisram2", N6_REG32(N6_AXISRAM2_BASE));
}

/* Start the watchdog with 11 ticks of 4 LSI cycles, and do not reload it. */
static void starve_watchdog(void)
{
    N6_REG32(N6_IWDG_KR) = 0x5555u;
    N6_REG32(N6_IWDG_RLR) = 10u;
    N6_REG32(N6_IWDG_KR) = 0xCCCCu;
    for (;;) { /* STARVED */
    }
}

int main(void)
{
#if DOES == RESET_VALUES
    uint32_t pll1 = N6_REG32(N6_RCC_PLL1CFGR1), pll2 = N6_REG32(N6_RCC_PLL2CFGR3), memories = N6_REG32(N6_RCC_MEMENR);
#endif
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
#if DOES == READ_CONTEXT
    for (uint32_t offset = 0; offset <= 52u; offset += 4u) {
        n6_put_hex32(N6_REG32(CONTEXT + offset));
        n6_put(" ");
    }
    n6_put_end();
#endif
    if (DOES == READ_BOOT_ROM) {
        (void)N6_REG32(N6_BOOTROM_BASE + 0x100u); /* READ */
    }
    if (DOES == OTHER_MEMORIES) {
        use_other_memories();
    }
    if (DOES == ALIAS_OPEN || DOES == ALIAS_SECURED) {
        use_alias();
    }
#if DOES == RESET_VALUES
    show("pll1", pll1);
    show("pll2", pll2);
    show("memories", memories);
#endif
    if (DOES == BYPASS) {
        N6_REG32(N6_RCC_DIVENSR) = N6_RCC_DIVENR_IC1EN;
        n6_modify(N6_RCC_CFGR1, N6_RCC_CFGR1_CPUSW, N6_FIELD(N6_RCC_CFGR1_CPUSW, 3u));
    }
    if (DOES == RESET_ITSELF) {
        reset_itself();
    }
    if (DOES == ATTRIBUTES) {
        N6_REG32(N6_GPIOQ_SECCFGR) = 1u; /* EARLY */
    }
    if (DOES == SHOW_RAM) {
        show("flexram", N6_REG32(N6_FLEXRAM_BASE + 64u));
    }
    if (DOES == STARVE_WATCHDOG) {
        starve_watchdog();
    }
    n6_put("hello");
    n6_put_end();
    n6_put("end");
    n6_put_end();
    for (;;) {
    }
}
