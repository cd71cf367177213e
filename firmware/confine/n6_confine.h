/* SPDX-License-Identifier: Apache-2.0
 *
 * Unprivileged execution of a relocatable model's code. The MPU limits it to its own memory and to the functions that it may
 * call. Its results are checked before privileged code uses them.
 */
#ifndef N6_CONFINE_H
#define N6_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ll_aton_reloc_confine.h"

/* The regions of the MPU, without those of the model's stack and of the gate. */
#define N6_CONFINE_SPANS 14u

/* The time limit for an installation or an inference. Slower models are of no use to an application. */
#define N6_CONFINE_MS 10000u

/* [start, end), both multiples of a cache line. */
typedef struct {
    uint32_t start;
    uint32_t end;
    bool is_writable;
    bool is_executable;
} n6_confine_span_t;

struct n6_confine {
    n6_confine_span_t spans[N6_CONFINE_SPANS];
    uint32_t count;
};

/* Add a span, widened to whole cache lines. An empty span adds nothing. Return false if it overlaps a span with other rights, or
 * if there are too many spans. */
bool n6_confine_add(n6_confine_t *confine, n6_confine_span_t span);

/* Return true if the whole range is in one span. */
bool n6_confine_reaches(const n6_confine_t *confine, uint32_t address, uint32_t bytes, bool writes);

/* Run a function that calls code of models, in a new trial unless one is active. If it faults or does not end in N6_CONFINE_MS,
 * print the error and reset the chip. */
void n6_confine_run(void (*function)(void *argument), void *argument);

/* Return true if the last fault was a model's access to foreign memory, or a forbidden request. Clear that state. */
bool n6_confine_broke_out(void);

#endif
