/* SPDX-License-Identifier: Apache-2.0
 *
 * The independent watchdog (IWDG): counts by the chip's own slow oscillator, whatever the processor does. Once started it ends with a
 * reset only.
 */
#ifndef N6_WATCHDOG_H
#define N6_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* Resets the chip unless it is fed within so much time, by an oscillator that is right to about a tenth. Starts it, or sets another time,
 * at most N6_WATCHDOG_MAX_MS. */
void n6_watchdog_start(uint32_t milliseconds);

/* The time begins anew; nothing where it was not started. */
void n6_watchdog_feed(void);

/* Whether it ended the last run of this chip. Forgets the reason. */
bool n6_watchdog_was_it(void);

#define N6_WATCHDOG_MAX_MS 131000u

#endif
