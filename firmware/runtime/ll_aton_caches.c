/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU's D-cache, maintained by the bring-up code. On a host, which runs networks for tests, these functions do nothing.
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
