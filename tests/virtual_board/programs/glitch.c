/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that ends with a sum, for tests/virtual_board/test_glitch.py. Labels are at the instructions that a test glitches.
 */
#include <stdint.h>

#include "finish.h"

void reset(void);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {STACK_TOP, (uintptr_t)reset};

void reset(void)
{
    register uint32_t sum __asm("r0");

    __asm volatile("movs r0, #0\n"
                   "movs r2, #3\n"
                   "1: at_add: adds r0, #1\n"
                   "subs r2, #1\n"
                   "at_branch: bne 1b\n"
                   "cmp r2, #0\n"
                   "itet eq\n"
                   "at_first: addeq r0, #16\n"
                   "addne r0, #64\n"
                   "at_last: addeq r0, #32\n"
                   "at_wide: add.w r0, r0, #128\n"
                   : "=r"(sum)::"r2", "cc");
    finish(sum);
}
