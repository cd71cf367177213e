/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the code of a relocatable model unprivileged: under the MPU it reaches its own memory and what it may call, and nothing else.
 * What it returns is checked before privileged code uses it.
 */
#ifndef N6_CONFINE_H
#define N6_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ll_aton_reloc_network.h"

/* Regions of the MPU, less those of the model's stack and of its ways out. */
#define N6_CONFINE_SPANS 14u

/* No installation, and no inference that an application can use, takes longer. */
#define N6_CONFINE_MS 10000u

/* [start, end), both multiples of a cache line. */
typedef struct {
    uint32_t start;
    uint32_t end;
    bool is_writable;
    bool is_executable;
} n6_confine_span_t;

/* What a model may reach. */
typedef struct {
    n6_confine_span_t spans[N6_CONFINE_SPANS];
    uint32_t count;
} n6_confine_t;

/* Lines of which only a part is the model's are given to it whole. Nothing for no bytes. False where they lie in a span with other
 * rights, or there are too many. */
bool n6_confine_add(n6_confine_t *confine, n6_confine_span_t span);

/* Whether all of it is in one span. */
bool n6_confine_reaches(const n6_confine_t *confine, uint32_t address, uint32_t bytes, bool writes);

/* Of an instance that was installed: the Appli knows. */
const n6_confine_t *n6_confine_of(const NN_Instance_TypeDef *instance);

/* What the model may call; its code finds the table in its context. */
extern const ll_aton_reloc_callbacks n6_confine_callbacks;

/* Runs what calls code of models, in a trial of its own unless one is under way. Where that faults, or has not ended after some seconds,
 * the console says so and the chip is reset. */
void n6_confine_run(void (*function)(void *argument), void *argument);

/* Calls a function of the model, with three arguments and its static base, as n6_confine_run(). */
uint32_t n6_confine_call(const n6_confine_t *confine, const uint32_t arguments[3], uintptr_t function, uintptr_t base);

/* The list that a model gave for its inputs or outputs; ends as n6_confine_run() where a buffer is not its own. */
const LL_Buffer_InfoTypeDef *n6_confine_check_buffers(const n6_confine_t *confine, const LL_Buffer_InfoTypeDef *list);

/* Whether what faulted last was a model that went for memory, or asked for something, that is not its own. Forgets it. */
bool n6_confine_broke_out(void);

#endif
