/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_clock.h"

#include "n6_board_clock.h"
#include "n6_board_nor.h"
#include "n6_reg.h"
#include "n6_soc_gpio.h"
#include "n6_soc_system.h"

#define POLLS 100000u
#define MHZ 1000000u

/* The clock of the CPU, for n6_delay_us. A program that inherits the clocks of an FSBL has those of the profile. */
static uint32_t cpu_mhz = N6_CPU_HZ / MHZ;
/* True after n6_clock_start started the PLLs. The boot ROM may have left one running with other dividers. */
__attribute__((unused)) static bool has_started;

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
    cpu_mhz = N6_HSI_HZ / MHZ;
    /* The APB prescalers stay at 1 (device errata 2.2.1); the AHB prescaler too, so that every bus runs at 64 MHz. */
    n6_modify(N6_RCC_CFGR2,
              N6_RCC_CFGR2_HPRE | N6_RCC_CFGR2_PPRE1 | N6_RCC_CFGR2_PPRE2 | N6_RCC_CFGR2_PPRE4 | N6_RCC_CFGR2_PPRE5, 0u);
    return true;
}

typedef struct {
    uint32_t cfgr1; /* CFGR2 and CFGR3 follow it */
    uint32_t on;
    uint32_t divm, divn, pdiv1;
} pll_t;

/* Start a PLL, in the order of ST's HAL (HAL_RCC_OscConfig): off, no modulation, dividers, output on, on. Fields as in PLL1. */
__attribute__((unused)) static bool start_pll(const pll_t *pll)
{
    const uint32_t cfgr2 = pll->cfgr1 + 4u, cfgr3 = pll->cfgr1 + 8u;
    N6_REG32(N6_RCC_CCR) = pll->on;
    if (!n6_wait_for(N6_RCC_SR, pll->on, 0u, POLLS)) {
        return false;
    }
    N6_REG32(cfgr3) = N6_RCC_PLL1CFGR3_MODSSDIS | N6_FIELD(N6_RCC_PLL1CFGR3_PDIV1, pll->pdiv1) | N6_FIELD(N6_RCC_PLL1CFGR3_PDIV2, 1);
    N6_REG32(pll->cfgr1) = N6_FIELD(N6_RCC_PLL1CFGR1_DIVM, pll->divm) | N6_FIELD(N6_RCC_PLL1CFGR1_DIVN, pll->divn);
    N6_REG32(cfgr2) = 0u;
    n6_modify(cfgr3, 0u, N6_RCC_PLL1CFGR3_MODSSRST | N6_RCC_PLL1CFGR3_PDIVEN);
    N6_REG32(N6_RCC_CSR) = pll->on;
    return n6_wait_for(N6_RCC_SR, pll->on, pll->on, POLLS);
}

#if N6_CLOCK_FROM_PLLS && defined(N6_SMPS_PIN)
#define MODE_OUTPUT 1u
#define SUPPLY_SETTLES_US 1000u

/* Set the core supply. Its regulator is outside the chip; a pin selects its voltage. The order is that of ST's projects. The
 * getting-started ones call BSP_SMPS_Init before they configure an oscillator; examples of STM32CubeN6 call there
 * HAL_PWREx_ConfigSupply for the external source and HAL_PWREx_ControlVoltageScaling. Set the pin before VOS, which tells the
 * chip that it may rely on the voltage. */
static void set_supply(void)
{
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, N6_SMPS_PORT_ENABLE | N6_RCC_AHB4ENR_PWREN);
    n6_modify(N6_PWR_CR1, N6_PWR_CR1_SDEN, 0u);
    N6_REG32(N6_SMPS_PORT_BASE + N6_GPIO_BSRR_OFFSET) = 1u << (N6_CLOCK_OVERDRIVE ? N6_SMPS_PIN : N6_SMPS_PIN + 16u);
    n6_modify(N6_SMPS_PORT_BASE + N6_GPIO_MODER_OFFSET, 3u << (2u * N6_SMPS_PIN), MODE_OUTPUT << (2u * N6_SMPS_PIN));
    n6_delay_us(SUPPLY_SETTLES_US);
    n6_modify(N6_PWR_VOSCR, N6_PWR_VOSCR_VOS, N6_CLOCK_OVERDRIVE ? N6_PWR_VOSCR_VOS : 0u);
    /* Some external regulators never report ready: the time must be long enough. */
    (void)n6_wait_for(N6_PWR_VOSCR, N6_PWR_VOSCR_VOSRDY, N6_PWR_VOSCR_VOSRDY, POLLS);
}
#endif

