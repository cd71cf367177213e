/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The test NPU: registers that only the virtual board has, in the last 4 KiB of the NPU's, where the chip has no unit: ADDRESS
 * +0, LEN +4, START +8, RESULT +0xC. START with 1 sums LEN bytes at ADDRESS as the NPU would see them. START with 2 writes the
 * lower byte of RESULT to all of them.
 */
#include "n6virt.h"

#define MAX_BYTES (8u << 20)

enum { ADDRESS, LEN, START, RESULT };
enum { SUM = 1, FILL = 2 };

static uint32_t values[4];

static uint32_t sum(uint8_t *data)
{
    uint32_t result = 0;

    if (!n6virt_npu_reads(n6virt_pc(), values[ADDRESS], data, values[LEN], "")) {
        return 0;
    }
    for (uint32_t i = 0; i < values[LEN]; i++) {
        result += data[i];
    }
    return result;
}

static void work(uint32_t what)
{
    g_autofree uint8_t *data = NULL;

    if (values[LEN] > MAX_BYTES) {
        values[RESULT] = what == FILL ? values[RESULT] : 0;
        return;
    }
    data = g_malloc0(values[LEN]);
    if (what == FILL) {
        memset(data, values[RESULT], values[LEN]);
        n6virt_npu_writes(n6virt_pc(), values[ADDRESS], data, values[LEN], "");
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
