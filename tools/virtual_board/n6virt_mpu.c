/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The memory attributes of the secure MPU, as far as the data cache uses them: a region that is not write-back bypasses the
 * cache. INFERRED: a write-through region bypasses it, too; on the chip such reads come from the cache until the line is
 * invalidated. QEMU models the protection.
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "hw/core/cpu.h"

/* MAIR: the inner attributes are in the lower half of a byte; device memory has zeros in the upper half (Armv8-M manual). */
#define IS_NORMAL(attribute) ((attribute) & 0xf0)
#define NON_CACHEABLE 0x4
#define IS_WRITE_BACK(attribute) (((attribute) & 0x4) && ((attribute) & 0xf) != NON_CACHEABLE)
#define ADDRESS(word) ((word) & ~0x1fu)
#define CHIP_END 0x40000000u

static MemoryRegion registers;

static bool is_uncached(const CPUARMState *env, unsigned region)
{
    uint32_t limit = env->pmsav8.rlar[M_REG_S][region];
    unsigned index = (limit & N6_MPU_RLAR_ATTRINDX) >> N6_MPU_RLAR_ATTRINDX_POS;
    uint32_t attributes = index < 4 ? env->pmsav8.mair0[M_REG_S] : env->pmsav8.mair1[M_REG_S];
    uint8_t attribute = attributes >> 8 * (index % 4);

    if (!(env->v7m.mpu_ctrl[M_REG_S] & N6_MPU_CTRL_ENABLE) || !(limit & N6_MPU_RLAR_EN)) {
        return false;
    }
    return !IS_NORMAL(attribute) || !IS_WRITE_BACK(attribute);
}

static void put_around(N6VirtRam *ram, unsigned region, uint32_t first, uint32_t last)
{
    MemoryRegion *around = &ram->around[region];

    first = MAX(first, ram->base);
    last = MIN(last, ram->base + ram->bytes - 1);
    if (first > last) {
        memory_region_set_enabled(around, false);
        return;
    }
    memory_region_set_size(around, (uint64_t)last - first + 1);
    memory_region_set_alias_offset(around, first - ram->base);
    memory_region_set_address(around, first);
    memory_region_set_enabled(around, true);
}

static void update(void)
{
    const CPUARMState *env = n6virt_env(first_cpu);
    N6VirtRam *ram;

    memory_region_transaction_begin();
    for (unsigned region = 0; region < N6VIRT_MPU_REGIONS; region++) {
        uint32_t first = ADDRESS(env->pmsav8.rbar[M_REG_S][region]), last = env->pmsav8.rlar[M_REG_S][region] | 0x1f;
        bool uncached = is_uncached(env, region);

        if (last < CHIP_END) {
            first |= N6_SECURE_BIT;
            last |= N6_SECURE_BIT;
        }
        for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
            if (!ram->cacheable) {
                continue;
            }
            if (uncached) {
                put_around(ram, region, first, last);
            } else {
                memory_region_set_enabled(&ram->around[region], false);
            }
        }
    }
    memory_region_transaction_commit();
}

static MemTxResult mpu_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    return n6virt_processor_read(N6_MPU_BASE + offset, value, size, attributes);
}

static MemTxResult mpu_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    MemTxResult result = n6virt_processor_write(N6_MPU_BASE + offset, value, size, attributes);

    update();
    return result;
}

static const MemoryRegionOps ops = {
    .read_with_attrs = mpu_read, .write_with_attrs = mpu_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

static void start(void)
{
    n6virt_add_io(&registers, n6virt_processor_region(), &ops, "n6.mpu", N6_MPU_BASE, N6_MPU_MAIR1 + 4 - N6_MPU_BASE, 10);
}

static void reset(void)
{
    N6VirtRam *ram;

    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        for (unsigned region = 0; ram->cacheable && region < N6VIRT_MPU_REGIONS; region++) {
            memory_region_set_enabled(&ram->around[region], false);
        }
    }
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
