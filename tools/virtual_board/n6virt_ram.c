/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The chip's RAM: a bank without its clock (RCC MEMENR), or shut down (RAMCFG CR SRAMSD), loses writes and reads as zeros.
 * INFERRED: a shutdown loses the bank's content, and a stopped clock keeps it. A system reset erases some banks.
 */
#include "n6virt.h"

#include "cpu.h"
#include "exec/address-spaces.h"
#include "exec/exec-all.h"
#include "exec/ram_addr.h"
#include "hw/boards.h"
#include "qapi/error.h"

/* Addresses from here on have no aliases. */
#define CHIP_END 0x40000000u
/* Content after a shutdown: as an instruction undefined, as an address a hole. */
#define LOST 0xde
#define PAGE 4096u

#define RAM(name, base, bytes, enable, ramcfg, on_after_reset, shut_down_after_reset, cacheable, risaf, erased_by_reset) \
    {name, base, bytes, enable, ramcfg, on_after_reset, shut_down_after_reset, cacheable, risaf, erased_by_reset},
static N6VirtRam rams[] = {N6VIRT_RAMS(RAM)};
static N6VirtRam *outside;
static bool cache_is_shown;

void n6virt_add_outside_ram(N6VirtRam *ram)
{
    outside = ram;
}

N6VirtRam *n6virt_ram(unsigned i)
{
    return i < ARRAY_SIZE(rams) ? &rams[i] : NULL;
}

N6VirtRam *n6virt_ram_at(uint32_t address)
{
    if (address < CHIP_END) {
        address |= N6_SECURE_BIT;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        if (address - rams[i].base < rams[i].bytes) {
            return &rams[i];
        }
    }
    return outside && address - outside->base < outside->bytes ? outside : NULL;
}

bool n6virt_ram_is_on(const N6VirtRam *ram)
{
    return ram->memory.enabled;
}

static void translate_again(const MemoryRegion *region, uint32_t offset, uint32_t bytes)
{
    ram_addr_t address = memory_region_get_ram_addr((MemoryRegion *)region) + offset;

    if (cpu_physical_memory_range_includes_clean(address, bytes, 1 << DIRTY_MEMORY_CODE)) {
        tb_invalidate_phys_range(address, address + bytes);
    }
}

void n6virt_changed(const N6VirtRam *ram, uint32_t offset, uint32_t bytes)
{
    if (!ram->translated || !bytes || !memchr(ram->translated + offset / PAGE, 1, (offset + bytes - 1) / PAGE - offset / PAGE + 1)) {
        return;
    }
    translate_again(&ram->memory, offset, bytes);
    if (ram->cacheable) {
        translate_again(&ram->cached, offset, bytes);
    }
}

/* Most pages never have code, and QEMU's own test is slow for the NPU, which writes many single pixels. */
static void fetched(uint32_t pc, uint32_t bytes)
{
    N6VirtRam *ram = n6virt_ram_at(pc);
    uint32_t first, last;

    if (!ram) {
        return;
    }
    if (!ram->translated) {
        ram->translated = g_malloc0(DIV_ROUND_UP(ram->bytes, PAGE));
    }
    first = (pc - ram->base) & (N6_SECURE_BIT - 1);
    last = MIN(first + MAX(bytes, 1), ram->bytes) - 1;
    memset(ram->translated + first / PAGE, 1, last / PAGE - first / PAGE + 1);
}

static void lose(N6VirtRam *ram)
{
    memset(ram->data, LOST, ram->bytes);
    if (ram->cacheable) {
        memset(ram->cache, LOST, ram->bytes);
        memset(ram->filled, LOST, ram->bytes);
    }
    n6virt_changed(ram, 0, ram->bytes);
}

bool n6virt_is_dirty(const N6VirtRam *ram, uint32_t offset)
{
    const uint32_t line = N6_CACHE_LINE;

    return ram->valid[offset / line] && memcmp(ram->cache + offset, ram->filled + offset, line);
}

bool n6virt_is_newer_in_cache(const N6VirtRam *ram, uint32_t offset, uint32_t bytes)
{
    return ram->cacheable && n6virt_is_dirty(ram, offset & ~(N6_CACHE_LINE - 1)) &&
           memcmp(ram->cache + offset, ram->data + offset, bytes);
}

