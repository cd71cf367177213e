/* SPDX-License-Identifier: Apache-2.0
 *
 * Dot products of int8 with the caches on, to measure the instructions that the virtual board executes in a second: -DROUNDS=,
 * and -DHELIUM=1 with vectors.
 */
#include <stdint.h>

#include "n6_soc.h"

#include "finish.h"

#if HELIUM
#include <arm_mve.h>
#endif

#define BYTES 4096

void reset(void);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {STACK_TOP, (uintptr_t)reset};

static int8_t left[BYTES], right[BYTES];
volatile int32_t total;

static int32_t dot(const int8_t *a, const int8_t *b)
{
    int32_t sum = 0;
#if HELIUM
    for (uint32_t i = 0; i < BYTES; i += 16) {
        sum = vmladavaq_s8(sum, vldrbq_s8(a + i), vldrbq_s8(b + i));
    }
#else
    for (uint32_t i = 0; i < BYTES; i++) {
        sum += a[i] * b[i];
    }
#endif
    return sum;
}

__attribute__((noinline)) static void compute(void)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        left[i] = (int8_t)i;
        right[i] = (int8_t)(i * 7u);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        left[round % BYTES]++;
        total += dot(left, right);
    }
}

void reset(void)
{
    REG(N6_SCB_CPACR) = N6_SCB_CPACR_CP10 | N6_SCB_CPACR_CP11;
    REG(N6_SCB_CCR) = N6_SCB_CCR_IC | N6_SCB_CCR_DC | N6_SCB_CCR_LOB;
    __asm volatile("dsb\n\tisb");
    compute();
    finish(0);
}
