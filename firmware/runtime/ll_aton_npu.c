/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the steps is that of ST's runtime. Has run on the virtual board only, never on silicon.
 */
#include "ll_aton_npu.h"

#include <stddef.h>

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#include "n6_reg.h"
#include "n6_soc.h"

/* Of a unit that clears itself, and of a blob: at some twenty cycles of the CPU for each, more than a second. */
#define READY_POLLS 100000u
#define BLOB_POLLS 50000000u
#define ALL_MASKED 0xFFFFFFFFu
#define KIND_AND_VERSION 0xFFFFu
#define HOST_LINES 4u
/* What the epoch controller may report besides the end of a blob. */
#define ERRORS                                                                                                         \
    (N6_NPU_EPOCHCTRL_IRQ_ERR_BUSPORT | N6_NPU_EPOCHCTRL_IRQ_ERR_CONF | N6_NPU_EPOCHCTRL_IRQ_ERR_START |                \
     N6_NPU_EPOCHCTRL_IRQ_ERR_TIMEOUT | N6_NPU_EPOCHCTRL_IRQ_ERR_UNKOP | N6_NPU_EPOCHCTRL_IRQ_ERR_SRC |                 \
     N6_NPU_EPOCHCTRL_IRQ_ERR_EVT)

/* The first unit of each kind. */
static const struct {
    uint32_t version, expected;
} units[] = {
#define N6_UNIT(version, expected) {version, expected},
    N6_NPU_UNITS(N6_UNIT)
#undef N6_UNIT
};

/* CLR, then CONFCLR: they clear themselves, and are the same bits in every unit. */
static bool clear(uint32_t control)
{
    static const uint32_t bits[] = {N6_NPU_EPOCHCTRL_CTRL_CLR, N6_NPU_EPOCHCTRL_CTRL_CONFCLR};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        N6_REG32(control) = bits[i];
        if (!n6_wait_for(control, bits[i], 0u, READY_POLLS)) {
            return false;
        }
    }
    return true;
}

static bool has_known_units(void)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((N6_REG32(units[i].version) & KIND_AND_VERSION) != units[i].expected) {
            return false;
        }
    }
    return true;
}

bool n6_blobs_open(void)
{
    if (!clear(N6_NPU_CLKCTRL_CTRL)) {
        return false;
    }
    N6_REG32(N6_NPU_CLKCTRL_CTRL) = N6_NPU_CLKCTRL_CTRL_EN;
    N6_REG32(N6_NPU_CLKCTRL_AGATES0) = ALL_MASKED;
    N6_REG32(N6_NPU_CLKCTRL_AGATES1) = ALL_MASKED;
    N6_REG32(N6_NPU_CLKCTRL_BGATES) = N6_NPU_EPOCHCTRL_GATE;
    n6_barrier();
    if (!has_known_units() || !clear(N6_NPU_INTCTRL_CTRL)) {
        return false;
    }
    for (uint32_t line = 0; line < HOST_LINES; line++) {
        N6_REG32(N6_NPU_INTCTRL_INTORMSK + 4u * line) = ALL_MASKED;
        N6_REG32(N6_NPU_INTCTRL_INTANDMSK + 4u * line) = ALL_MASKED;
    }
    N6_REG32(N6_NPU_INTCTRL_CTRL) = N6_NPU_INTCTRL_CTRL_EN;
    for (uint32_t unit = 0; unit < N6_NPU_BUSIF_COUNT; unit++) {
        N6_REG32(N6_NPU_BUSIF_CTRL + unit * N6_NPU_UNIT_BYTES) = N6_NPU_BUSIF_CTRL_EN;
    }
    n6_barrier();
    return true;
}

/* Polls until the end of the blob or an error; true for an end without one. */
static bool wait_for_end(void)
{
    for (uint32_t polls = 0; polls < BLOB_POLLS; polls++) {
        uint32_t reported = N6_REG32(N6_NPU_EPOCHCTRL_IRQ);
        if ((reported & ERRORS) != 0u) {
            return false;
        }
        if ((reported & N6_NPU_EPOCHCTRL_IRQ_IRQ) != 0u) {
            return true;
        }
    }
    return false;
}

bool n6_blob_run(uintptr_t blob)
{
    N6_REG32(N6_NPU_CLKCTRL_BGATES) |= N6_NPU_EPOCHCTRL_GATE;
    if (!clear(N6_NPU_EPOCHCTRL_CTRL)) {
        return false;
    }
    N6_REG32(N6_NPU_EPOCHCTRL_ADDR) = (uint32_t)blob;
    n6_barrier();
    N6_REG32(N6_NPU_EPOCHCTRL_CTRL) = N6_NPU_EPOCHCTRL_CTRL_EN;
    bool well = wait_for_end();
    /* What it reports is cleared by writing it back; then the controller is switched off, whatever it is doing. */
    N6_REG32(N6_NPU_EPOCHCTRL_IRQ) = N6_REG32(N6_NPU_EPOCHCTRL_IRQ);
    N6_REG32(N6_NPU_INTCTRL_INTCLR) = N6_REG32(N6_NPU_INTCTRL_INTREG);
    bool cleared = clear(N6_NPU_EPOCHCTRL_CTRL);
    n6_barrier();
    return well && cleared;
}

#else

/* A host that runs a network for a test has no NPU. */
bool n6_blobs_open(void)
{
    return false;
}

bool n6_blob_run(uintptr_t blob)
{
    (void)blob;
    return false;
}

#endif
