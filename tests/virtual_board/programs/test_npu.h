/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual board's test NPU: sums bytes as the real one would read them, and writes some. Never on a real board.
 */
#ifndef TEST_NPU_H
#define TEST_NPU_H

#include "n6_reg.h"
#include "n6_soc.h"

/* Behind the last of its units. */
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
