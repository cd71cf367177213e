/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_watchdog.h"

#include "n6_reg.h"
#include "n6_soc_system.h"

#define KEY_START 0xCCCCu
#define KEY_ACCESS 0x5555u
#define KEY_FEED 0xAAAAu

#define RANGE 4096u
/* Division by 4 and by 1024, as powers of two. */
#define SMALLEST_PRESCALER 2u
#define LARGEST_PRESCALER 10u

/* A new value takes a few ticks of the slow oscillator. */
#define POLLS 1000000u

void n6_watchdog_start(uint32_t milliseconds)
{
    uint32_t prescaler = SMALLEST_PRESCALER;
    while (prescaler < LARGEST_PRESCALER && milliseconds * (N6_LSI_HZ / 1000u) >> prescaler >= RANGE) {
        prescaler++;
    }
    uint32_t ticks = milliseconds * (N6_LSI_HZ / 1000u) >> prescaler;
    N6_REG32(N6_IWDG_KR) = KEY_START;
    N6_REG32(N6_IWDG_KR) = KEY_ACCESS;
    N6_REG32(N6_IWDG_PR) = N6_FIELD(N6_IWDG_PR_PR, prescaler - SMALLEST_PRESCALER);
    N6_REG32(N6_IWDG_RLR) = N6_FIELD(N6_IWDG_RLR_RL, ticks < RANGE ? ticks : RANGE - 1u);
    (void)n6_wait_for(N6_IWDG_SR, N6_IWDG_SR_PVU | N6_IWDG_SR_RVU, 0u, POLLS);
    n6_watchdog_feed();
}

void n6_watchdog_feed(void)
{
    N6_REG32(N6_IWDG_KR) = KEY_FEED;
}

n6_reset_cause_t n6_watchdog_reset_cause(void)
{
    const uint32_t flags = N6_REG32(N6_RCC_HWRSR);
    N6_REG32(N6_RCC_HWRSR) = N6_RCC_HWRSR_RMVF;
    return (n6_reset_cause_t){(flags & N6_RCC_HWRSR_IWDGRSTF) != 0u, (flags & N6_RCC_HWRSR_SFTRSTF) != 0u};
}
