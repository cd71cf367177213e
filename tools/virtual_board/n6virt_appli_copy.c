/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Check of a load-and-run Appli: once the vector table is the Appli's, its whole image has to be in RAM. Bytes that the Appli
 * may have changed since prove nothing, so only an end that was never written counts: zeros where the NOR has other bytes.
 */
#include "n6virt.h"

#include "cpu.h"

static uint32_t appli_slot;
static bool is_checked;

static void check(void)
{
    CPUARMState *env = &ARM_CPU(first_cpu)->env;
    uint32_t slot = appli_slot - N6_XSPI2_WINDOW_BASE, end, missing = 0, nor_bytes;
    const uint8_t *nor = n6virt_nor_content(&nor_bytes), *image = nor + slot;
    uint32_t stale, first;
    uint8_t *ram, *fresh;

    if (is_checked || env->v7m.vecbase[M_REG_S] != N6_APPLI_PAYLOAD_ADDRESS) {
        return;
    }
    is_checked = true;
    end = nor && slot < nor_bytes ? n6virt_image_bytes(image, MIN(nor_bytes - slot, N6_APPLI_LOAD_BYTES)) : 0;
    if (!end) {
        return;
    }
    ram = g_malloc0(end);
    if (!n6virt_master_read(N6_APPLI_LOAD_ADDRESS, ram, end, &stale, &first) || stale) {
        g_free(ram);
        return;
    }
    fresh = g_malloc0(ROUND_UP(end, 4));
    n6virt_fill_fresh(fresh, N6_APPLI_LOAD_ADDRESS, ROUND_UP(end, 4));
    for (uint32_t i = end; i > 0 && ram[i - 1] == fresh[i - 1]; i--) {
        missing = image[i - 1] != ram[i - 1] ? end - i + 1 : missing;
    }
    g_free(fresh);
    g_free(ram);
    if (missing) {
        n6virt_finding_at(current_cpu ? n6virt_pc() : env->regs[15], "short-copy", N6_APPLI_LOAD_ADDRESS + end - missing,
                       "The Appli runs, but the last %u of its %u bytes were never copied to RAM: copy them before the jump", missing, end);
    }
}

static void add_properties(Object *machine)
{
    object_property_add_uint32_ptr(machine, "appli-slot", &appli_slot, OBJ_PROP_FLAG_READWRITE);
}

static void start(void)
{
    n6virt_on_access(check);
}

static void reset(void)
{
    is_checked = false;
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset};
N6VIRT_MODULE(module)
