/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The NPU on the board. Its registers are those of the model (n6npu.h). Its memory is that of a bus master, RIF and unpowered
 * banks included. Its interrupts go to the processor. Started work is computed at once, but a little later in guest time, when
 * the program has configured everything.
 */
#include "n6virt.h"
#include "n6virt_epochs.h"

#include "n6npu.h"
#include "n6npu_registers.h"

#include "qemu/timer.h"

#define UNIT_BYTES 0x1000u
#define CTRL 0x0u
#define CTRL_EN (1u << 0)
#define LINES 4
/* Guest time from the last register write to the work: a program starts engine after engine. */
#define SETTLES 2000
/* Guest time from the end of the work until the program looks at the NPU: a tenth of a second, and a fraction of one for the
 * host. */
#define ANSWERS_WITHIN 20000000

#define UNITS_OF(name, first, count, version, clock, bit) {first, count, clock, bit},
typedef struct {
    uint32_t first, count;
    char clock; /* 0: it has no gate */
    uint8_t bit;
} Units;

static const Units units[] = {N6VIRT_NPU_UNITS(UNITS_OF)};

static N6Npu *npu;
static QEMUTimer *work, *unanswered;
static uint32_t started_at; /* program counter */

#define GATES(name, clock, offset) {name, clock, offset},
static const struct {
    const char *name;
    char clock;
    uint32_t offset;
} gates[] = {N6VIRT_NPU_GATES(GATES)};

static const Units *units_of(uint32_t unit)
{
    for (unsigned i = 0; i < ARRAY_SIZE(units); i++) {
        if (unit - units[i].first < units[i].count) {
            return &units[i];
        }
    }
    return NULL;
}

/* Report a write to a unit without its clock. ST's runtime opens a unit's gate before it writes to the unit; the chip's
 * reaction to other writes is not documented. */
static void check_clock(uint32_t address)
{
    uint32_t unit = (address - N6_NPU_BASE) / UNIT_BYTES;
    const Units *kind = units_of(unit);
    const char *closed = NULL;

    if (!kind || !kind->clock) {
        return;
    }
    if (!(n6npu_read(npu, N6VIRT_NPU_CLOCKS - N6_NPU_BASE + CTRL) & CTRL_EN)) {
        n6virt_finding("npu", address, "%s is written while CLKCTRL is off, and the NPU has no clocks: set CLKCTRL CTRL EN first",
                       n6npu_unit_name(unit));
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(gates); i++) {
        if (gates[i].clock != kind->clock) {
            continue;
        }
        /* If two registers control one gate, either may open it: the chip's rule is not documented. */
        if (n6npu_read(npu, N6VIRT_NPU_CLOCKS - N6_NPU_BASE + gates[i].offset) >> (kind->bit + unit - kind->first) & 1) {
            return;
        }
        closed = closed ? closed : gates[i].name;
    }
    n6virt_finding("npu", address, "%s is written while its clock gate is closed: open it first (CLKCTRL %s, bit %u)", n6npu_unit_name(unit),
                   closed, kind->bit + unit - kind->first);
}

/* Memory */

const N6VirtPort n6virt_npu_port = {N6VIRT_MASTER_NPU, "The NPU", "the NPU"};

/* The epoch that is computed, as text: its number in a blob, and its place as reported by the program. */
static char in_epoch[80];

static void name_epoch(void)
{
    const N6VirtPlace *place = n6virt_place();
    uint32_t label = n6npu_label(npu);

    if (place && label) {
        snprintf(in_epoch, sizeof(in_epoch), " (epoch %u, place %u of network %u)", label, place->place, place->network);
    } else if (place) {
        snprintf(in_epoch, sizeof(in_epoch), " (place %u of network %u)", place->place, place->network);
    } else {
        snprintf(in_epoch, sizeof(in_epoch), " (epoch %u)", label);
    }
}

/* The last page that RIF opens to the NPU and that is on, for reads and for writes: this does not change while an epoch is
 * computed. */
static uint32_t open_page[2];
#define PAGE_BYTES 4096u
#define NO_PAGE UINT32_MAX

static bool is_open(uint32_t address, uint32_t bytes, bool writes)
{
    uint32_t page = address / PAGE_BYTES;
    const N6VirtRam *ram;

    if (address % PAGE_BYTES + bytes > PAGE_BYTES) {
        return false;
    }
    if (page == open_page[writes]) {
        return true;
    }
    ram = n6virt_ram_at(address);
    if ((ram && !n6virt_ram_is_on(ram)) || n6virt_rif_objection(N6VIRT_MASTER_NPU, page * PAGE_BYTES, PAGE_BYTES, writes)) {
        return false;
    }
    open_page[writes] = page;
    return true;
}

/* Return how many of the bytes are in the bank of the first one. A transfer may begin in a bank that is on and end in one that is
 * off: an engine reads a little past its tensor. */
static uint32_t bytes_in_bank(uint32_t address, uint32_t bytes)
{
    const N6VirtRam *ram = n6virt_ram_at(address);

    return ram ? MIN(bytes, ram->bytes - ((address - ram->base) & (N6_SECURE_BIT - 1))) : bytes;
}

static bool memory_read(void *opaque, uint32_t address, void *to, uint32_t bytes)
{
    if (is_open(address, bytes, false)) {
        return n6virt_port_reads_open(&n6virt_npu_port, started_at, address, to, bytes, in_epoch);
    }
    for (uint32_t done = 0, here; done < bytes; done += here) {
        here = bytes_in_bank(address + done, bytes - done);
        if (!n6virt_port_reads(&n6virt_npu_port, started_at, address + done, (uint8_t *)to + done, here, in_epoch)) {
            return false;
        }
    }
    return true;
}

