/* SPDX-License-Identifier: Apache-2.0
 *
 * Fault handlers: they print a report on the console, then sleep for ever.
 */
#ifndef N6_FAULT_H
#define N6_FAULT_H

#include <stdint.h>

/* Defined by each program: "fsbl" or "appli". */
extern const char n6_program[];

/* The handler of HardFault, to which all other faults escalate. It prints cause registers, address and program counter. It runs
 * on a separate stack, since the program's stack may be broken. */
void n6_hard_fault(void);

/* The handler of every vector that the program does not use. */
void n6_unexpected_interrupt(void);

_Noreturn void n6_sleep_for_ever(void);

/* Reset the chip by its system reset. */
_Noreturn void n6_reset_chip(void);

#endif
