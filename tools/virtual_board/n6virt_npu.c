/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The NPU's registers, as far as a runtime needs them to start: identification, and bits that clear themselves. Nothing computes
 * here; everything else is stored.
 */
#include "qemu/osdep.h"

#include "n6virt.h"

#include "n6_soc.h"
#include "n6virt_chip.h"

#define UNIT_BYTES 0x1000u
#define CTRL 0x0u
#define VERSION 0x4u
/* CTRL: the pipeline is cleared, the configuration has its reset values. */
#define CTRL_CLR (1u << 1)
#define CTRL_CONFCLR (1u << 30)

#define UNITS(first, count, version) {first, count, version},
static const struct {
    uint32_t first, count, version;
} units[] = {N6VIRT_NPU_UNITS(UNITS)};

bool n6virt_is_npu(uint32_t address)
{
    return address - N6_NPU_BASE < N6VIRT_NPU_BYTES;
}

uint32_t n6virt_npu_read(uint32_t address)
{
    uint32_t unit = (address - N6_NPU_BASE) / UNIT_BYTES;

    if ((address - N6_NPU_BASE) % UNIT_BYTES == VERSION) {
        for (unsigned i = 0; i < ARRAY_SIZE(units); i++) {
            if (unit - units[i].first < units[i].count) {
                return units[i].version;
            }
        }
    }
    return n6virt_get(address);
}

void n6virt_npu_write(uint32_t address, uint32_t value)
{
    if ((address - N6_NPU_BASE) % UNIT_BYTES == CTRL) {
        value &= ~(CTRL_CLR | CTRL_CONFCLR);
    }
    n6virt_set(address, value);
}
