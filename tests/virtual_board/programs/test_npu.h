/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual board's test NPU: it sums bytes as the real NPU would read them, and writes bytes. Real boards do not have it.
 */
#ifndef TEST_NPU_H
#define TEST_NPU_H

#include "n6_reg.h"
#include "n6_soc.h"

/* The test NPU's registers are behind the last unit of the NPU. */
#define TEST_NPU_BASE (N6_NPU_BASE + 0x1F000u)

static inline uint32_t test_npu_sum(uint32_t source, uint32_t bytes)
{
    N6_REG32(TEST_NPU_BASE) = source;
    N6_REG32(TEST_NPU_BASE + 4u) = bytes;
    N6_REG32(TEST_NPU_BASE + 8u) = 1u; /* SUM */
    return N6_REG32(TEST_NPU_BASE + 12u);
}

static inline void test_npu_fill(uint32_t address, uint32_t bytes, uint8_t value)
{
    N6_REG32(TEST_NPU_BASE) = address;
    N6_REG32(TEST_NPU_BASE + 4u) = bytes;
    N6_REG32(TEST_NPU_BASE + 12u) = value;
    N6_REG32(TEST_NPU_BASE + 8u) = 2u; /* FILL */
}

#endif
