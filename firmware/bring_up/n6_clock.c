/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_clock.h"

#include "n6_board.h"
#include "n6_reg.h"

#define POLLS 100000u

bool n6_clock_use_hsi(void)
{
    N6_REG32(N6_RCC_CSR) = N6_RCC_CR_HSION;
    if (!n6_wait_for(N6_RCC_SR, N6_RCC_SR_HSIRDY, N6_RCC_SR_HSIRDY, POLLS)) {
        return false;
    }
    n6_modify(N6_RCC_HSICFGR, N6_RCC_HSICFGR_HSIDIV, 0u);
    n6_modify(N6_RCC_CFGR1, N6_RCC_CFGR1_CPUSW | N6_RCC_CFGR1_SYSSW, 0u);
    if (!n6_wait_for(N6_RCC_CFGR1, N6_RCC_CFGR1_CPUSWS | N6_RCC_CFGR1_SYSSWS, 0u, POLLS)) {
        return false;
    }
    /* APB prescalers stay at 1 (device errata 2.2.1); the AHB one too, so that every bus runs at 64 MHz. */
    n6_modify(N6_RCC_CFGR2,
              N6_RCC_CFGR2_HPRE | N6_RCC_CFGR2_PPRE1 | N6_RCC_CFGR2_PPRE2 | N6_RCC_CFGR2_PPRE4 | N6_RCC_CFGR2_PPRE5, 0u);
    return true;
}

void n6_delay_us(uint32_t microseconds)
{
    /* One turn takes at least one cycle, with loop buffers and branch prediction at their best. */
    uint32_t turns = microseconds * (N6_CPU_HZ / 1000000u);
    if (turns != 0u) {
        __asm volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(turns)::"cc");
    }
}
