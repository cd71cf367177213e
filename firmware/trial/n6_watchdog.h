/* SPDX-License-Identifier: Apache-2.0
 *
 * The independent watchdog (IWDG). It counts with the chip's own slow oscillator, independent of the processor. Once started, it
 * stops only at a reset.
 */
#ifndef N6_WATCHDOG_H
#define N6_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* Start the watchdog or set its period, at most N6_WATCHDOG_MAX_MS. It resets the chip unless it is fed within the period. The
 * oscillator is accurate to about 10 %. */
void n6_watchdog_start(uint32_t milliseconds);

/* Restart the period; no effect if the watchdog was not started. */
void n6_watchdog_feed(void);

/* The cause of the last reset. is_program: a request of the software. Both are false after power-on and for the reset pin. */
typedef struct {
    bool is_watchdog;
    bool is_program;
} n6_reset_cause_t;

/* Return the cause of the last reset, and clear it. */
n6_reset_cause_t n6_watchdog_reset_cause(void);

#define N6_WATCHDOG_MAX_MS 131000u

#endif
