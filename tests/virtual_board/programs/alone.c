/* SPDX-License-Identifier: Apache-2.0
 *
 * A program without boot ROM, NOR and bring-up code: a vector table and what -DDOES= says.
 */
#include <stdint.h>

#include "n6_soc.h"

#define NOTHING 0
#define SLEEP_FIRST 1
#define FAULT_WITHOUT_HANDLER 2
#define FAULT_IN_HANDLER 3
#define JUMP_NOWHERE 4
#define CLEAN_BY_SET_AND_WAY 5
#define SPEAK_WITHOUT_PIN 6
#define SPEAK_WITHOUT_CLOCK 7
#define SLEEP_FOR_EVER 8
#define LOOP_FOR_EVER 9
#define COMPARE_COUNTERS 10

#define REG(address) (*(volatile uint32_t *)(address))
#define STACK_TOP 0x341F0000u
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

/* Semihosting, SYS_EXIT_EXTENDED: reason ADP_Stopped_ApplicationExit and a status. */
static _Noreturn void finish(uint32_t status)
{
    const uint32_t block[] = {0x20026, status};
    register uint32_t operation __asm("r0") = 0x20;
    register const uint32_t *argument __asm("r1") = block;
    __asm volatile("bkpt 0xab" ::"r"(operation), "r"(argument) : "memory");
    for (;;) {
    }
}

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

/* Waits for 64000 ticks of SysTick, without its interrupt being taken. */
static void sleep(void)
{
    __asm volatile("cpsid i");
    start_ticks(64000);
    __asm volatile("wfi");
    REG(0xE000E010) = 0;
}

/* 0 where SysTick and the cycle counter tell the same time, give or take the instructions between two readings. */
static uint32_t compare_counters(void)
{
    __asm volatile("cpsid i");
    start_ticks(0xffffff);
    uint32_t ticks = REG(0xE000E018), cycles = REG(0xE0001004);
    for (volatile uint32_t i = 0; i < 10000; i++) {
    }
    ticks = (ticks - REG(0xE000E018)) & 0xffffff; /* It counts down. */
    cycles = REG(0xE0001004) - cycles;
    REG(0xE000E010) = 0;
    return cycles < 10000u || ticks - cycles + 20u > 40u;
}

static void power_axisram3(void)
{
    REG(N6_RCC_AHB2ENSR) = N6_RCC_AHB2ENR_RAMCFGEN;
    REG(N6_RCC_MEMENSR) = N6_RCC_MEMENR_AXISRAM3EN;
    REG(N6_RAMCFG_SRAM3_CR) = 0;
}

static void clean_by_set_and_way(void)
{
    power_axisram3();
    REG(N6_AXISRAM3_BASE) = 1;
    for (uint32_t set = 256; set-- > 0;) {
        for (uint32_t way = 4; way-- > 0;) {
            REG(N6_SCB_DCCSW) = way << 30 | set << 5;
        }
    }
}

static void speak(void)
{
    REG(N6_USART1_BRR) = 556;
    REG(N6_USART1_CR1) = N6_USART1_CR1_UE | N6_USART1_CR1_TE;
    REG(N6_USART1_TDR) = '!'; /* SPEAK */
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
    case CLEAN_BY_SET_AND_WAY:
        clean_by_set_and_way();
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
    }
    finish(status);
}
