/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * RIF: attributes of masters and peripherals are kept, and looked up by who accesses memory. DBGMCU says which chip this is.
 */
#include "n6virt.h"

/* Attributes of masters and slaves: those that somebody looks up; others are counted. */
static const N6VirtModel rifsc = {
    .registers = (const uint32_t[]){N6_RIFSC_RIMC_ATTR1_OFFSET, N6_RIFSC_SECCFGR3_OFFSET, N6_RIFSC_PRIVCFGR3_OFFSET, N6VIRT_END},
};

static uint32_t dbgmcu_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    return offset == N6_DBGMCU_IDCODE_OFFSET ? N6VIRT_DEVICE_ID | N6VIRT_REVISION_ID << N6_DBGMCU_IDCODE_REV_ID_POS
                                             : n6virt_get(block->base + offset);
}

static const N6VirtModel dbgmcu = {
    .read = dbgmcu_read, .registers = (const uint32_t[]){N6_DBGMCU_IDCODE_OFFSET, N6VIRT_END},
};

static void start(void)
{
    n6virt_model(N6_RIFSC_BASE, &rifsc);
    n6virt_model(N6_DBGMCU_BASE, &dbgmcu);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
