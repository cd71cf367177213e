/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU's D-cache through the board's bring-up code; a host that runs a network for a test has nothing to maintain.
 */
#include "ll_aton_caches_interface.h"

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#include "n6_cache.h"

void LL_ATON_Cache_MCU_Clean_Range(uintptr_t address, uint32_t size)
{
    n6_dcache_clean(address, size);
}

void LL_ATON_Cache_MCU_Invalidate_Range(uintptr_t address, uint32_t size)
{
    n6_dcache_invalidate(address, size);
}

void LL_ATON_Cache_MCU_Clean_Invalidate_Range(uintptr_t address, uint32_t size)
{
    n6_dcache_clean_invalidate(address, size);
}

#else

void LL_ATON_Cache_MCU_Clean_Range(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

void LL_ATON_Cache_MCU_Invalidate_Range(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

void LL_ATON_Cache_MCU_Clean_Invalidate_Range(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

#endif
