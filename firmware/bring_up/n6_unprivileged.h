/* SPDX-License-Identifier: Apache-2.0
 *
 * Exception handling for unprivileged code, in programs that have such code (N6_CONFINE).
 */
#ifndef N6_UNPRIVILEGED_H
#define N6_UNPRIVILEGED_H

#include <stdint.h>

/* The handler of SVC. */
void n6_unprivileged_call(void);

/* Note a fault, which may be one of unprivileged code, before it is printed on the console. cause: CFSR. */
void n6_unprivileged_fault(uint32_t cause);

/* In a handler: make threads privileged again. */
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
