/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ll_aton_npu.h"
#include "n6_npu_blob.h"
#include "n6_reg.h"
#include "n6_soc.h"

#define WORDS (1u << 16)
#define SELF_CLEARING (N6_NPU_EPOCHCTRL_CTRL_CLR | N6_NPU_EPOCHCTRL_CTRL_CONFCLR)

static uint32_t registers[WORDS];
static uint32_t stuck;
static uint32_t reported;
/* Number of starts of the epoch controller. */
uint32_t fake_starts;

static uint32_t *at(uint32_t address)
{
    return &registers[(address - N6_NPU_CLKCTRL_CTRL) / 4u % WORDS];
}

volatile uint32_t *fake_register(uint32_t address)
{
    static const uint32_t controls[] = {N6_NPU_CLKCTRL_CTRL, N6_NPU_INTCTRL_CTRL, N6_NPU_EPOCHCTRL_CTRL};
    for (unsigned i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        if (controls[i] != stuck) {
            *at(controls[i]) &= ~SELF_CLEARING;
        }
    }
    uint32_t *control = at(N6_NPU_EPOCHCTRL_CTRL);
    if ((*control & (N6_NPU_EPOCHCTRL_CTRL_EN | N6_NPU_EPOCHCTRL_CTRL_RUNNING)) == N6_NPU_EPOCHCTRL_CTRL_EN) {
        *control |= N6_NPU_EPOCHCTRL_CTRL_RUNNING;
        *at(N6_NPU_EPOCHCTRL_LABEL) = 7u;
        *at(N6_NPU_EPOCHCTRL_IRQ) = reported;
        fake_starts++;
    }
    return at(address);
}

/* Power on an NPU of the version that blobs need. stuck_control: address of a CTRL whose bits do not clear themselves, or 0.
 * irq: the epoch controller's report once it runs; 0: it never ends. */
void fake_power_on(uint32_t stuck_control, uint32_t irq)
{
    memset(registers, 0, sizeof registers);
#define N6_UNIT(version, expected) *at(version) = 0xABCD0000u | (expected);
    N6_NPU_UNITS(N6_UNIT)
#undef N6_UNIT
    stuck = stuck_control;
    reported = irq;
    fake_starts = 0u;
}

/* Run a blob. first: its first word, or another word in its place. offset: bytes from an address that a blob may have. */
n6_blob_result_t fake_run(uint32_t first, uint32_t offset)
{
    static _Alignas(8) uint32_t words[4];
    words[0] = first;
    return n6_blob_run((uintptr_t)words + offset);
}

uint32_t fake_epoch_control(void)
{
    return N6_NPU_EPOCHCTRL_CTRL;
}

uint32_t fake_interrupt_control(void)
{
    return N6_NPU_INTCTRL_CTRL;
}

uint32_t fake_last_version(void)
{
    uint32_t last = 0u;
#define N6_UNIT(version, expected) last = version + 0u * (expected);
    N6_NPU_UNITS(N6_UNIT)
#undef N6_UNIT
    return last;
}
