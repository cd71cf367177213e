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

    if (!n6virt_port_reads(&n6virt_npu_port, n6virt_pc(), values[ADDRESS], data, values[LEN], "")) {
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
        n6virt_port_writes(&n6virt_npu_port, n6virt_pc(), values[ADDRESS], data, values[LEN], "");
    } else {
        values[RESULT] = sum(data);
    }
}

static uint32_t test_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    return values[offset / 4];
}

static void test_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    values[offset / 4] = value;
    if (offset / 4 == START) {
        work(value);
    }
}

static const N6VirtModel model = {.read = test_read, .write = test_write};

static void start(void)
{
    n6virt_npu_add_unit(N6VIRT_TEST_NPU, sizeof(values), &model);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
