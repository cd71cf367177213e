/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways in which a program does not go on; -DDOES= names the case.
 */
#include <stdint.h>

#include "n6_soc.h"

#include "finish.h"

#define WAIT_FOR_BIT 0
#define WAIT_FOR_UNMODELLED 1
#define WAIT_FOR_VARIABLE 2
#define SLEEP 3
#define ASSERT 4
#define CALL_ERROR_HANDLER 5
#define FAULT 6
#define LOOP 7
#define OVERFLOW 8
#define OVERFLOW_INTO_VARIABLES 9
#define ABORT 10
#define POLL_TWO 11
#define SPEAK_WELL 12

void reset(void);
void handler(void);
void abort(void);
void __assert_func(const char *file, int line, const char *function, const char *expression);
void Error_Handler(uint32_t status, const char *part);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {
    STACK_TOP,
    (uintptr_t)reset,
    [3] = (uintptr_t)handler,
};

static volatile uint32_t frame_count;
static volatile uint32_t table[4096];

/* Loop for ever. */
#define HANG() \
    for (;;) { \
    }

void handler(void)
{
    HANG();
}

__attribute__((noinline)) void abort(void)
{
    HANG();
}

__attribute__((noinline)) void __assert_func(const char *file, int line, const char *function, const char *expression)
{
    (void)file;
    (void)line;
    (void)function;
    (void)expression;
    abort();
    HANG();
}

__attribute__((noinline)) void Error_Handler(uint32_t status, const char *part)
{
    table[0] = status;
    table[1] = (uint32_t)(uintptr_t)part;
    HANG();
}

__attribute__((noinline)) static void wait_for_bit(void)
{
    while ((REG(N6_RCC_SR) & N6_RCC_SR_PLL4RDY) == 0u) { /* BIT */
    }
}

__attribute__((noinline)) static void wait_for_unmodelled(void)
{
    REG(N6_RCC_AHB3ENSR) = N6_RCC_AHB3ENR_RNGEN;
    while ((REG(N6_RNG_BASE + 4u) & 1u) == 0u) { /* UNMODELLED */
    }
}

__attribute__((noinline)) static void poll_two(void)
{
    REG(N6_RCC_AHB3ENSR) = N6_RCC_AHB3ENR_RNGEN;
    while ((REG(N6_RCC_SR) & N6_RCC_SR_PLL3RDY) == 0u || (REG(N6_RNG_BASE + 4u) & 6u) == 0u) { /* TWO */
        (void)REG(N6_RNG_BASE + 8u);
    }
}

__attribute__((noinline)) static void wait_for_frame(void)
{
    while (frame_count == 0u) { /* VARIABLE */
    }
}

__attribute__((noinline)) static uint32_t read_hole(uint32_t address)
{
    return REG(address) + 1u; /* HOLE */
}

__attribute__((noinline)) static uint32_t read_twice(uint32_t address)
{
    return read_hole(address) + read_hole(address + 4u);
}

__attribute__((noinline)) static uint32_t check_input(uint32_t value)
{
    if (value != 3u) {
        __assert_func("input.c", 42, "check_input", "value == 3");
    }
    return value + 1u;
}

__attribute__((noinline)) static uint32_t recurse(uint32_t depth)
{
    volatile uint32_t local[8] = {depth};
    if (local[0] != depth) {
        return 0u;
    }
    return recurse(depth + 1u) + local[depth % 8u];
}

__attribute__((noinline)) static uint32_t fill(uint32_t depth)
{
    volatile uint32_t local[8] = {depth};
    if (depth == 64u) {
        while (table[0] == table[0]) {
        }
        return 0u;
    }
    return fill(depth + 1u) + local[depth % 8u];
}

static void sleep(void)
{
    REG(N6_NVIC_ISER + N6_IRQ_USART1 / 32u * 4u) = 1u << N6_IRQ_USART1 % 32u;
    for (;;) {
        __asm volatile("wfi");
    }
}

void reset(void)
{
    REG(N6_RCC_AHB3ENSR) = 0u;
    switch (DOES) {
    case WAIT_FOR_BIT:
        wait_for_bit();
        break;
    case WAIT_FOR_UNMODELLED:
        wait_for_unmodelled();
        break;
    case POLL_TWO:
        poll_two();
        break;
    case WAIT_FOR_VARIABLE:
        frame_count = 0u;
        wait_for_frame();
        break;
    case SLEEP:
        sleep();
        break;
    case ASSERT:
        table[0] = check_input(table[1] & 1u); /* INPUT */
        break;
    case ABORT:
        abort();
        break;
    case CALL_ERROR_HANDLER:
        Error_Handler(7u, "camera"); /* ERROR */
        break;
    case FAULT:
        table[0] = read_twice(0x20100000u); /* TWICE */
        break;
    case LOOP:
        HANG(); /* LOOP */
    case OVERFLOW:
        __asm volatile("msr msplim, %0" ::"r"(STACK_TOP - 0x1000u));
        table[0] = recurse(0u);
        break;
    case OVERFLOW_INTO_VARIABLES:
        __asm volatile("mov sp, %0" ::"r"(&table[2048]));
        table[0] = fill(0u);
        break;
    }
    finish(0);
}
