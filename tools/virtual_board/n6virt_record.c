/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Record of the NPU's work in each epoch, one JSON line each.
 *
 *   ,npu-record=FILE
 */
#include "n6virt.h"
#include "n6virt_epochs.h"

#define MOST_WORDS 120

static char *path;
static FILE *record;

static void write_number(const char *name, uint64_t value)
{
    if (value) {
        fprintf(record, ", \"%s\": %" PRIu64, name, value);
    }
}

/* Write [channel, below, above, lost, open, lowest, highest] of each channel with values that the unit's format did not hold. */
static void write_saturated(const N6Npu *npu, uint32_t unit)
{
    N6NpuSaturated found;
    bool is_first = true;

    for (uint32_t channel = 0; (channel = n6npu_next_saturated(npu, unit, channel, &found)) != UINT32_MAX; channel++) {
        if (is_first) {
            fprintf(record, ", \"out_bytes\": %u, \"saturated\": [", n6npu_out_bytes(npu, unit));
        }
        fprintf(record, "%s[%u, %u, %u, %u, %u, %" PRId64 ", %" PRId64 "]", is_first ? "" : ", ", channel, found.below, found.above,
                found.lost, found.open, found.lowest, found.highest);
        is_first = false;
    }
    fputs(is_first ? "" : "]", record);
}

static void write_unit(const N6Npu *npu, uint32_t unit, bool is_first)
{
    const N6NpuUnitWork *work = n6npu_unit_work(npu, unit);
    char what[MOST_WORDS];

    n6npu_describe(npu, unit, what, sizeof(what));
    fprintf(record, "%s{\"unit\": \"%s\", \"what\": \"%s\"", is_first ? "" : ", ", n6npu_unit_name(unit), what);
    write_number("macs", work->macs);
    write_number("elements", work->elements);
    write_number("frames", work->frames);
    if (work->end) {
        fprintf(record, ", \"reads\": %" PRIu64 ", \"writes\": %" PRIu64 ", \"first\": \"0x%08x\", \"end\": \"0x%08x\"", work->reads,
                work->writes, work->first, work->end);
    }
    write_saturated(npu, unit);
    fputc('}', record);
}

void n6virt_record_epoch(const N6Npu *npu, const N6NpuEpoch *epoch)
{
    const N6VirtPlace *place = n6virt_place();
    uint32_t first = n6npu_next_unit(npu, 0);

    if (!record) {
        return;
    }
    if (place) {
        fprintf(record, "{\"network\": %u, \"place\": %u", place->network, place->place);
    } else {
        fprintf(record, "{\"network\": null, \"place\": null");
    }
    fprintf(record, ", \"label\": %u, \"by\": \"%s\", \"instructions\": %" PRId64 ", \"units\": [", epoch->label,
            epoch->by_blob ? "blob" : "registers", n6virt_instructions());
    for (uint32_t unit = first; unit != UINT32_MAX; unit = n6npu_next_unit(npu, unit + 1)) {
        write_unit(npu, unit, unit == first);
    }
    fputs("]}\n", record);
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "npu-record", &path);
}

static void start(void)
{
    record = n6virt_open(path, "w", "the record of the NPU");
}

/* Flush the record: the end of a run need not close files. */
static void summarise(GString *summary)
{
    if (record) {
        fflush(record);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .summarise = summarise};
N6VIRT_MODULE(module)
