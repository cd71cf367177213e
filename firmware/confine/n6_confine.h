/* SPDX-License-Identifier: Apache-2.0
 *
 * Unprivileged execution of a relocatable model's code. The MPU limits it to its own memory and to the functions that it may
 * call. Its results are checked before privileged code uses them.
 */
#ifndef N6_CONFINE_H
#define N6_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ll_aton_reloc_network.h"

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

/* The memory that a model may access. */
typedef struct {
    n6_confine_span_t spans[N6_CONFINE_SPANS];
    uint32_t count;
} n6_confine_t;

/* Add a span, widened to whole cache lines. An empty span adds nothing. Return false if it overlaps a span with other rights, or
 * if there are too many spans. */
bool n6_confine_add(n6_confine_t *confine, n6_confine_span_t span);

/* Return true if the whole range is in one span. */
bool n6_confine_reaches(const n6_confine_t *confine, uint32_t address, uint32_t bytes, bool writes);

/* Return the spans of an installed instance. The Appli defines this function. */
const n6_confine_t *n6_confine_of(const NN_Instance_TypeDef *instance);

/* The functions that a model may call. Its context points to this table. */
extern const ll_aton_reloc_callbacks n6_confine_callbacks;

/* Run a function that calls code of models, in a new trial unless one is active. If it faults or does not end in N6_CONFINE_MS,
 * print the error and reset the chip. */
void n6_confine_run(void (*function)(void *argument), void *argument);

/* Call a function of the model, with three arguments and its static base, as in n6_confine_run(). */
uint32_t n6_confine_call(const n6_confine_t *confine, const uint32_t arguments[3], uintptr_t function, uintptr_t base);

/* Check a model's list of inputs or outputs. Fail like n6_confine_run() if a buffer is not in the model's memory. */
const LL_Buffer_InfoTypeDef *n6_confine_check_buffers(const n6_confine_t *confine, const LL_Buffer_InfoTypeDef *list);

/* Return true if the last fault was a model's access to foreign memory, or a forbidden request. Clear that state. */
bool n6_confine_broke_out(void);

#endif
