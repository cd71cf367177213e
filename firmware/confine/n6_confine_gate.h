/* SPDX-License-Identifier: Apache-2.0
 *
 * The only code of the firmware that a confined model may run: ways out by SVC, and the table of what it may call.
 */
#ifndef N6_CONFINE_GATE_H
#define N6_CONFINE_GATE_H

#include <stdint.h>

/* Numbers of SVC. */
#define N6_GATE_RETURN 0u
#define N6_GATE_CLEAN 1u
#define N6_GATE_INVALIDATE 2u
#define N6_GATE_CLEAN_INVALIDATE 3u

/* Its first byte, and the first behind it. */
extern const uint8_t n6_gate_start[];
extern const uint8_t n6_gate_end[];

/* Runs r3 with what r4 is in CONTROL, and comes out as N6_GATE_RETURN. */
void n6_gate_enter(void);

#endif
