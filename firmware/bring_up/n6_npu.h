/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_NPU_H
#define N6_NPU_H

#include <stdbool.h>
#include <stdint.h>

/* Clock and reset the NPU, enable its cache (CACHEAXI), keep the clocks in Sleep. Return false if the cache stays busy. */
bool n6_npu_enable(void);

/* Make the NPU a bus master of compartment 1, secure and privileged; its registers likewise. Else the NPU reads zeros. */
void n6_npu_open_rif(void);

/* Clean and invalidate a range in the NPU's cache. Only external memory is behind that cache. Call it before the CPU writes
 * memory that the NPU used, and before the CPU reads memory that the NPU wrote. Return false if the cache stays busy. */
bool n6_npu_cache_clean_invalidate(uintptr_t address, uint32_t bytes);

#endif
