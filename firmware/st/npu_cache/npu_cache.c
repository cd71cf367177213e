/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_cache.h"

#include "n6_npu.h"
#include "n6_reg.h"
#include "n6_soc_npu.h"

#define POLLS 100000u

/* Enable the cache again; n6_npu_enable has already enabled it. */
void npu_cache_enable(void)
{
    n6_modify(N6_CACHEAXI_CR1, 0u, N6_CACHEAXI_CR1_EN);
}

void npu_cache_disable(void)
{
    n6_modify(N6_CACHEAXI_CR1, N6_CACHEAXI_CR1_EN, 0u);
}

void npu_cache_invalidate(void)
{
    n6_modify(N6_CACHEAXI_CR1, 0u, N6_CACHEAXI_CR1_CACHEINV);
    (void)n6_wait_for(N6_CACHEAXI_SR, N6_CACHEAXI_SR_BUSYF, 0u, POLLS);
}

/* Clean a range. The lines are invalidated too, which costs only the time for a new read. */
void npu_cache_clean_range(uint32_t start, uint32_t end)
{
    npu_cache_clean_invalidate_range(start, end);
}

void npu_cache_clean_invalidate_range(uint32_t start, uint32_t end)
{
    if (start < end) {
        (void)n6_npu_cache_clean_invalidate(start, end - start);
    }
}
