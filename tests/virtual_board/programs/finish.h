/* SPDX-License-Identifier: Apache-2.0
 *
 * End of programs that the emulator starts without a boot ROM.
 */
#ifndef FINISH_H
#define FINISH_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define STACK_TOP 0x341F0000u

/* End the run with a status, by semihosting: SYS_EXIT_EXTENDED with the reason ADP_Stopped_ApplicationExit. */
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
