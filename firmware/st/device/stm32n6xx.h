/* SPDX-License-Identifier: Apache-2.0
 *
 * As much of the device header as the sources of ll_aton ask for that become part of a relocatable model, or that load one: which
 * family it is, the state that code is compiled for, and where the NPU is. Used only where no device headers are named; a
 * firmware that drives the caches needs ST's.
 */
#ifndef STM32N6XX_H
#define STM32N6XX_H

#include <stdint.h>

/* The family, which the loader asks for; a surrounding project may have said it. */
#ifndef STM32N6
#define STM32N6
#endif

/* Of the compiler: code for the secure state (-mcmse). By it ll_aton chooses the NPU's address. */
#if defined(__ARM_FEATURE_CMSE) && (__ARM_FEATURE_CMSE == 3)
#define CPU_IN_SECURE_STATE
#endif

#define NPU_BASE_S N6_NPU_SECURE
#define NPU_BASE_NS N6_NPU_NON_SECURE

/* Of CMSIS. */
#define __STATIC_FORCEINLINE __attribute__((always_inline)) static inline

static inline void __DSB(void)
{
    __asm volatile("dsb 0xF" ::: "memory");
}

static inline void __WFE(void)
{
    __asm volatile("wfe");
}

/* Of a loader's firmware. */
void SCB_InvalidateICache_by_Addr(volatile void *address, int32_t bytes);

#endif
