/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Trace of a program's use of the NPU, in order, without times, so that two runs can be compared:
 *
 *   w 0x1b000 0x00000003   the CPU writes a register, by its offset
 *   epoch 0 4              block 4 of network 0 begins
 *   blob 0x70200000        the epoch controller starts; the words of the blob follow, 8 a line
 *   run 7                  an epoch has been computed, by its label; 0 without
 *
 *   ,npu-trace=FILE
 */
#include "n6virt.h"
#include "n6virt_epochs.h"

#include "qemu/bswap.h"

#define WORDS_A_LINE 8

static char *path;
static FILE *trace;

void n6virt_trace_write(uint32_t offset, uint32_t value)
{
    if (trace) {
        fprintf(trace, "w 0x%05x 0x%08x\n", offset, value);
    }
}

void n6virt_trace_blob(uint32_t address, const uint8_t *bytes, uint32_t words)
{
    if (!trace) {
        return;
    }
    fprintf(trace, "blob 0x%08x\n", address);
    for (uint32_t i = 0; i < words; i++) {
        bool ends_line = i % WORDS_A_LINE == WORDS_A_LINE - 1 || i == words - 1;

        fprintf(trace, "0x%08x%c", (uint32_t)ldl_le_p(bytes + 4 * (size_t)i), ends_line ? '\n' : ' ');
    }
}

void n6virt_trace_epoch(const N6NpuEpoch *epoch)
{
    if (trace) {
        fprintf(trace, "run %u\n", epoch->label);
    }
}

void n6virt_trace_place(const N6VirtPlace *place)
{
    if (trace) {
        fprintf(trace, "epoch %u %u\n", place->network, place->place);
    }
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "npu-trace", &path);
}

static void start(void)
{
    trace = n6virt_open(path, "w", "the trace of the NPU");
}

static void summarise(GString *summary)
{
    if (trace) {
        fflush(trace);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .summarise = summarise};
N6VIRT_MODULE(module)
