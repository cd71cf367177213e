/* SPDX-License-Identifier: Apache-2.0
 *
 * Cache functions that loaders call in a firmware, under the names of all releases. They do nothing: the CPU always sees RAM
 * here.
 */
#include <stdint.h>

#define NOTHING(name) \
    void name(uint32_t start, uint32_t end); \
    void name(uint32_t start, uint32_t end) \
    { \
        (void)start; \
        (void)end; \
    }

NOTHING(mcu_cache_clean_range)
NOTHING(mcu_cache_invalidate_range)
NOTHING(mcu_cache_clean_invalidate_range)
NOTHING(npu_cache_invalidate)
NOTHING(npu_cache_clean_range)
NOTHING(npu_cache_clean_invalidate_range)
NOTHING(LL_ATON_Cache_MCU_Clean_Range)
NOTHING(LL_ATON_Cache_MCU_Invalidate_Range)
NOTHING(LL_ATON_Cache_MCU_Clean_Invalidate_Range)
