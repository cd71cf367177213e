/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * RIF: attributes of masters and peripherals, and the regions of the filters in front of memories (RISAF), are stored. They are
 * checked at each access of a master to memory. After reset the filters have no regions, and admit secure, privileged masters
 * of compartment 1. INFERRED: addresses of regions count from the beginning of the memory, a region that is not secure is for
 * non-secure accesses only, and the first region that covers the address decides. Accesses of the CPU itself, and subregions,
 * are not checked. DBGMCU identifies the chip.
 */
#include "n6virt.h"

#define REGIONS 15
#define REGION_BYTES 0x40u
#define ATTRIBUTES(master) (N6_RIFSC_RIMC_ATTR0 + 4u * (master))
#define TRUSTED_CID 1

/* Attributes of masters and slaves that a model reads; accesses to others are counted. */
static uint32_t rifsc_registers[N6VIRT_MASTER_COUNT + 6];
static const N6VirtModel rifsc = {.registers = rifsc_registers};

static uint32_t risaf_registers[4 * REGIONS + 2];
/* Source of without_clock: the device's errata, 2.2.3. */
static const N6VirtModel risaf = {
    .registers = risaf_registers, .without_clock = "a write ends the debug link until the next power-on",
};

typedef struct {
    unsigned cid;
    bool secure, privileged;
} Attributes;

static Attributes attributes_of(N6VirtMaster master)
{
    uint32_t attributes = n6virt_get(ATTRIBUTES(master));

    return (Attributes){
        .cid = (attributes & N6_RIFSC_RIMC_ATTR1_MCID) >> N6_RIFSC_RIMC_ATTR1_MCID_POS,
        .secure = attributes & N6_RIFSC_RIMC_ATTR1_MSEC,
        .privileged = attributes & N6_RIFSC_RIMC_ATTR1_MPRIV,
    };
}

/* Return whether the region with its registers at this address admits the access. */
static bool lets(uint32_t region, Attributes who, bool writes)
{
    uint32_t compartments = n6virt_field(region + N6_RISAF_REG1_CIDCFGR_OFFSET, writes ? N6_RISAF_REG1_CIDCFGR_WRENC
                                                                                      : N6_RISAF_REG1_CIDCFGR_RDENC,
                                         writes ? N6_RISAF_REG1_CIDCFGR_WRENC_POS : N6_RISAF_REG1_CIDCFGR_RDENC_POS);
    uint32_t privileged = n6virt_field(region + N6_RISAF_REG1_CFGR_OFFSET, N6_RISAF_REG1_CFGR_PRIVC, N6_RISAF_REG1_CFGR_PRIVC_POS);

    return who.secure == n6virt_has(region + N6_RISAF_REG1_CFGR_OFFSET, N6_RISAF_REG1_CFGR_SEC) && compartments >> who.cid & 1 &&
           (who.privileged || !(privileged >> who.cid & 1));
}

/* Return the number of the first region that covers any of the bytes, from 1; 0: none. */
static unsigned region_at(uint32_t filter, uint32_t offset, uint32_t bytes)
{
    for (unsigned i = 0; i < REGIONS; i++) {
        uint32_t region = filter + i * REGION_BYTES;

        if (n6virt_has(region + N6_RISAF_REG1_CFGR_OFFSET, N6_RISAF_REG1_CFGR_BREN) &&
            offset <= n6virt_get(region + N6_RISAF_REG1_ENDR_OFFSET) &&
            offset + bytes - 1 >= n6virt_get(region + N6_RISAF_REG1_STARTR_OFFSET)) {
            return i + 1;
        }
    }
    return 0;
}

/* Return the number of the region of a filter that covers memory, 0 for none, with the filter's base. */
static unsigned region_of(uint32_t address, uint32_t bytes, uint32_t *filter)
{
    const N6VirtRam *ram = n6virt_ram_at(address);

    *filter = ram ? ram->risaf : 0;
    return *filter && bytes ? region_at(*filter, (address - ram->base) & (N6_SECURE_BIT - 1), bytes) : 0;
}

