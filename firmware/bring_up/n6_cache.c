/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_cache.h"

#include "n6_reg.h"
#include "n6_soc_cpu.h"

static void by_line(uint32_t operation, uintptr_t address, uint32_t bytes)
{
    if (bytes == 0u) {
        return;
    }
    uintptr_t end = address + bytes;
    __asm volatile("dsb 0xf" ::: "memory");
    for (uintptr_t line = address & ~(uintptr_t)(N6_CACHE_LINE - 1u); line < end; line += N6_CACHE_LINE) {
        N6_REG32(operation) = (uint32_t)line;
    }
    n6_barrier();
}

/* Maintain all lines of the level 1 data cache, by set and way (Armv8-M manual, cache maintenance). Always inlined: nothing may
 * be written to the stack between switching the cache off and the end of the loop. The loop would overwrite it with older cache
 * lines. */
__attribute__((always_inline)) static inline void by_set_and_way(uint32_t operation)
{
    N6_REG32(N6_SCB_CSSELR) = 0u;
    __asm volatile("dsb 0xf" ::: "memory");
    uint32_t size = N6_REG32(N6_SCB_CCSIDR);
    uint32_t sets = (size & N6_SCB_CCSIDR_NUMSETS) >> N6_SCB_CCSIDR_NUMSETS_POS;
    uint32_t ways = (size & N6_SCB_CCSIDR_ASSOCIATIVITY) >> N6_SCB_CCSIDR_ASSOCIATIVITY_POS;
    uint32_t way_shift = ways == 0u ? 0u : (uint32_t)__builtin_clz(ways);
    for (uint32_t set = 0; set <= sets; set++) {
        for (uint32_t way = 0; way <= ways; way++) {
            N6_REG32(operation) = way << way_shift | set << 5;
        }
    }
    n6_barrier();
}

void n6_caches_enable(void)
{
    /* Activate the caches in the memory system before enabling them (Cortex-M55 manual, MSCR). */
    n6_modify(N6_MEMSYSCTL_MSCR, 0u, N6_MEMSYSCTL_MSCR_ICACTIVE | N6_MEMSYSCTL_MSCR_DCACTIVE);
    n6_barrier();
    N6_REG32(N6_SCB_ICIALLU) = 0u;
    /* A data cache that is on already may hold the only copy of written data, so do not invalidate it. */
    if ((N6_REG32(N6_SCB_CCR) & N6_SCB_CCR_DC) == 0u) {
        by_set_and_way(N6_SCB_DCISW);
    }
    n6_modify(N6_SCB_CCR, 0u, N6_SCB_CCR_IC | N6_SCB_CCR_DC);
    n6_barrier();
}

void n6_caches_disable(void)
{
    if ((N6_REG32(N6_SCB_CCR) & N6_SCB_CCR_DC) != 0u) {
        n6_modify(N6_SCB_CCR, N6_SCB_CCR_DC, 0u);
        n6_barrier();
        by_set_and_way(N6_SCB_DCCISW);
    }
    n6_modify(N6_SCB_CCR, N6_SCB_CCR_IC, 0u);
    N6_REG32(N6_SCB_ICIALLU) = 0u;
    n6_barrier();
}

N6_WEAK void n6_dcache_clean(uintptr_t address, uint32_t bytes)
{
    by_line(N6_SCB_DCCMVAC, address, bytes);
}

N6_WEAK void n6_dcache_invalidate(uintptr_t address, uint32_t bytes)
{
    by_line(N6_SCB_DCIMVAC, address, bytes);
}

N6_WEAK void n6_dcache_clean_invalidate(uintptr_t address, uint32_t bytes)
{
    by_line(N6_SCB_DCCIMVAC, address, bytes);
}

void n6_icache_invalidate(void)
{
    N6_REG32(N6_SCB_ICIALLU) = 0u;
    n6_barrier();
}
