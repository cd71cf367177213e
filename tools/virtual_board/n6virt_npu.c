/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The NPU's registers, as far as a runtime needs them to start: identification, clock gates, and bits that clear themselves. Nothing
 * computes here; everything else is stored.
 */
#include "qemu/osdep.h"

#include "n6virt.h"

#include "n6_soc.h"
#include "n6virt_chip.h"

#define UNIT_BYTES 0x1000u
#define CTRL 0x0u
#define VERSION 0x4u
/* VERSION of those that start work: readers of memory, and the controller of whole epochs. */
#define STRENG 0x01u
#define EPOCHCTRL 0x21u
#define CTRL_EN (1u << 0)
/* CTRL: the pipeline is cleared, the configuration has its reset values. */
#define CTRL_CLR (1u << 1)
#define CTRL_CONFCLR (1u << 30)

#define UNITS(name, first, count, version, clock, bit) {name, first, count, version, clock, bit},
typedef struct {
    const char *name;
    uint32_t first, count, version;
    char clock; /* 0: it has no gate */
    uint8_t bit;
} Units;

static const Units units[] = {N6VIRT_NPU_UNITS(UNITS)};

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

static uint32_t version_of(uint32_t unit)
{
    const Units *kind = units_of(unit);

    return kind ? kind->version : 0;
}

/* ST's runtime opens a unit's gate before it writes to the unit; what a real one makes of a write without its clock is not
 * documented. */
static void check_clock(uint32_t address)
{
    uint32_t unit = (address - N6_NPU_BASE) / UNIT_BYTES;
    const Units *kind = units_of(unit);
    const char *closed = NULL;
    char name[16];

    if (!kind || !kind->clock) {
        return;
    }
    if (kind->count > 1) {
        snprintf(name, sizeof(name), "%s%u", kind->name, unit - kind->first);
    } else {
        snprintf(name, sizeof(name), "%s", kind->name);
    }
    if (!n6virt_has(N6VIRT_NPU_CLOCKS + CTRL, CTRL_EN)) {
        n6virt_finding("npu", address, "%s is written to while CLKCTRL is off (CTRL, EN): the NPU has no clocks", name);
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(gates); i++) {
        if (gates[i].clock != kind->clock) {
            continue;
        }
        /* Of two registers for one gate, either may open it: what a real one wants of them is not documented. */
        if (n6virt_has(N6VIRT_NPU_CLOCKS + gates[i].offset, 1u << (kind->bit + unit - kind->first))) {
            return;
        }
        closed = closed ? closed : gates[i].name;
    }
    n6virt_finding("npu", address, "%s is written to while its clock gate is closed (CLKCTRL %s, bit %u)", name, closed,
                   kind->bit + unit - kind->first);
}

static uint32_t unit_read(uint32_t address)
{
    uint32_t unit = (address - N6_NPU_BASE) / UNIT_BYTES;

    if ((address - N6_NPU_BASE) % UNIT_BYTES == VERSION) {
        return version_of(unit);
    }
    return n6virt_get(address);
}

static void unit_write(uint32_t address, uint32_t value)
{
    if ((address - N6_NPU_BASE) % UNIT_BYTES == CTRL) {
        uint32_t kind = version_of((address - N6_NPU_BASE) / UNIT_BYTES) & 0xffu;

        value &= ~(CTRL_CLR | CTRL_CONFCLR);
        if (value & CTRL_EN && (kind == STRENG || kind == EPOCHCTRL)) {
            /* Whatever waits for it would wait for ever. */
            n6virt_finding("npu", address, "the NPU is given work, and the virtual board's does not compute: networks with "
                                           "hardware epochs need a real board, backend=reference makes one without");
            n6virt_end("npu");
        }
    }
    /* Second: of the findings of one kind at one instruction, the first counts. */
    check_clock(address);
    n6virt_set(address, value);
}

void n6virt_npu_reset(void)
{
    for (uint32_t offset = 0; offset < N6VIRT_TEST_NPU; offset += 4) {
        if (n6virt_get(N6_NPU_BASE + offset)) {
            n6virt_set(N6_NPU_BASE + offset, 0);
        }
    }
}

static uint32_t npu_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    return n6virt_test_npu_is_at(offset) ? n6virt_test_npu_read(offset) : unit_read(block->base + offset);
}

static void npu_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (n6virt_test_npu_is_at(offset)) {
        n6virt_test_npu_write(offset, value);
    } else {
        unit_write(block->base + offset, value);
    }
}

/* Of the whole window: what the units keep is their configuration. */
static const N6VirtModel npu = {.read = npu_read, .write = npu_write};

static void start(void)
{
    n6virt_model(N6_NPU_BASE, &npu);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