#if N6_CLOCK_FROM_PLLS
#define FROM_DIVIDERS 3

typedef struct {
    uint32_t cfgr;
    uint32_t enable;
    uint32_t source, divider;
} divider_t;

/* Start supply, oscillators, dividers, as SystemClock_Config in ST's projects. A divider's source must run when selected. */
bool n6_clock_start(void)
{
    static const pll_t plls[] = {N6_CLOCK_PLLS};
    static const divider_t dividers[] = {N6_CLOCK_DIVIDERS};
#ifdef N6_SMPS_PIN
    set_supply();
#endif
    for (uint32_t i = 0; i < sizeof plls / sizeof plls[0]; i++) {
        if (!start_pll(&plls[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < sizeof dividers / sizeof dividers[0]; i++) {
        N6_REG32(dividers[i].cfgr) =
            N6_FIELD(N6_RCC_IC1CFGR_INT, dividers[i].divider - 1u) | N6_FIELD(N6_RCC_IC1CFGR_SEL, dividers[i].source);
        n6_enable(N6_RCC_DIVENSR, N6_RCC_DIVENR, dividers[i].enable);
    }
    has_started = true;
    return true;
}

/* Switch CPU and buses to the dividers; IC2, IC6, IC11 must run. Set the AHB prescaler first, or the AHB would be too fast. */
bool n6_clock_switch(void)
{
    const uint32_t switched = N6_FIELD(N6_RCC_CFGR1_CPUSWS, FROM_DIVIDERS) | N6_FIELD(N6_RCC_CFGR1_SYSSWS, FROM_DIVIDERS);
    cpu_mhz = N6_CPU_HZ / MHZ;
    n6_modify(N6_RCC_CFGR2, N6_RCC_CFGR2_HPRE, N6_FIELD(N6_RCC_CFGR2_HPRE, N6_CLOCK_AHB_SHIFT));
    n6_modify(N6_RCC_CFGR1, 0u, N6_FIELD(N6_RCC_CFGR1_CPUSW, FROM_DIVIDERS) | N6_FIELD(N6_RCC_CFGR1_SYSSW, FROM_DIVIDERS));
    return n6_wait_for(N6_RCC_CFGR1, N6_RCC_CFGR1_CPUSWS | N6_RCC_CFGR1_SYSSWS, switched, POLLS);
}
#else
bool n6_clock_start(void)
{
    return true; /* n6_clock_use_hsi has set the clocks */
}

bool n6_clock_switch(void)
{
    return true;
}
#endif

#if N6_XSPI_FROM_PLL1
#define XSPI2_FROM_IC3 2

bool n6_clock_start_xspi(uint32_t divider)
{
    static const pll_t pll1 = N6_CLOCK_PLL1;
    if (!has_started && !start_pll(&pll1)) {
        return false;
    }
    N6_REG32(N6_RCC_IC3CFGR) = N6_FIELD(N6_RCC_IC3CFGR_INT, divider - 1u);
    n6_enable(N6_RCC_DIVENSR, N6_RCC_DIVENR, N6_RCC_DIVENR_IC3EN);
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, N6_FIELD(N6_RCC_CCIPR6_XSPI2SEL, XSPI2_FROM_IC3));
    return true;
}
#else
bool n6_clock_start_xspi(uint32_t divider)
{
    (void)divider; /* in XSPI2 */
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI2SEL, 0u); /* HCLK */
    return true;
}
#endif

N6_WEAK void n6_delay_us(uint32_t microseconds)
{
    /* One turn takes at least one cycle, in the best case of loop buffers and branch prediction. */
    uint32_t turns = microseconds * cpu_mhz;
    if (turns != 0u) {
        __asm volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(turns)::"cc");
    }
}