const char *n6virt_rif_refuses_probe(uint32_t address, uint32_t bytes, bool writes)
{
    static char text[64];
    /* INFERRED: a debug port is trusted like the CPU. */
    const Attributes who = {.cid = TRUSTED_CID, .secure = true, .privileged = true};
    uint32_t filter;
    unsigned region = region_of(address, bytes, &filter);

    if (!region || lets(filter + (region - 1) * REGION_BYTES, who, writes)) {
        return NULL;
    }
    snprintf(text, sizeof(text), "rif: %s, region %u, refuses it", n6virt_block_at(filter)->name, region);
    return text;
}

const char *n6virt_rif_objection(N6VirtMaster master, uint32_t address, uint32_t bytes, bool writes)
{
    static char text[64];
    Attributes who = attributes_of(master);
    uint32_t filter;
    unsigned region = region_of(address, bytes, &filter);

    if (master == N6VIRT_MASTER_NPU && !(n6virt_has(N6_RIFSC_SECCFGR3, N6_RIFSC_SECCFGR3_NPU) &&
                                         n6virt_has(N6_RIFSC_PRIVCFGR3, N6_RIFSC_PRIVCFGR3_NPU))) {
        return "RIFSC RIMC_ATTR1, SECCFGR3, PRIVCFGR3";
    }
    if (region) {
        if (lets(filter + (region - 1) * REGION_BYTES, who, writes)) {
            return NULL;
        }
        snprintf(text, sizeof(text), "%s, region %u", n6virt_block_at(filter)->name, region);
        return text;
    }
    if (who.cid == TRUSTED_CID && who.secure && who.privileged) {
        return NULL;
    }
    snprintf(text, sizeof(text), "RIFSC RIMC_ATTR%u", master);
    return text;
}

static uint32_t dbgmcu_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    return offset == N6_DBGMCU_IDCODE_OFFSET ? N6VIRT_DEVICE_ID | N6VIRT_REVISION_ID << N6_DBGMCU_IDCODE_REV_ID_POS
                                             : n6virt_get(block->base + offset);
}

static const N6VirtModel dbgmcu = {
    .read = dbgmcu_read,
    .registers = (const uint32_t[]){N6_DBGMCU_IDCODE_OFFSET, N6_DBGMCU_APB4FZ_OFFSET, N6VIRT_END},
};

static void start(void)
{
    static const uint32_t of_region[] = {N6_RISAF_REG1_CFGR_OFFSET, N6_RISAF_REG1_STARTR_OFFSET, N6_RISAF_REG1_ENDR_OFFSET,
                                         N6_RISAF_REG1_CIDCFGR_OFFSET};

    for (unsigned i = 0; i < N6VIRT_MASTER_COUNT; i++) {
        rifsc_registers[i] = ATTRIBUTES(i) - N6_RIFSC_BASE;
    }
    rifsc_registers[N6VIRT_MASTER_COUNT] = N6_RIFSC_SECCFGR3_OFFSET;
    rifsc_registers[N6VIRT_MASTER_COUNT + 1] = N6_RIFSC_PRIVCFGR3_OFFSET;
    rifsc_registers[N6VIRT_MASTER_COUNT + 2] = N6_RIFSC_SECCFGR0_OFFSET;
    rifsc_registers[N6VIRT_MASTER_COUNT + 3] = N6_RIFSC_SECCFGR1_OFFSET;
    rifsc_registers[N6VIRT_MASTER_COUNT + 4] = N6_RIFSC_SECCFGR2_OFFSET;
    rifsc_registers[N6VIRT_MASTER_COUNT + 5] = N6VIRT_END;
    for (unsigned i = 0; i < 4 * REGIONS; i++) {
        risaf_registers[i] = of_region[i % 4] + i / 4 * REGION_BYTES;
    }
    risaf_registers[4 * REGIONS] = N6_RISAF_CR_OFFSET;
    risaf_registers[4 * REGIONS + 1] = N6VIRT_END;
    n6virt_model(N6_RIFSC_BASE, &rifsc);
    n6virt_model(N6_DBGMCU_BASE, &dbgmcu);
#define FILTER(base) n6virt_model(base, &risaf);
    N6VIRT_RISAFS(FILTER)
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
