/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a function that may be broken: code that was not built with this program. Where it faults, or does not end, the program
 * continues after the call.
 */
#ifndef N6_TRY_H
#define N6_TRY_H

#include <stdbool.h>
#include <stdint.h>

/* False where the function faulted or took longer than `milliseconds`; the console says so. Not to be nested. What the function
 * has left in memory stays. */
bool n6_try(void (*function)(void *argument), void *argument, uint32_t milliseconds);

/* For exception handlers: whether a function is being tried. */
bool n6_try_is_active(void);

/* For exception handlers: ends the trial. */
_Noreturn void n6_try_give_up(void);

/* Handler of SysTick. */
void n6_try_tick(void);

#endif
