/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The cycle counter: one cycle per instruction, without sleeps. It stops and keeps its value unless both DEMCR TRCENA and
 * DWT_CTRL CYCCNTENA are set.
 */
#include "n6virt_debug.h"

static MemoryRegion dwt, dcb;
/* Instructions minus the counter's value, while it runs. */
static int64_t base;
static uint32_t stopped_at;

static bool runs(void)
{
    return n6virt_has(N6_DCB_DEMCR, N6_DCB_DEMCR_TRCENA) && n6virt_has(N6_DWT_CTRL, N6_DWT_CTRL_CYCCNTENA);
}

static uint32_t counter(void)
{
    return runs() ? (uint32_t)(n6virt_instructions() - base) : stopped_at;
}

static void set(uint32_t address, uint32_t value)
{
    uint32_t now = counter();

    n6virt_set(address, value);
    if (address == N6_DWT_CYCCNT) {
        now = value;
    }
    stopped_at = now;
    base = n6virt_instructions() - now;
}

static uint64_t dwt_read(void *opaque, hwaddr offset, unsigned size)
{
    return N6_DWT_BASE + offset == N6_DWT_CYCCNT ? counter() : n6virt_get(N6_DWT_BASE + offset);
}

static void dwt_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    set(N6_DWT_BASE + offset, value);
}

static const MemoryRegionOps dwt_ops = {
    .read = dwt_read, .write = dwt_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* A program sees in DHCSR whether a probe is attached, and cannot write it. */
static uint64_t dcb_read(void *opaque, hwaddr offset, unsigned size)
{
    return N6_DCB_BASE + offset == N6_DCB_DHCSR ? n6virt_debug_is_enabled() : n6virt_get(N6_DCB_BASE + offset);
}

static void dcb_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    set(N6_DCB_BASE + offset, value);
}

static const MemoryRegionOps dcb_ops = {
    .read = dcb_read, .write = dcb_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

static void start(void)
{
    n6virt_add_io(&dwt, n6virt_processor_region(), &dwt_ops, "n6.dwt", N6_DWT_BASE, 0x1000, 10);
    n6virt_add_io(&dcb, n6virt_processor_region(), &dcb_ops, "n6.dcb", N6_DCB_BASE, 0x10, 10);
}

static void reset(void)
{
    stopped_at = 0;
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
