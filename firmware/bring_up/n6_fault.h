/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program says when it can do nothing else. Prints on the console, then sleeps for ever.
 */
#ifndef N6_FAULT_H
#define N6_FAULT_H

#include <stdint.h>

/* Defined by each program: "fsbl" or "appli". */
extern const char n6_program[];

/* Handler of HardFault, to which all other faults escalate: cause registers, address and program counter. Runs on a stack
 * of its own, since the program's may be what broke. */
void n6_hard_fault(void);

/* Handler of every vector that the program does not use. */
void n6_unexpected_interrupt(void);

_Noreturn void n6_sleep_for_ever(void);

#endif
