/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of a relocatable model: it passes calls to the firmware, through the table that the loader enters in the context.
 * Code of the firmware preserves r9, the model's static base, as the ABI requires.
 */
#include <stddef.h>
#include <stdint.h>

#include "ll_aton_caches_interface.h"
#include "ll_aton_reloc_network.h"

void LL_ATON_Cache_MCU_Clean_Range(uintptr_t address, uint32_t size)
{
    _network_rt_ctx.callbacks->mcu_clean(address, size);
}

void LL_ATON_Cache_MCU_Invalidate_Range(uintptr_t address, uint32_t size)
{
    _network_rt_ctx.callbacks->mcu_invalidate(address, size);
}

void LL_ATON_Cache_MCU_Clean_Invalidate_Range(uintptr_t address, uint32_t size)
{
    _network_rt_ctx.callbacks->mcu_clean_invalidate(address, size);
}

/* Copy bytes. The compiler calls this function by name. The C library's version is not compiled for a static base. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
#if defined(__ARM_FEATURE_MVE)
    if (bytes != 0u) {
        __asm volatile("wlstp.8 lr, %2, 2f\n"
                       "1: vldrb.8 q0, [%1], #16\n"
                       "vstrb.8 q0, [%0], #16\n"
                       "letp lr, 1b\n"
                       "2:\n"
                       : "+r"(out), "+r"(in)
                       : "r"(bytes)
                       : "lr", "q0", "memory");
    }
#else
    for (size_t i = 0; i < bytes; i++) {
        out[i] = in[i];
    }
#endif
    return to;
}
