/* SPDX-License-Identifier: Apache-2.0
 *
 * A minimal device header for the sources of ll_aton that become part of a relocatable model, or that load one: the family, the
 * security state of the code, and the address of the NPU. It is used only if no device headers are configured. A firmware that
 * drives the caches needs ST's device headers.
 */
#ifndef STM32N6XX_H
#define STM32N6XX_H

#include <stdint.h>

/* The family, which the loader requires; the host project may define it. */
#ifndef STM32N6
#define STM32N6
#endif

/* Code for the secure state (-mcmse). ll_aton chooses the NPU's address by this macro. */
#if defined(__ARM_FEATURE_CMSE) && (__ARM_FEATURE_CMSE == 3)
#define CPU_IN_SECURE_STATE
#endif

#define NPU_BASE_S N6_NPU_SECURE
#define NPU_BASE_NS N6_NPU_NON_SECURE

/* Definitions of CMSIS. */
#define __STATIC_FORCEINLINE __attribute__((always_inline)) static inline

static inline void __DSB(void)
{
    __asm volatile("dsb 0xF" ::: "memory");
}

static inline void __WFE(void)
{
    __asm volatile("wfe");
}

/* For the firmware of a loader. */
void SCB_InvalidateICache_by_Addr(volatile void *address, int32_t bytes);

#endif