static bool memory_write(void *opaque, uint32_t address, const void *from, uint32_t bytes)
{
    if (is_open(address, bytes, true)) {
        return n6virt_port_writes_open(&n6virt_npu_port, started_at, address, from, bytes, in_epoch);
    }
    for (uint32_t done = 0, here; done < bytes; done += here) {
        here = bytes_in_bank(address + done, bytes - done);
        if (!n6virt_port_writes(&n6virt_npu_port, started_at, address + done, (const uint8_t *)from + done, here, in_epoch)) {
            return false;
        }
    }
    return true;
}

/* Work */

static const unsigned interrupts[LINES] = {N6_IRQ_NPU0, N6_IRQ_NPU1, N6_IRQ_NPU2, N6_IRQ_NPU3};

static void update_lines(void)
{
    for (unsigned line = 0; line < LINES; line++) {
        n6virt_interrupt(interrupts[line], n6npu_line(npu, line));
    }
}

/* Append the reason why no interrupt comes. */
static void explain_silence(GString *text)
{
    for (unsigned line = 0; line < LINES; line++) {
        if (n6npu_line(npu, line)) {
            bool enabled = n6virt_interrupt_is_enabled(interrupts[line]);

            g_string_append_printf(text, enabled ? "PRIMASK, FAULTMASK, BASEPRI or another handler holds back its interrupt %u (NPU%u)"
                                                 : "its interrupt %u (NPU%u) is not enabled in the NVIC (ISER)",
                                   interrupts[line], line);
            return;
        }
    }
    g_string_append(text, "INTORMSK and INTANDMSK mask it on all of its lines");
}

/* Report finished work that the program does not look at. The program may have other work, but a masked line never interrupts
 * it. */
static void on_unanswered(void *opaque)
{
    uint32_t pending = n6npu_read(npu, N6VIRT_NPU_PENDING);
    g_autoptr(GString) why = g_string_new(NULL);

    if (!pending) {
        return;
    }
    explain_silence(why);
    n6virt_finding_at(started_at, "npu-interrupt", N6_NPU_BASE + N6VIRT_NPU_PENDING,
                      "The NPU is done (INTCTRL INTREG 0x%08x), but the program does not handle it: %s%s", pending, why->str, in_epoch);
}

/* Compute the work. End the run if that is impossible: a program that waits for the epoch would wait for ever. */
static void on_work(void *opaque)
{
    const char *reason;

    name_epoch();
    open_page[false] = open_page[true] = NO_PAGE;
    reason = n6npu_has_work(npu) ? n6npu_run(npu) : NULL;
    if (reason) {
        name_epoch();
        n6virt_finding_at(started_at, "npu-work", N6_NPU_BASE, "The NPU cannot do its work: %s%s", reason, in_epoch);
        n6virt_end("npu");
    }
    timer_mod(unanswered, n6virt_now() + ANSWERS_WITHIN);
    update_lines();
}

/* A unit that the chip does not have. */
static struct {
    uint32_t offset, bytes;
    const N6VirtModel *model;
} guest;

void n6virt_npu_add_unit(uint32_t offset, uint32_t bytes, const N6VirtModel *unit)
{
    guest.offset = offset;
    guest.bytes = bytes;
    guest.model = unit;
}

static uint32_t npu_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    if (offset - guest.offset < guest.bytes) {
        return guest.model->read(block, offset - guest.offset, size);
    }
    timer_del(unanswered);
    return n6npu_read(npu, offset & ~3u);
}

static void npu_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (offset - guest.offset < guest.bytes) {
        guest.model->write(block, offset - guest.offset, value, size);
        return;
    }
    timer_del(unanswered);
    n6virt_trace_write(offset & ~3u, value);
    check_clock(block->base + offset);
    n6npu_write(npu, offset & ~3u, value);
    if (n6npu_has_work(npu)) {
        started_at = n6virt_pc();
        timer_mod(work, n6virt_now() + SETTLES);
    }
    update_lines();
}

/* The model covers the whole window: the units store their configuration. */
static const N6VirtModel model = {.read = npu_read, .write = npu_write};

static void reset(void)
{
    n6npu_reset(npu);
    timer_del(work);
    timer_del(unanswered);
    update_lines();
}

static void on_blob(void *opaque, uint32_t address, const uint8_t *bytes, uint32_t words)
{
    n6virt_trace_blob(address, bytes, words);
}

static void on_begin(void *opaque, const N6NpuEpoch *epoch)
{
    name_epoch();
    n6virt_tensors_label_begins(n6virt_place(), epoch);
}

static void on_computed(void *opaque, const N6NpuEpoch *epoch)
{
    n6virt_trace_epoch(epoch);
    n6virt_record_epoch(npu, epoch);
}

static void on_label_end(void *opaque, const N6NpuEpoch *epoch)
{
    n6virt_tensors_label_ends(n6virt_place(), epoch);
}

static void start(void)
{
    static const N6NpuMemory memory = {.read = memory_read, .write = memory_write};
    static const N6NpuWatch watch = {.blob = on_blob, .begins = on_begin, .computed = on_computed, .label_ends = on_label_end};

    npu = n6npu_new(&memory);
    n6npu_watch(npu, &watch);
    work = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_work, NULL);
    unanswered = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_unanswered, NULL);
    n6virt_model(N6_NPU_BASE, &model);
    n6virt_on_block_reset(N6_RCC_AHB5RSTR_NPURST, reset);
}

static void summarise(GString *summary)
{
    const N6NpuWork *done = n6npu_work(npu);

    g_string_append_printf(summary, ", \"npu_epochs\": %u, \"npu_macs\": %" PRIu64, done->epochs, done->macs);
}

static const N6VirtModule module = {.start = start, .reset = reset, .summarise = summarise};
N6VIRT_MODULE(module)
