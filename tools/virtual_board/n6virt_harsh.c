/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Silicon where it is harsher than an emulator. With harsh=SEED, RAM holds random words after power-on, a PLL takes time to lock,
 * parts take time after a reset (n6virt_nor.c, n6virt_psram.c), slow pins limit their clock (n6virt_gpio.c), and a PSRAM needs
 * its rows and its refresh. n6virt_program.c checks .bss and stack.
 */
#include "n6virt.h"

#include "qemu/bswap.h"

#define WORD 4u

static uint32_t seed;

bool n6virt_is_harsh(void)
{
    return seed;
}

/* Mix address and seed, so that each word can be computed again. */
static uint32_t fresh_word(uint32_t address)
{
    uint32_t value = address ^ seed * 0x9e3779b9u;

    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

void n6virt_fill_fresh(void *to, uint32_t address, uint32_t bytes)
{
    uint8_t *at = to;

    if (!seed) {
        memset(to, 0, bytes);
        return;
    }
    for (uint32_t offset = 0; offset + WORD <= bytes; offset += WORD) {
        stl_le_p(at + offset, fresh_word(address + offset));
    }
}

static void add_properties(Object *machine)
{
    static const N6VirtNumber number = {"harsh", &seed};

    n6virt_number_properties(machine, &number, 1);
}

static const N6VirtModule module = {.add_properties = add_properties};
N6VIRT_MODULE(module)
