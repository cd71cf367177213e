/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The chip's RAM: a bank without its clock (RCC MEMENR), or shut down (RAMCFG CR SRAMSD), loses what is written and reads as zeros.
 */
#include "n6virt.h"

#include "exec/address-spaces.h"
#include "qapi/error.h"

#define RAM(name, base, bytes, enable, ramcfg, on_after_reset, cacheable) \
    {name, base, bytes, enable, ramcfg, on_after_reset, cacheable},
static N6VirtRam rams[] = {N6VIRT_RAMS(RAM)};

N6VirtRam *n6virt_ram_at(uint32_t address)
{
    address |= N6_SECURE_BIT;
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        if (address - rams[i].base < rams[i].bytes) {
            return &rams[i];
        }
    }
    return NULL;
}

bool n6virt_ram_is_on(const N6VirtRam *ram)
{
    return n6virt_has(N6_RCC_MEMENR, ram->enable) && !(ram->ramcfg && n6virt_has(ram->ramcfg, N6_RAMCFG_CR_SRAMSD));
}

void n6virt_ram_update(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        memory_region_set_enabled(&rams[i].on, n6virt_ram_is_on(&rams[i]));
    }
}

static void off_finding(const N6VirtRam *ram, const char *access, hwaddr offset)
{
    uint32_t address = ram->base + offset;

    n6virt_finding("ram-off", address, "%s %s at 0x%08x, which is off (%s)", access, ram->name, address,
                   n6virt_has(N6_RCC_MEMENR, ram->enable) ? "RAMCFG CR SRAMSD is 1" : "its clock in RCC MEMENR is 0");
}

static uint64_t off_read(void *opaque, hwaddr offset, unsigned size)
{
    off_finding(opaque, "read of", offset);
    return 0;
}

static void off_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    off_finding(opaque, "lost write to", offset);
}

static const MemoryRegionOps off_ops = {
    .read = off_read, .write = off_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

static void ramcfg_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    n6virt_set(block->base + offset, value);
    n6virt_ram_update();
}

static const N6VirtModel ramcfg = {
    .write = ramcfg_write, .registers = (const uint32_t[]){N6_RAMCFG_CR_OFFSET, N6VIRT_END},
};

static void start(void)
{
    MemoryRegion *system = get_system_memory();

    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        N6VirtRam *ram = &rams[i];

        memory_region_init_ram(&ram->on, NULL, ram->name, ram->bytes, &error_fatal);
        memory_region_init_io(&ram->off, NULL, &off_ops, ram, ram->name, ram->bytes);
        memory_region_add_subregion(system, ram->base, &ram->off);
        memory_region_add_subregion_overlap(system, ram->base, &ram->on, 1);
        ram->cpu = memory_region_get_ram_ptr(&ram->on);
        if (ram->cacheable) {
            ram->memory = g_malloc0(ram->bytes);
            ram->cleaned = g_malloc0(ram->bytes / N6_CACHE_LINE);
        }
        /* Unlike a peripheral's, the non-secure alias of a RAM is open to secure code. */
        memory_region_init_alias(&ram->alias, NULL, ram->name, system, ram->base, ram->bytes);
        memory_region_add_subregion(system, ram->base & ~N6_SECURE_BIT, &ram->alias);
        if (ram->ramcfg) {
            n6virt_model(ram->ramcfg, &ramcfg);
        }
    }
}

static void reset(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        if (rams[i].ramcfg && !rams[i].on_after_reset) {
            n6virt_set(rams[i].ramcfg, N6_RAMCFG_CR_SRAMSD);
        }
    }
    n6virt_ram_update();
}

static void add_cleaned(GString *summary, uint32_t base, const uint8_t *cleaned, uint32_t lines, bool *first)
{
    for (uint32_t line = 0; line < lines; line++) {
        uint32_t end = line;

        while (end < lines && cleaned[end]) {
            end++;
        }
        if (end > line) {
            g_string_append_printf(summary, "%s[\"0x%08x\", \"0x%08x\"]", *first ? "" : ", ", base + line * N6_CACHE_LINE,
                                   base + end * N6_CACHE_LINE);
            *first = false;
            line = end;
        }
    }
}

static void summarise(GString *summary)
{
    const uint8_t *cleaned;
    uint32_t lines;
    bool first = true;

    g_string_append(summary, ", \"banks_on\": [");
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        if (rams[i].enable && !rams[i].on_after_reset && n6virt_ram_is_on(&rams[i])) {
            g_string_append_printf(summary, "%s\"%s\"", first ? "" : ", ", rams[i].name);
            first = false;
        }
    }
    g_string_append(summary, "], \"cleaned\": [");
    first = true;
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        if (rams[i].cleaned) {
            add_cleaned(summary, rams[i].base, rams[i].cleaned, rams[i].bytes / N6_CACHE_LINE, &first);
        }
    }
    cleaned = n6virt_psram_cleaned(&lines);
    add_cleaned(summary, N6_XSPI1_WINDOW_BASE, cleaned, lines, &first);
    g_string_append(summary, "]");
}

static const N6VirtModule module = {.start = start, .reset = reset, .summarise = summarise};
N6VIRT_MODULE(module)
