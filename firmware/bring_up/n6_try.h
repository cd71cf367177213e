/* SPDX-License-Identifier: Apache-2.0
 *
 * Trial of a function that may be broken, for example code not built with this program. If it faults or does not end, the
 * program continues after the call.
 */
#ifndef N6_TRY_H
#define N6_TRY_H

#include <stdbool.h>
#include <stdint.h>

/* Run a function. Return false, after a message on the console, if it faulted or took longer than `milliseconds`. Do not nest
 * calls. Changes of the function to memory remain. */
bool n6_try(void (*function)(void *argument), void *argument, uint32_t milliseconds);

/* For exception handlers: return true during a trial. */
bool n6_try_is_active(void);

/* For exception handlers: end the trial. */
_Noreturn void n6_try_give_up(void);

/* The handler of SysTick. */
void n6_try_tick(void);

#endif
