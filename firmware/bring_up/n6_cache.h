/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches of the Cortex-M55. Ranges are widened to whole lines of N6_CACHE_LINE bytes. The functions with a range are weak: a
 * program can replace all maintenance by functions of these names, for example with calls of CMSIS.
 */
#ifndef N6_CACHE_H
#define N6_CACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void n6_caches_enable(void);
/* Write dirty lines back, then switch both caches off. */
void n6_caches_disable(void);

/* Write data of the CPU to memory, before another master reads it. */
void n6_dcache_clean(uintptr_t address, uint32_t bytes);
/* Discard cached data, after another master wrote the memory. Data of the CPU not yet written back is lost. */
void n6_dcache_invalidate(uintptr_t address, uint32_t bytes);
void n6_dcache_clean_invalidate(uintptr_t address, uint32_t bytes);

/* Discard cached instructions, after code was written to memory and cleaned. */
void n6_icache_invalidate(void);

#ifdef __cplusplus
}
#endif

#endif
