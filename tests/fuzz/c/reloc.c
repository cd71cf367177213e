/* SPDX-License-Identifier: Apache-2.0
 *
 * reloc: damaged copies of a relocatable model for n6_reloc_check() and, if that accepts a copy, for
 * n6build's loader, which must read only the file and write only the memory that it was given. Both are copies for the host
 * (c_parsers.py). Counts accepted and installed copies. */
#include "memory.h"

#include "harness.h"

#include "ll_aton_caches_interface.h"
#include "ll_aton_reloc_network.h"
#include "n6_reloc_check.h"

#define FILE_BASE 0x71000000u
#define FILE_ROOM 0x40000u
#define EXEC_RAM 0x34100000u
#define EXEC_ROOM 0x40000u
#define POOLS 0x342E0000u
#define POOLS_ROOM 0x60000u
#define EXTERNAL 0x72000000u
#define EXTERNAL_ROOM 0x1000u
#define MOST_SHIFT 0x300u

static uint8_t seed_data[FILE_ROOM];
static uint32_t seed_bytes, data_image, fits, installed;
static bool is_first = true;

void LL_ATON_Cache_MCU_Clean_Range(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

void LL_ATON_Cache_MCU_Invalidate_Range(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

void LL_ATON_Cache_MCU_Clean_Invalidate_Range(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

/* Return whether pools with an address of their own are in RAM, which the firmware checks (n6_model.c). */
static bool pools_are_in_ram(const n6_reloc_header_t *model)
{
    for (const n6_reloc_pool_t *pool = n6_reloc_pools(model); pool->flags != 0u; pool++) {
        uint64_t end = (uint64_t)pool->destination + (pool->bytes + 7u) / 8u * 8u;
        if (N6_RELOC_POOL_TYPE(pool->flags) != N6_RELOC_POOL_RELOC && (pool->destination < POOLS || end > POOLS + POOLS_ROOM)) {
            return false;
        }
    }
    return true;
}

static bool installs(random_t *random, const n6_reloc_header_t *model)
{
    static NN_Instance_TypeDef instance;
    uint32_t external = random_below(random, 2u) * random_below(random, EXTERNAL_ROOM);
    ll_aton_reloc_config config = {
        .exec_ram_addr = EXEC_RAM,
        .exec_ram_size = random_below(random, 4u) == 0u ? random_below(random, EXEC_ROOM) : EXEC_ROOM,
        .ext_ram_addr = external == 0u ? 0u : EXTERNAL,
        .ext_ram_size = external,
        .mode = 1u + random_below(random, 7u),
    };
    open_only(EXEC_RAM, config.exec_ram_size, EXEC_ROOM);
    open_only(EXTERNAL, external, EXTERNAL_ROOM);
    return ll_aton_reloc_install((uintptr_t)model, &config, &instance) == AI_RELOC_RT_ERR_NONE;
}

static void prepare(const char *seed)
{
    seed_bytes = read_file(seed, seed_data, sizeof seed_data);
    data_image = N6_RELOC_OFFSET(((const n6_reloc_header_t *)(const void *)seed_data)->data_image);
    map_memory(FILE_BASE, FILE_ROOM);
    map_memory(EXEC_RAM, EXEC_ROOM);
    map_memory(POOLS, POOLS_ROOM);
    map_memory(EXTERNAL, EXTERNAL_ROOM);
    open_only(POOLS, POOLS_ROOM, POOLS_ROOM);
}

static void try_one(random_t *random)
{
    uint8_t *file = (uint8_t *)(uintptr_t)FILE_BASE;
    open_only(FILE_BASE, FILE_ROOM, FILE_ROOM);
    memcpy(file, seed_data, seed_bytes);
    uint32_t bytes = seed_bytes;
    if (!is_first) {
        /* Damage the header, or the data that it refers to. */
        uint32_t first = random_below(random, 2u) == 0u ? 0u : data_image;
        bytes = mutate(random, file, seed_bytes, first, first + MOST_SHIFT / 3u);
    }
    is_first = false;
    open_only(FILE_BASE, bytes, FILE_ROOM);
    const n6_reloc_header_t *model = (const n6_reloc_header_t *)(const void *)file;
    if (n6_reloc_check(model, bytes) == N6_RELOC_FITS && n6_reloc_file_bytes(model, bytes) <= bytes) {
        fits++;
        installed += pools_are_in_ram(model) && installs(random, model);
    }
}

static void try_inputs(random_t *random, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        try_one(random);
    }
}

static void print_reached(void)
{
    printf(" %u %u", fits, installed);
}