void n6virt_ram_update(void)
{
    memory_region_transaction_begin();
    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        N6VirtRam *ram = &rams[i];
        bool shut_down = ram->ramcfg && n6virt_has(ram->ramcfg, N6_RAMCFG_CR_SRAMSD);
        bool on = n6virt_has(N6_RCC_MEMENR, ram->enable) && !shut_down;

        if (shut_down && !ram->is_shut_down) {
            lose(ram);
        }
        ram->is_shut_down = shut_down;
        memory_region_set_enabled(&ram->memory, on);
        if (ram->cacheable) {
            memory_region_set_enabled(&ram->cached, on && cache_is_shown);
        }
    }
    memory_region_transaction_commit();
}

void n6virt_ram_show_cache(bool shown)
{
    cache_is_shown = shown;
    n6virt_ram_update();
}

static void off_finding(const N6VirtRam *ram, const char *access, hwaddr offset)
{
    uint32_t address = ram->base + offset;

    n6virt_finding("ram-off", address, "%s %s at 0x%08x, which is off (%s)", access, ram->name, address,
                   n6virt_has(N6_RCC_MEMENR, ram->enable) ? "RAMCFG CR SRAMSD is 1" : "its clock in RCC MEMENR is 0");
}

static uint64_t off_read(void *opaque, hwaddr offset, unsigned size)
{
    off_finding(opaque, "Read of", offset);
    return 0;
}

static void off_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    off_finding(opaque, "Lost write to", offset);
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

static void add_cache(MemoryRegion *system, N6VirtRam *ram)
{
    g_autofree char *name = g_strconcat(ram->name, ".cached", NULL);

    memory_region_init_ram(&ram->cached, NULL, name, ram->bytes, &error_fatal);
    memory_region_add_subregion_overlap(system, ram->base, &ram->cached, 2);
    memory_region_set_enabled(&ram->cached, false);
    ram->cache = memory_region_get_ram_ptr(&ram->cached);
    ram->filled = g_malloc0(ram->bytes);
    ram->valid = g_malloc0(ram->bytes / N6_CACHE_LINE);
    for (unsigned i = 0; i < N6VIRT_MPU_REGIONS; i++) {
        memory_region_init_alias(&ram->around[i], NULL, ram->name, &ram->memory, 0, ram->bytes);
        memory_region_set_enabled(&ram->around[i], false);
        memory_region_add_subregion_overlap(system, ram->base, &ram->around[i], 3);
    }
}

static void start(void)
{
    MemoryRegion *system = get_system_memory();

    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        N6VirtRam *ram = &rams[i];

        memory_region_init_ram(&ram->memory, NULL, ram->name, ram->bytes, &error_fatal);
        memory_region_init_io(&ram->off, NULL, &off_ops, ram, ram->name, ram->bytes);
        memory_region_add_subregion(system, ram->base, &ram->off);
        memory_region_add_subregion_overlap(system, ram->base, &ram->memory, 1);
        ram->data = memory_region_get_ram_ptr(&ram->memory);
        n6virt_fill_fresh(ram->data, ram->base, ram->bytes);
        ram->cleaned = g_malloc0(ram->bytes / N6_CACHE_LINE);
        if (ram->cacheable) {
            add_cache(system, ram);
        }
        /* The non-secure alias is open to secure code. */
        memory_region_init_alias(&ram->alias, NULL, ram->name, system, ram->base, ram->bytes);
        memory_region_add_subregion(system, ram->base & ~N6_SECURE_BIT, &ram->alias);
        if (ram->ramcfg) {
            n6virt_model(ram->ramcfg, &ramcfg);
        }
    }
}

static void reset(void)
{
    static bool has_power;
    /* A program that a tool puts into RAM has no boot ROM that loads it again. */
    bool loads_again = !MACHINE(qdev_get_machine())->kernel_filename;

    for (unsigned i = 0; i < ARRAY_SIZE(rams); i++) {
        if (rams[i].erased_by_reset && has_power && loads_again) {
            lose(&rams[i]);
        }
        if (rams[i].shut_down_after_reset) {
            n6virt_set(rams[i].ramcfg, N6_RAMCFG_CR_SRAMSD);
        }
    }
    has_power = true;
    n6virt_ram_update();
}

static void add_cleaned(GString *summary, const N6VirtRam *ram, bool *first)
{
    uint32_t base = ram->base, lines = ram->bytes / N6_CACHE_LINE;
    const uint8_t *cleaned = ram->cleaned;

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
        add_cleaned(summary, &rams[i], &first);
    }
    if (outside) {
        add_cleaned(summary, outside, &first);
    }
    g_string_append(summary, "]");
}

static const N6VirtModule module = {.start = start, .reset = reset, .fetched = fetched, .summarise = summarise};
N6VIRT_MODULE(module)
