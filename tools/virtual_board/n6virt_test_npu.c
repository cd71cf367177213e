/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The test NPU: registers of our own, in the last 4 KiB of the NPU's, where the chip has no unit: SRC +0, LEN +4, START +8,
 * RESULT +0xC. START sums LEN bytes at SRC as the NPU would see them.
 */
#include "n6virt.h"

#define MAX_BYTES (8u << 20)

static uint32_t values[4];

bool n6virt_npu_may_access(void)
{
    uint32_t wanted = N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV | 1u << N6_RIFSC_RIMC_ATTR1_MCID_POS;

    return n6virt_get(N6_RIFSC_RIMC_ATTR1) == wanted && n6virt_has(N6_RIFSC_SECCFGR3, N6_RIFSC_SECCFGR3_NPU) &&
           n6virt_has(N6_RIFSC_PRIVCFGR3, N6_RIFSC_PRIVCFGR3_NPU);
}

static uint32_t sum_of(uint32_t source, uint32_t bytes)
{
    g_autofree uint8_t *data = NULL;
    uint32_t sum = 0, stale = 0, first = 0;

    if (!n6virt_npu_may_access()) {
        n6virt_finding("rif", source, "the NPU reads zeros from 0x%08x: RIF does not let it (RIFSC RIMC_ATTR1, SECCFGR3, PRIVCFGR3)",
                       source);
        return 0;
    }
    if (bytes > MAX_BYTES) {
        return 0;
    }
    data = g_malloc0(bytes);
    if (!n6virt_master_read(source, data, bytes, &stale, &first)) {
        return 0;
    }
    if (stale) {
        n6virt_finding("stale-cache", first, "the NPU reads %u stale cache lines, the first at 0x%08x: not cleaned since the CPU wrote them",
                       stale, first);
    }
    for (uint32_t i = 0; i < bytes; i++) {
        sum += data[i];
    }
    return sum;
}

bool n6virt_test_npu_is_at(uint32_t offset)
{
    return offset - N6VIRT_TEST_NPU < sizeof(values);
}

uint32_t n6virt_test_npu_read(uint32_t offset)
{
    return values[(offset - N6VIRT_TEST_NPU) / 4];
}

void n6virt_test_npu_write(uint32_t offset, uint32_t value)
{
    unsigned index = (offset - N6VIRT_TEST_NPU) / 4;

    values[index] = value;
    if (index == 2) {
        values[3] = sum_of(values[0], values[1]);
    }
}
