/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_STARTUP_H
#define N6_STARTUP_H

#include <stdint.h>

#include "n6_soc_interrupts.h"

/* The first 16 vectors belong to the processor; the first one is the initial stack pointer. */
#define N6_VECTORS (16u + N6_IRQ_COUNT)

typedef void (*n6_vector_t)(void);

/* At the start of the image; the linker script aligns it to 1 KB, as VTOR requires for this many vectors. */
extern const n6_vector_t n6_vectors[N6_VECTORS];

#if N6_FIELD_REPORT
/* MSP, MSPLIM and CONTROL at reset. */
#define N6_STARTUP_STACK_WORDS 3
extern uint32_t n6_startup_stack[N6_STARTUP_STACK_WORDS];
#endif

#endif
