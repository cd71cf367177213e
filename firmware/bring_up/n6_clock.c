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

#if N6_XSPI_FROM_PLL1
#define XSPI2_FROM_IC3 2

/* Order of ST's HAL: off, no modulation, dividers, output on, on. */
static bool start_pll1(void)
{
    N6_REG32(N6_RCC_CCR) = N6_RCC_CR_PLL1ON;
    if (!n6_wait_for(N6_RCC_SR, N6_RCC_SR_PLL1RDY, 0u, POLLS)) {
        return false;
    }
    N6_REG32(N6_RCC_PLL1CFGR3) = N6_RCC_PLL1CFGR3_MODSSDIS | N6_FIELD(N6_RCC_PLL1CFGR3_PDIV1, 1) | N6_FIELD(N6_RCC_PLL1CFGR3_PDIV2, 1);
    N6_REG32(N6_RCC_PLL1CFGR1) = N6_FIELD(N6_RCC_PLL1CFGR1_DIVM, N6_PLL1_DIVM) | N6_FIELD(N6_RCC_PLL1CFGR1_DIVN, N6_PLL1_DIVN);
    N6_REG32(N6_RCC_PLL1CFGR2) = 0u;
    n6_modify(N6_RCC_PLL1CFGR3, 0u, N6_RCC_PLL1CFGR3_MODSSRST | N6_RCC_PLL1CFGR3_PDIVEN);
    N6_REG32(N6_RCC_CSR) = N6_RCC_CR_PLL1ON;
    return n6_wait_for(N6_RCC_SR, N6_RCC_SR_PLL1RDY, N6_RCC_SR_PLL1RDY, POLLS);
}

bool n6_clock_start_xspi(void)
{
    if (!start_pll1()) {
        return false;
    }
    N6_REG32(N6_RCC_IC3CFGR) = N6_FIELD(N6_RCC_IC3CFGR_INT, N6_IC3_DIVIDER - 1u);
    n6_enable(N6_RCC_DIVENSR, N6_RCC_DIVENR, N6_RCC_DIVENR_IC3EN);
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, N6_FIELD(N6_RCC_CCIPR6_XSPI2SEL, XSPI2_FROM_IC3));
    return true;
}
#else
bool n6_clock_start_xspi(void)
{
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, 0u); /* HCLK */
    return true;
}
#endif

void n6_delay_us(uint32_t microseconds)
{
    /* One turn takes at least one cycle, with loop buffers and branch prediction at their best. */
    uint32_t turns = microseconds * (N6_CPU_HZ / 1000000u);
    if (turns != 0u) {
        __asm volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(turns)::"cc");
    }
}
