/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * EXTI: lines 0 to 15 with an interrupt of their own each, which a program can trigger itself (SWIER1). The pins of the virtual
 * board do not change, so they trigger none.
 */
#include "n6virt.h"

/* Lines 0 to 15, of pins, interrupt the CPU. Higher ones only wake it up for interrupts of other blocks. */
#define LINES 16

static void update(const N6VirtBlock *block)
{
    uint32_t base = block->base;
    uint32_t pending = n6virt_get(base + N6_EXTI_RPR1_OFFSET) | n6virt_get(base + N6_EXTI_FPR1_OFFSET);

    pending &= n6virt_get(base + N6_EXTI_IMR1_OFFSET);
    for (unsigned line = 0; line < LINES; line++) {
        n6virt_interrupt(N6_IRQ_EXTI0 + line, pending >> line & 1);
    }
}

static void exti_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    uint32_t base = block->base, before = n6virt_get(base + offset);

    switch (offset) {
    case N6_EXTI_SWIER1_OFFSET: /* acts as a rising edge, and is cleared with it */
        n6virt_set(base + N6_EXTI_RPR1_OFFSET, n6virt_get(base + N6_EXTI_RPR1_OFFSET) | value);
        value |= before;
        break;
    case N6_EXTI_RPR1_OFFSET:
        n6virt_set(base + N6_EXTI_SWIER1_OFFSET, n6virt_get(base + N6_EXTI_SWIER1_OFFSET) & ~value);
        value = before & ~value;
        break;
    case N6_EXTI_FPR1_OFFSET:
        value = before & ~value;
        break;
    }
    n6virt_set(base + offset, value);
    update(block);
}

static const N6VirtModel model = {
    .write = exti_write,
    .registers = (const uint32_t[]){N6_EXTI_RTSR1_OFFSET, N6_EXTI_FTSR1_OFFSET, N6_EXTI_SWIER1_OFFSET, N6_EXTI_RPR1_OFFSET,
                                    N6_EXTI_FPR1_OFFSET, N6_EXTI_SECCFGR1_OFFSET, N6_EXTI_PRIVCFGR1_OFFSET,
                                    N6_EXTI_EXTICR1_OFFSET, N6_EXTI_EXTICR2_OFFSET, N6_EXTI_EXTICR3_OFFSET,
                                    N6_EXTI_EXTICR4_OFFSET, N6_EXTI_IMR1_OFFSET, N6_EXTI_EMR1_OFFSET, N6VIRT_END},
};

static void start(void)
{
    n6virt_model(N6_EXTI_BASE, &model);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
