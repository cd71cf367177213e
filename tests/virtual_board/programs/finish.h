/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that the emulator starts by themselves.
 */
#ifndef FINISH_H
#define FINISH_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define STACK_TOP 0x341F0000u

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

#endif
