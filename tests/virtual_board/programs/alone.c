/* SPDX-License-Identifier: Apache-2.0
 *
 * A program without boot ROM, NOR and bring-up code: a vector table and the action named by -DDOES=.
 */
#include <stdint.h>

#include "n6_soc.h"

#include "finish.h"

#define NOTHING 0
#define SLEEP_FIRST 1
#define FAULT_WITHOUT_HANDLER 2
#define FAULT_IN_HANDLER 3
#define JUMP_NOWHERE 4
#define SPEAK_WITHOUT_PIN 6
#define SPEAK_WITHOUT_CLOCK 7
#define SLEEP_FOR_EVER 8
#define LOOP_FOR_EVER 9
#define COMPARE_COUNTERS 10
#define COUNT_WITHOUT_TRACE 11
#define COUNT_DISABLED 12
#define COMPARE_TIMER 13
#define TOUCH_UNMODELLED 14
#define RESET_ONCE 15
#define START_BAD_PLL 16
#define SELECT_ZERO 17
#define RUN_INTO_REGISTERS 18

#define EXIT_STATUS 9

void reset(void);
void handler(void);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {
    STACK_TOP,
    (uintptr_t)reset,
#if DOES == FAULT_IN_HANDLER
    [3] = (uintptr_t)handler,
#endif
};

void handler(void)
{
    __asm volatile("udf #2"); /* SECOND FAULT */
}

static void start_ticks(uint32_t count)
{
    REG(0xE000E014) = count;
    REG(0xE000E018) = 0;
    REG(0xE000E010) = 7;
}

/* Wait for 64000 ticks of SysTick, without taking its interrupt. */
static void sleep(void)
{
    __asm volatile("cpsid i");
    start_ticks(64000);
    __asm volatile("wfi");
    REG(0xE000E010) = 0;
}

static void count_cycles(void)
{
    REG(N6_DCB_DEMCR) = N6_DCB_DEMCR_TRCENA;
    REG(N6_DWT_CTRL) = N6_DWT_CTRL_CYCCNTENA;
}

/* Return the cycles counted in a loop. */
static uint32_t counted(void)
{
    uint32_t before = REG(N6_DWT_CYCCNT);
    for (volatile uint32_t i = 0; i < 100; i++) {
    }
    return REG(N6_DWT_CYCCNT) - before;
}

/* Return 0 if TIM2, which has the CPU's clock after reset, agrees with the cycle counter. */
static uint32_t compare_timer(void)
{
    count_cycles();
    REG(N6_RCC_APB1ENSR1) = N6_RCC_APB1ENR1_TIM2EN;
    REG(N6_TIM2_PSC) = 9;
    REG(N6_TIM2_ARR) = 0xffffffff;
    REG(N6_TIM2_EGR) = N6_TIM_EGR_UG;
    REG(N6_TIM2_CR1) = N6_TIM_CR1_CEN;
    uint32_t ticks = REG(N6_TIM2_CNT), cycles = REG(N6_DWT_CYCCNT);
    for (volatile uint32_t i = 0; i < 10000; i++) {
    }
    ticks = REG(N6_TIM2_CNT) - ticks;
    cycles = REG(N6_DWT_CYCCNT) - cycles;
    return cycles < 10000u || ticks * 10u - cycles + 40u > 80u;
}

/* Return 0 if a system reset clears registers. The mark in RAM, which survives a reset, shows the second start. */
static uint32_t reset_once(void)
{
    volatile uint32_t *mark = (volatile uint32_t *)0x341E0000;
    if (*mark == 0x600DF00D) {
        return REG(N6_RCC_APB1ENR1) != 0;
    }
    *mark = 0x600DF00D;
    REG(N6_RCC_APB1ENSR1) = N6_RCC_APB1ENR1_TIM2EN;
    __asm volatile("dsb");
    REG(N6_SCB_AIRCR) = 0x05FA0000 | N6_SCB_AIRCR_SYSRESETREQ;
    for (;;) {
    }
}

