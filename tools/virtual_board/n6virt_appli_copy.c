/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Check of a load-and-run Appli: once the vector table is the Appli's, its whole image has to be in RAM. Bytes that the Appli
 * may have changed since prove nothing, so only an end that was never written counts: zeros where the NOR has other bytes.
 * An encrypted image has other bytes in RAM, and is not checked.
 */
#include "n6virt.h"

#include "cpu.h"
#include "qemu/bswap.h"
#include "n6_encryption_format.h"

/* The slots of the Appli; second_slot 0: there is only one. */
static uint32_t appli_slot, second_slot;
static bool is_checked;

static uint32_t image_bytes(const uint8_t *nor, uint32_t nor_bytes, uint32_t slot)
{
    return nor && slot < nor_bytes ? n6virt_image_bytes(nor + slot, MIN(nor_bytes - slot, N6_APPLI_LOAD_BYTES)) : 0;
}

static uint32_t bytes_alike(const uint8_t *image, const uint8_t *ram, uint32_t bytes)
{
    uint32_t alike = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        alike += image[i] == ram[i];
    }
    return alike;
}

/* Return the offset of the slot whose image RAM resembles more: the FSBL chooses one of two, by rules of its own. */
static uint32_t started_slot(const uint8_t *nor, uint32_t nor_bytes)
{
    uint32_t first = appli_slot - N6_XSPI2_WINDOW_BASE, second = second_slot - N6_XSPI2_WINDOW_BASE;
    uint32_t in_first = image_bytes(nor, nor_bytes, first), in_second = image_bytes(nor, nor_bytes, second);
    uint32_t common = MIN(in_first, in_second);
    bool is_second = in_second && !in_first;
    uint8_t *ram;

    if (common) {
        ram = g_malloc0(common);
        is_second = n6virt_latest(N6_APPLI_LOAD_ADDRESS, ram, common) &&
                    bytes_alike(nor + second, ram, common) > bytes_alike(nor + first, ram, common);
        g_free(ram);
    }
    return is_second ? second : first;
}

static bool is_encrypted(const uint8_t *image, uint32_t bytes)
{
    return bytes >= N6_ENCRYPTION_APPLI_START && ldl_le_p(image + N6_ENCRYPTION_APPLI_OFFSET) == N6_ENCRYPTION_MAGIC;
}

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
    slot = started_slot(nor, nor_bytes);
    image = nor + slot;
    end = nor && slot < nor_bytes ? n6virt_image_bytes(image, MIN(nor_bytes - slot, N6_APPLI_LOAD_BYTES)) : 0;
    if (!end || is_encrypted(image, end)) {
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
    object_property_add_uint32_ptr(machine, "appli-second-slot", &second_slot, OBJ_PROP_FLAG_READWRITE);
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
