/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_cache.h"

#include "n6_npu.h"
#include "n6_reg.h"
#include "n6_soc_npu.h"

#define POLLS 100000u

/* n6_npu_enable has done it. */
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

/* Lines that are only cleaned would be read from the cache once more: forgetting them costs time and nothing else. */
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
