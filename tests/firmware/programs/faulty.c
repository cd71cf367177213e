/* SPDX-License-Identifier: Apache-2.0
 *
 * An Appli with one fault, named by DOES.
 */
#include <stdint.h>

#include "n6_console.h"
#include "n6_fault.h"

const char n6_program[] = "appli";

#define OUTGROW_THE_STACK 1
#define LOSE_THE_STACK 2
#define RUN_WHAT_IS_NO_INSTRUCTION 3
#define CALL_A_SUPERVISOR 4

#define NOWHERE 0x20200000u

#if DOES == OUTGROW_THE_STACK
__attribute__((noinline)) static uint32_t deeper(uint32_t depth)
{
    volatile uint32_t here[16] = {depth};
    return deeper(depth + 1u) + here[0];
}
#endif

int main(void)
{
    n6_console_open();
#if DOES == OUTGROW_THE_STACK
    (void)deeper(0u);
#elif DOES == LOSE_THE_STACK
    __asm volatile("msr msplim, %0\n\tmov sp, %1\n\tpush {%0}" ::"r"(0), "r"(NOWHERE));
#elif DOES == RUN_WHAT_IS_NO_INSTRUCTION
    __asm volatile("udf #0"); /* FAULT */
#elif DOES == CALL_A_SUPERVISOR
    __asm volatile("svc #0");
#endif
    return 0;
}