/* Return 0 if a PLL that multiplies too far never becomes ready. */
static uint32_t start_bad_pll(void)
{
    REG(N6_RCC_PLL1CFGR2) = 0u;
    REG(N6_RCC_PLL1CFGR1) = 4u << N6_RCC_PLL1CFGR1_DIVM_POS | 750u << N6_RCC_PLL1CFGR1_DIVN_POS;
    REG(N6_RCC_CSR) = N6_RCC_CR_PLL1ON;
    return REG(N6_RCC_SR) & N6_RCC_SR_PLL1RDY;
}

/* Return 0 if SysTick and the cycle counter agree, within the instructions between two readings. */
static uint32_t compare_counters(void)
{
    __asm volatile("cpsid i");
    count_cycles();
    start_ticks(0xffffff);
    uint32_t ticks = REG(0xE000E018), cycles = REG(0xE0001004);
    for (volatile uint32_t i = 0; i < 10000; i++) {
    }
    ticks = (ticks - REG(0xE000E018)) & 0xffffff; /* It counts down. */
    cycles = REG(0xE0001004) - cycles;
    REG(0xE000E010) = 0;
    return cycles < 10000u || ticks - cycles + 20u > 40u;
}

static void speak(void)
{
    REG(N6_USART1_BRR) = 556;
    REG(N6_USART1_CR1) = N6_USART1_CR1_UE | N6_USART1_CR1_TE;
    REG(N6_USART1_TDR) = '!'; /* SPEAK */
}

/* Return 0 if a constant of 0 is still 0 after an instruction that selects between zr and a register. */
static uint32_t select_zero(void)
{
    int32_t selected, zero;

    __asm volatile("cmp %[one], #1\n"
                   "csneg %[selected], zr, %[seven], gt\n"
                   "mov %[zero], #0\n"
                   : [selected] "=&r"(selected), [zero] "=&r"(zero)
                   : [one] "r"(1), [seven] "r"(7)
                   : "cc");
    return selected == -7 && zero == 0 ? 0 : EXIT_STATUS;
}

void reset(void)
{
    uint32_t status = EXIT_STATUS;

    switch (DOES) {
    case SLEEP_FIRST:
        sleep();
        break;
    case FAULT_WITHOUT_HANDLER:
    case FAULT_IN_HANDLER:
        __asm volatile("udf #1"); /* FAULT */
        break;
    case JUMP_NOWHERE:
        ((void (*)(void))0x20200001)(); /* JUMP */
        break;
    case SPEAK_WITHOUT_PIN:
        REG(N6_RCC_APB2ENSR) = N6_RCC_APB2ENR_USART1EN;
        speak();
        break;
    case SPEAK_WITHOUT_CLOCK:
        speak();
        break;
    case SLEEP_FOR_EVER:
        for (;;) {
            __asm volatile("wfi");
        }
    case LOOP_FOR_EVER:
        for (;;) {
        }
    case COMPARE_COUNTERS:
        status = compare_counters();
        break;
    case COUNT_WITHOUT_TRACE:
        REG(N6_DWT_CTRL) = N6_DWT_CTRL_CYCCNTENA;
        status = counted();
        break;
    case COUNT_DISABLED:
        REG(N6_DCB_DEMCR) = N6_DCB_DEMCR_TRCENA;
        status = counted();
        break;
    case COMPARE_TIMER:
        status = compare_timer();
        break;
    case TOUCH_UNMODELLED:
        REG(N6_RCC_AHB3ENSR) = N6_RCC_AHB3ENR_RNGEN;
        REG(N6_RNG_BASE) = 4; /* WRITE */
        REG(N6_RNG_BASE) = 4;
        status = REG(N6_RNG_BASE) != 4;
        break;
    case RESET_ONCE:
        status = reset_once();
        break;
    case START_BAD_PLL:
        status = start_bad_pll();
        break;
    case RUN_INTO_REGISTERS:
        /* The first half of an instruction of 32 bits, in front of a RAM that is off. */
        *(volatile uint16_t *)0x341FFFFEu = 0xF3AFu;
        ((void (*)(void))0x341FFFFFu)();
        break;
    case SELECT_ZERO:
        status = select_zero();
        break;
    }
    finish(status);
}
