/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Data that the CPU no longer sees: its data cache is off, but has lines that were never cleaned, and memory holds older data.
 * Reads of these lines are watched until they are cleaned or invalidated, which a correct program does at once. Such reads are
 * slow meanwhile, as is code in the same KiB.
 */
#include "n6virt.h"

#include "exec/address-spaces.h"
#include "exec/target_page.h"

/* Limit of the watched ranges: a program that leaves more is found in the first ones. */
#define RANGES 64

static struct {
    N6VirtRam *ram;
    uint32_t offset;
    MemoryRegion region;
} ranges[RANGES];
static unsigned used;

static uint64_t hidden_read(void *opaque, hwaddr offset, unsigned size)
{
    unsigned i = (uintptr_t)opaque;
    uint32_t at = ranges[i].offset + offset, address = ranges[i].ram->base + at;
    uint64_t value = 0;

    if (n6virt_is_newer_in_cache(ranges[i].ram, at, size)) {
        n6virt_finding("hidden-cache", address,
                       "Read of 0x%08x gives an old value: the data cache, which is off, has a newer one that the CPU wrote, and was never "
                       "cleaned",
                       address);
    }
    memcpy(&value, ranges[i].ram->data + at, size);
    return value;
}

static void hidden_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    unsigned i = (uintptr_t)opaque;
    uint32_t at = ranges[i].offset + offset;

    memcpy(ranges[i].ram->data + at, &value, size);
    n6virt_changed(ranges[i].ram, at, size);
}

static const MemoryRegionOps ops = {
    .read = hidden_read, .write = hidden_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

void n6virt_hide(N6VirtRam *ram, uint32_t offset, uint32_t bytes)
{
    MemoryRegion *region = &ranges[used].region;
    uint32_t end;

    if (used == RANGES) {
        return;
    }
    /* Whole pages: QEMU finds no region that covers whole pages and begins within another one. */
    end = ROUND_UP(offset + bytes, qemu_target_page_size());
    offset = ROUND_DOWN(offset, qemu_target_page_size());
    ranges[used].ram = ram;
    ranges[used].offset = offset;
    memory_region_set_size(region, end - offset);
    memory_region_set_address(region, ram->base + offset);
    memory_region_set_enabled(region, true);
    used++;
}

void n6virt_hide_nothing(void)
{
    memory_region_transaction_begin();
    while (used) {
        memory_region_set_enabled(&ranges[--used].region, false);
    }
    memory_region_transaction_commit();
}

static void start(void)
{
    for (unsigned i = 0; i < RANGES; i++) {
        memory_region_init_io(&ranges[i].region, NULL, &ops, (void *)(uintptr_t)i, "n6.hidden", N6_CACHE_LINE);
        memory_region_set_enabled(&ranges[i].region, false);
        memory_region_add_subregion_overlap(get_system_memory(), 0, &ranges[i].region, 4);
    }
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
