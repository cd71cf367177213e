/* SPDX-License-Identifier: Apache-2.0
 *
 * The only code of the firmware that a confined model may run: exits by SVC, and the table of functions that it may call.
 */
#ifndef N6_CONFINE_GATE_H
#define N6_CONFINE_GATE_H

#include <stdint.h>

/* The SVC numbers. */
#define N6_GATE_RETURN 0u
#define N6_GATE_CLEAN 1u
#define N6_GATE_INVALIDATE 2u
#define N6_GATE_CLEAN_INVALIDATE 3u

/* The first byte of the gate, and the first byte after it. */
extern const uint8_t n6_gate_start[];
extern const uint8_t n6_gate_end[];

/* Write r4 to CONTROL and run the function in r3. Its end is an SVC with N6_GATE_RETURN. */
void n6_gate_enter(void);

#endif
