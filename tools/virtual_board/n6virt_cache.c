/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The data cache: infinite and never written back by itself, the worst case for who forgets to clean it. A cacheable RAM has two
 * views, the CPU's and what is in memory; maintenance by line copies between them.
 */
#include "n6virt.h"

#define OPERATIONS N6_SCB_ICIALLU

static MemoryRegion operations;

static bool is_usable(const N6VirtRam *ram)
{
    return ram && ram->memory && n6virt_ram_is_on(ram);
}

static void maintain_line(hwaddr operation, uint32_t address)
{
    N6VirtRam *ram = n6virt_ram_at(address);
    uint32_t offset;

    n6virt_psram_clean(address);
    if (!is_usable(ram)) {
        return;
    }
    offset = ((address | N6_SECURE_BIT) - ram->base) & ~(N6_CACHE_LINE - 1);
    if (operation == N6_SCB_DCIMVAC) {
        memcpy(ram->cpu + offset, ram->memory + offset, N6_CACHE_LINE);
        memory_region_set_dirty(&ram->on, offset, N6_CACHE_LINE);
    } else {
        memcpy(ram->memory + offset, ram->cpu + offset, N6_CACHE_LINE);
        ram->cleaned[offset / N6_CACHE_LINE] = 1;
    }
}

static void clean_all(void)
{
#define CLEAN(name, base, bytes, enable, ramcfg, on_after_reset, cacheable) \
    for (uint32_t address = base; cacheable && address - base < bytes; address += N6_CACHE_LINE) { \
        maintain_line(N6_SCB_DCCMVAC, address); \
    }
    N6VIRT_RAMS(CLEAN)
}

static uint64_t operation_read(void *opaque, hwaddr offset, unsigned size)
{
    return 0;
}

static void operation_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    hwaddr operation = OPERATIONS + offset;

    switch (operation) {
    case N6_SCB_DCIMVAC:
    case N6_SCB_DCCMVAU:
    case N6_SCB_DCCMVAC:
    case N6_SCB_DCCIMVAC:
        maintain_line(operation, value);
        break;
    case N6_SCB_DCCISW:
    case N6_SCB_DCCSW:
        /* Only a loop over all sets and ways means something here; each has set 0 of way 0. */
        if (value == 0) {
            clean_all();
        }
        break;
    }
}

static const MemoryRegionOps operation_ops = {
    .read = operation_read, .write = operation_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

bool n6virt_master_read(uint32_t address, void *data, uint32_t bytes, uint32_t *stale, uint32_t *first)
{
    uint8_t *to = data;

    *stale = 0;
    while (bytes) {
        N6VirtRam *ram = n6virt_ram_at(address);
        uint32_t offset, line, here;

        if (!is_usable(ram)) {
            return false;
        }
        offset = (address | N6_SECURE_BIT) - ram->base;
        line = offset & ~(N6_CACHE_LINE - 1);
        here = MIN(bytes, line + N6_CACHE_LINE - offset);
        if (memcmp(ram->memory + line, ram->cpu + line, N6_CACHE_LINE)) {
            *first = (*stale)++ ? *first : ram->base + line;
        }
        memcpy(to, ram->memory + offset, here);
        to += here;
        address += here;
        bytes -= here;
    }
    return true;
}

bool n6virt_master_write(uint32_t address, const void *data, uint32_t bytes)
{
    N6VirtRam *ram = n6virt_ram_at(address);
    uint32_t offset;

    if (!is_usable(ram) || bytes > ram->bytes) {
        return false;
    }
    offset = (address | N6_SECURE_BIT) - ram->base;
    if (offset > ram->bytes - bytes) {
        uint32_t here = ram->bytes - offset;

        return n6virt_master_write(address, data, here) && n6virt_master_write(address + here, (const uint8_t *)data + here, bytes - here);
    }
    memcpy(ram->memory + offset, data, bytes);
    return true;
}

static void start(void)
{
    n6virt_add_io(&operations, n6virt_processor_region(), &operation_ops, "n6.cache-maintenance", OPERATIONS,
                  N6_SCB_BPIALL + 4 - OPERATIONS, 10);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
