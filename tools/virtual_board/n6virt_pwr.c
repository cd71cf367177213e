/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * PWR, SYSCFG: supplies are ready at once. Models that depend on other bits (such as VDDIO3SV) read them from the store.
 */
#include "n6virt.h"

#define MONITORED(n, name) N6_PWR_SVMCR##n##_##name##SV, N6_PWR_SVMCR##n##_##name##RDY

/* Supplies: one that is declared valid reads as ready. */
static const struct {
    uint32_t offset, valid, ready;
} supplies[] = {
    {N6_PWR_SVMCR1_OFFSET, MONITORED(1, VDDIO4)},
    {N6_PWR_SVMCR2_OFFSET, MONITORED(2, VDDIO5)},
    {N6_PWR_SVMCR3_OFFSET, MONITORED(3, VDDIO2)},
    {N6_PWR_SVMCR3_OFFSET, MONITORED(3, VDDIO3)},
    /* ST's driver of the USB waits for it after it has switched the monitor on. */
    {N6_PWR_SVMCR3_OFFSET, N6_PWR_SVMCR3_USB33VMEN | N6_PWR_SVMCR3_USB33SV, N6_PWR_SVMCR3_USB33RDY},
    {N6_PWR_SVMCR3_OFFSET, MONITORED(3, A)},
};

static uint32_t pwr_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    uint32_t value = n6virt_get(block->base + offset);

    if (offset == N6_PWR_VOSCR_OFFSET) {
        value &= N6_PWR_VOSCR_VOS;
        return value | N6_PWR_VOSCR_VOSRDY | N6_PWR_VOSCR_ACTVOSRDY | (value ? N6_PWR_VOSCR_ACTVOS : 0);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(supplies); i++) {
        if (offset == supplies[i].offset) {
            value = value & supplies[i].valid ? value | supplies[i].ready : value & ~supplies[i].ready;
        }
    }
    return value;
}

static const N6VirtModel pwr = {
    .read = pwr_read,
    .registers = (const uint32_t[]){N6_PWR_CR1_OFFSET, N6_PWR_VOSCR_OFFSET, N6_PWR_SVMCR1_OFFSET, N6_PWR_SVMCR2_OFFSET,
                                    N6_PWR_SVMCR3_OFFSET, N6VIRT_END},
};

/* Compensation of pads is ready as soon as it is on; it has no other effect that a program could notice. */
static uint32_t syscfg_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    uint32_t control = offset - sizeof(control);

    switch (offset) {
    case N6_SYSCFG_VDDIO4CCSR_OFFSET:
    case N6_SYSCFG_VDDIO5CCSR_OFFSET:
    case N6_SYSCFG_VDDIO2CCSR_OFFSET:
    case N6_SYSCFG_VDDIO3CCSR_OFFSET:
    case N6_SYSCFG_VDDCCSR_OFFSET:
        return n6virt_get(block->base + control) & N6_SYSCFG_VDDIO3CCCR_EN ? N6_SYSCFG_VDDIO3CCSR_READY : 0;
    default:
        return n6virt_get(block->base + offset);
    }
}

static const N6VirtModel syscfg = {
    .read = syscfg_read,
    .registers = (const uint32_t[]){N6_SYSCFG_INITSVTORCR_OFFSET,
                                    N6_SYSCFG_VDDIO4CCCR_OFFSET, N6_SYSCFG_VDDIO4CCSR_OFFSET,
                                    N6_SYSCFG_VDDIO5CCCR_OFFSET, N6_SYSCFG_VDDIO5CCSR_OFFSET,
                                    N6_SYSCFG_VDDIO2CCCR_OFFSET, N6_SYSCFG_VDDIO2CCSR_OFFSET,
                                    N6_SYSCFG_VDDIO3CCCR_OFFSET, N6_SYSCFG_VDDIO3CCSR_OFFSET,
                                    N6_SYSCFG_VDDCCCR_OFFSET, N6_SYSCFG_VDDCCSR_OFFSET, N6VIRT_END},
};

static void start(void)
{
    n6virt_model(N6_PWR_BASE, &pwr);
    n6virt_model(N6_SYSCFG_BASE, &syscfg);
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
