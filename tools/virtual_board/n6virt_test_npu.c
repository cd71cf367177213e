/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The test NPU: registers of our own, in the last 4 KiB of the NPU's, where the chip has no unit: ADDRESS +0, LEN +4, START +8,
 * RESULT +0xC. START with 1 sums LEN bytes at ADDRESS as the NPU would see them, with 2 writes the lower byte of RESULT to all of
 * them.
 */
#include "n6virt.h"

#define MAX_BYTES (8u << 20)

enum { ADDRESS, LEN, START, RESULT };
enum { SUM = 1, FILL = 2 };

static uint32_t values[4];

static bool is_let(bool writes)
{
    const char *objection = n6virt_rif_objection(N6VIRT_MASTER_NPU, values[ADDRESS], values[LEN], writes);

    if (objection) {
        n6virt_finding("rif", values[ADDRESS], "the NPU %s 0x%08x: RIF does not let it (%s)",
                       writes ? "does not write to" : "reads zeros from", values[ADDRESS], objection);
    }
    return !objection;
}

static uint32_t sum(uint8_t *data)
{
    uint32_t result = 0, stale = 0, first = 0;

    if (!n6virt_master_read(values[ADDRESS], data, values[LEN], &stale, &first)) {
        return 0;
    }
    if (stale) {
        n6virt_finding("stale-cache", first, "the NPU reads %u stale cache lines, the first at 0x%08x: not cleaned since the CPU wrote them",
                       stale, first);
    }
    for (uint32_t i = 0; i < values[LEN]; i++) {
        result += data[i];
    }
    return result;
}

static void fill(uint8_t *data)
{
    uint32_t dirty = 0, first = 0;

    memset(data, values[RESULT], values[LEN]);
    n6virt_master_write(values[ADDRESS], data, values[LEN], &dirty, &first);
    if (dirty) {
        n6virt_finding("dirty-cache", first, "the NPU writes %u cache lines that the CPU has changed, the first at 0x%08x: when they are "
                       "written back, the NPU's data is lost", dirty, first);
    }
}

static void work(uint32_t what)
{
    g_autofree uint8_t *data = NULL;
    bool writes = what == FILL;

    if (values[LEN] > MAX_BYTES || !is_let(writes)) {
        values[RESULT] = writes ? values[RESULT] : 0;
        return;
    }
    data = g_malloc0(values[LEN]);
    if (writes) {
        fill(data);
    } else {
        values[RESULT] = sum(data);
    }
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
    if (index == START) {
        work(value);
    }
}
