/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches of the Cortex-M55. Ranges are widened to whole lines of N6_CACHE_LINE bytes. Those by range are weak: a program that has
 * functions of these names, such as calls of CMSIS, has all maintenance done by them.
 */
#ifndef N6_CACHE_H
#define N6_CACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void n6_caches_enable(void);
/* Writes dirty lines back, then switches both caches off. */
void n6_caches_disable(void);

/* Memory gets what the CPU wrote: before somebody else reads it. */
void n6_dcache_clean(uintptr_t address, uint32_t bytes);
/* The CPU forgets what it read: after somebody else wrote it. What the CPU wrote there is lost. */
void n6_dcache_invalidate(uintptr_t address, uint32_t bytes);
void n6_dcache_clean_invalidate(uintptr_t address, uint32_t bytes);

/* After code was written to memory, and cleaned. */
void n6_icache_invalidate(void);

#ifdef __cplusplus
}
#endif

#endif
