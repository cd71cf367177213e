/* SPDX-License-Identifier: Apache-2.0
 *
 * What exception handlers have to know of code that runs unprivileged, where a program has such code (N6_CONFINE).
 */
#ifndef N6_UNPRIVILEGED_H
#define N6_UNPRIVILEGED_H

#include <stdint.h>

/* Handler of SVC. */
void n6_unprivileged_call(void);

/* It may have faulted, which the console is told of next. cause: CFSR. */
void n6_unprivileged_fault(uint32_t cause);

/* In a handler: threads are privileged again. */
static inline void n6_end_unprivileged(void)
{
    uint32_t control;
    __asm volatile("mrs %0, control\n\t"
                   "bic %0, %0, #1\n\t"
                   "msr control, %0\n\t"
                   "isb"
                   : "=&r"(control)
                   :
                   : "memory");
}

#endif
