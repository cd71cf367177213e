/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of a known length, for the profile; -DDOES= selects one.
 */
#include <stdint.h>

#include "n6_soc.h"

#include "finish.h"

#define COMPUTES 1
#define POLLS 2
#define POLLS_WITHOUT_CLOCK 3
#define RUNS_ONCE 4

#define TIMES 1000000u
/* Instructions that do nothing, 2 bytes each. */
#define ONCE 200000

void reset(void);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {STACK_TOP, (uintptr_t)reset};

__attribute__((noinline, used)) static void three_of_four(void)
{
    __asm volatile("mov r0, %0\n1: nop\nnop\nnop\nnop\nsubs r0, #1\nbne 1b" ::"r"(TIMES / 2) : "r0", "cc");
}

__attribute__((noinline, used)) static void one_of_four(void)
{
    __asm volatile("mov r0, %0\n1: nop\nnop\nnop\nnop\nsubs r0, #1\nbne 1b" ::"r"(TIMES / 6) : "r0", "cc");
}

__attribute__((noinline, used)) static void poll(uint32_t address, uint32_t times)
{
    while (times--) {
        (void)REG(address);
    }
}

__attribute__((noinline, used)) static void once(void)
{
#if DOES == RUNS_ONCE
    __asm volatile(".rept %c0\nnop\n.endr" ::"i"(ONCE));
#endif
}

void reset(void)
{
#if DOES == COMPUTES
    three_of_four();
    one_of_four();
#elif DOES == POLLS
    poll(N6_RCC_MEMENR, TIMES);
#elif DOES == POLLS_WITHOUT_CLOCK
    poll(N6_USART1_BRR, TIMES);
#endif
    once();
    finish(0);
}
