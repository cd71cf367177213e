/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_NPU_H
#define N6_NPU_H

#include <stdbool.h>
#include <stdint.h>

/* Clock and reset of the NPU, its cache (CACHEAXI) on, clocks kept in Sleep. False where the cache stays busy. */
bool n6_npu_enable(void);

/* The NPU as bus master: compartment 1, secure, privileged; its registers likewise. Without it the NPU reads zeros. */
void n6_npu_open_rif(void);

/* Writes back what the NPU's cache holds of a range, and forgets it. Only external memory lies behind that cache: before the CPU
 * writes what the NPU has used there, and before it reads what the NPU has written. False where the cache stays busy. */
bool n6_npu_cache_clean_invalidate(uintptr_t address, uint32_t bytes);

#endif
