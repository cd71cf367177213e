/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The NPU's own cache. It holds nothing here, so its commands complete at once.
 */
#include "n6virt.h"

static void cacheaxi_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    uint32_t done = 0;

    switch (offset) {
    case N6_CACHEAXI_SR_OFFSET:
        return;
    case N6_CACHEAXI_FCR_OFFSET:
        n6virt_set(N6_CACHEAXI_SR, n6virt_get(N6_CACHEAXI_SR) & ~value);
        return;
    case N6_CACHEAXI_CR1_OFFSET:
        done = value & N6_CACHEAXI_CR1_CACHEINV ? N6_CACHEAXI_SR_BSYENDF : 0;
        value &= ~N6_CACHEAXI_CR1_CACHEINV;
        break;
    case N6_CACHEAXI_CR2_OFFSET:
        done = value & N6_CACHEAXI_CR2_STARTCMD ? N6_CACHEAXI_SR_CMDENDF : 0;
        value &= ~N6_CACHEAXI_CR2_STARTCMD;
        break;
    }
    n6virt_set(block->base + offset, value);
    n6virt_set(N6_CACHEAXI_SR, n6virt_get(N6_CACHEAXI_SR) | done);
}

static const N6VirtModel cacheaxi = {
    .write = cacheaxi_write,
    .registers = (const uint32_t[]){N6_CACHEAXI_CR1_OFFSET, N6_CACHEAXI_SR_OFFSET, N6_CACHEAXI_IER_OFFSET, N6_CACHEAXI_FCR_OFFSET,
                                    N6_CACHEAXI_CR2_OFFSET, N6_CACHEAXI_CMDRSADDRR_OFFSET, N6_CACHEAXI_CMDREADDRR_OFFSET,
                                    N6VIRT_END},
};

static void start(void)
{
    n6virt_model(N6_CACHEAXI_BASE, &cacheaxi);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
