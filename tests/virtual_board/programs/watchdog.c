/* SPDX-License-Identifier: Apache-2.0
 *
 * The watchdog; -DDOES= names the program's use of it. A word of RAM, which survives a reset, counts the starts.
 */
#include <stdint.h>

#include "n6_soc.h"

#include "finish.h"

#define NOTHING 0
#define LET_EXPIRE 1
#define SLEEP_MASKED 2
#define RELOAD_IN_TIME 3
#define RELOAD_TOO_EARLY 4
#define WITHOUT_KEY 5
#define RESET_ITSELF 6

#define STARTS REG(0x341E0000)
#define BEGAN 0x600DF00Du

void reset(void);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {STACK_TOP, (uintptr_t)reset};

/* Start the watchdog with a timeout in ms: 32 kHz by 4 are 8 ticks a ms. */
static void start_watchdog(uint32_t ms)
{
    REG(N6_IWDG_KR) = 0xCCCC;
    REG(N6_IWDG_KR) = 0x5555;
    REG(N6_IWDG_PR) = 0;
    REG(N6_IWDG_RLR) = 8 * ms - 1;
    REG(N6_IWDG_KR) = 0xAAAA;
}

static void count_cycles(void)
{
    REG(N6_DCB_DEMCR) = N6_DCB_DEMCR_TRCENA;
    REG(N6_DWT_CYCCNT) = 0;
    REG(N6_DWT_CTRL) = N6_DWT_CTRL_CYCCNTENA;
}

static void wait(uint32_t ms)
{
    count_cycles();
    while (REG(N6_DWT_CYCCNT) < ms * (N6_HSI_HZ / 1000u)) {
    }
}

static void act(void)
{
    switch (DOES) {
    case LET_EXPIRE:
        start_watchdog(10);
        count_cycles();
        for (;;) {
            REG(0x341E0004) = REG(N6_DWT_CYCCNT);
        }
    case SLEEP_MASKED:
        start_watchdog(10);
        __asm volatile("cpsid i");
        for (;;) {
            __asm volatile("wfi");
        }
    case RELOAD_IN_TIME:
        start_watchdog(10);
        for (uint32_t i = 0; i < 4; i++) {
            wait(8);
            REG(N6_IWDG_KR) = 0xAAAA;
        }
        break;
    case RELOAD_TOO_EARLY:
        start_watchdog(10);
        REG(N6_IWDG_KR) = 0x5555;
        REG(N6_IWDG_WINR) = 40;
        wait(1);
        REG(N6_IWDG_KR) = 0xAAAA;
        wait(1);
        break;
    case WITHOUT_KEY:
        REG(N6_IWDG_RLR) = 5; /* LOST */
        if (REG(N6_IWDG_RLR) != 0xFFF || REG(N6_IWDG_SR) != 0) {
            finish(1);
        }
        break;
    case RESET_ITSELF:
        REG(N6_SCB_AIRCR) = 0x05FA0000 | N6_SCB_AIRCR_SYSRESETREQ;
        for (;;) {
        }
    }
}

/* End with the cause of the start: 1 power, 2 the watchdog, 4 the program. Add 8 if the watchdog still runs, 16 if its reset
 * did not come after about 10 ms, 32 if a cleared flag is kept. */
void reset(void)
{
    uint32_t flags = REG(N6_RCC_HWRSR), status = 0;

    REG(N6_RCC_HWRSR) = N6_RCC_HWRSR_RMVF;
    status |= REG(N6_RCC_HWRSR) != 0 ? 32 : 0;
    if (STARTS != BEGAN) {
        STARTS = BEGAN;
        act();
    }
    if (DOES == LET_EXPIRE && (REG(0x341E0004) < 9 * (N6_HSI_HZ / 1000u) || REG(0x341E0004) > 11 * (N6_HSI_HZ / 1000u))) {
        status |= 16;
    }
    status |= (flags & N6_RCC_HWRSR_PORRSTF) != 0 ? 1 : 0;
    status |= (flags & N6_RCC_HWRSR_IWDGRSTF) != 0 ? 2 : 0;
    status |= (flags & N6_RCC_HWRSR_SFTRSTF) != 0 ? 4 : 0;
    status |= DOES != RELOAD_IN_TIME && DOES != RELOAD_TOO_EARLY && (REG(N6_IWDG_SR) & N6_IWDG_SR_ONF) != 0 ? 8 : 0;
    finish(status);
}
