/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the steps is that of ST's runtime. This code has run on the virtual board only, never on silicon.
 */
#include "ll_aton_npu.h"

#include <stddef.h>

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#include "n6_npu_blob.h"
#include "n6_reg.h"
#include "n6_soc_npu.h"

/* Limits for a unit that clears itself and for a blob. At about twenty CPU cycles a poll, a blob gets more than a second. */
#define READY_POLLS 100000u
#define BLOB_POLLS 50000000u
#define ALL_MASKED 0xFFFFFFFFu
#define KIND_AND_VERSION 0xFFFFu
#define HOST_LINES 4u
/* The alignment of a blob's address. */
#define ALIGNMENT 8u
/* The errors that the epoch controller may report. */
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

static const n6_blob_result_t well = {N6_BLOB_OK, 0u, 0u};

const char *n6_blob_text(n6_blob_status_t status)
{
    switch (status) {
    case N6_BLOB_UNIT_NOT_READY:
        return "N6-FW-060 a unit of the NPU does not become ready: CTRL at";
    case N6_BLOB_OTHER_VERSION:
        return "N6-FW-061 a unit of the NPU has another version than the blobs expect: VERSION at";
    case N6_BLOB_NONE:
        return "N6-FW-062 the network's blob is missing: the word at";
    case N6_BLOB_ERROR:
        return "N6-FW-063 the epoch controller stopped with an error: IRQ in epoch";
    case N6_BLOB_TOO_LONG:
        return "N6-FW-064 a blob does not end: CTRL of the epoch controller in epoch";
    default:
        return "";
    }
}

/* CLR, then CONFCLR: they clear themselves, and are the same bits in every unit. */
static n6_blob_result_t clear(uint32_t control)
{
    static const uint32_t bits[] = {N6_NPU_EPOCHCTRL_CTRL_CLR, N6_NPU_EPOCHCTRL_CTRL_CONFCLR};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        N6_REG32(control) = bits[i];
        if (!n6_wait_for(control, bits[i], 0u, READY_POLLS)) {
            return (n6_blob_result_t){N6_BLOB_UNIT_NOT_READY, control, N6_REG32(control)};
        }
    }
    return well;
}

static n6_blob_result_t has_known_units(void)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        uint32_t version = N6_REG32(units[i].version);
        if ((version & KIND_AND_VERSION) != units[i].expected) {
            return (n6_blob_result_t){N6_BLOB_OTHER_VERSION, units[i].version, version};
        }
    }
    return well;
}

n6_blob_result_t n6_blobs_open(void)
{
    n6_blob_result_t result = clear(N6_NPU_CLKCTRL_CTRL);
    if (result.status != N6_BLOB_OK) {
        return result;
    }
    N6_REG32(N6_NPU_CLKCTRL_CTRL) = N6_NPU_CLKCTRL_CTRL_EN;
    N6_REG32(N6_NPU_CLKCTRL_AGATES0) = ALL_MASKED;
    N6_REG32(N6_NPU_CLKCTRL_AGATES1) = ALL_MASKED;
    N6_REG32(N6_NPU_CLKCTRL_BGATES) = N6_NPU_EPOCHCTRL_GATE;
    n6_barrier();
    result = has_known_units();
    if (result.status == N6_BLOB_OK) {
        result = clear(N6_NPU_INTCTRL_CTRL);
    }
    if (result.status != N6_BLOB_OK) {
        return result;
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
    return well;
}

/* Poll until the end of the blob or an error. */
static n6_blob_result_t wait_for_end(void)
{
    for (uint32_t polls = 0; polls < BLOB_POLLS; polls++) {
        uint32_t reported = N6_REG32(N6_NPU_EPOCHCTRL_IRQ);
        if ((reported & ERRORS) != 0u) {
            return (n6_blob_result_t){N6_BLOB_ERROR, N6_REG32(N6_NPU_EPOCHCTRL_LABEL), reported};
        }
        if ((reported & N6_NPU_EPOCHCTRL_IRQ_IRQ) != 0u) {
            return well;
        }
    }
    return (n6_blob_result_t){N6_BLOB_TOO_LONG, N6_REG32(N6_NPU_EPOCHCTRL_LABEL), N6_REG32(N6_NPU_EPOCHCTRL_CTRL)};
}

n6_blob_result_t n6_blob_run(uintptr_t blob)
{
    uint32_t first = *(const uint32_t *)(blob - blob % ALIGNMENT);
    if (blob % ALIGNMENT != 0u || first != N6_NPU_BLOB_MAGIC) {
        return (n6_blob_result_t){N6_BLOB_NONE, (uint32_t)blob, first};
    }
    N6_REG32(N6_NPU_CLKCTRL_BGATES) |= N6_NPU_EPOCHCTRL_GATE;
    n6_blob_result_t result = clear(N6_NPU_EPOCHCTRL_CTRL);
    if (result.status != N6_BLOB_OK) {
        return result;
    }
    N6_REG32(N6_NPU_EPOCHCTRL_ADDR) = (uint32_t)blob;
    n6_barrier();
    N6_REG32(N6_NPU_EPOCHCTRL_CTRL) = N6_NPU_EPOCHCTRL_CTRL_EN;
    result = wait_for_end();
    /* Writing the reported bits back clears them. Then switch the controller off, in any state. */
    N6_REG32(N6_NPU_EPOCHCTRL_IRQ) = N6_REG32(N6_NPU_EPOCHCTRL_IRQ);
    N6_REG32(N6_NPU_INTCTRL_INTCLR) = N6_REG32(N6_NPU_INTCTRL_INTREG);
    n6_blob_result_t cleared = clear(N6_NPU_EPOCHCTRL_CTRL);
    n6_barrier();
    return result.status != N6_BLOB_OK ? result : cleared;
}

#else

/* A host, which runs networks for tests, has no NPU. */
n6_blob_result_t n6_blobs_open(void)
{
    return (n6_blob_result_t){N6_BLOB_UNIT_NOT_READY, 0u, 0u};
}

n6_blob_result_t n6_blob_run(uintptr_t blob)
{
    (void)blob;
    return n6_blobs_open();
}

#endif
