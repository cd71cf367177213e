/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of dequantised int8 in float32, with the polynomial and the order of sums of ONNX Runtime.
 */
#include <stdint.h>

#include "float_math.h"
#include "n6_kernels.h"
#include "n6_kernels_plain.h"

/* The number of parallel sums. */
#define LANES 16
#define LOWEST -88.3762626647949f

static int8_t largest_of(const int8_t *row, uint32_t depth)
{
    int8_t largest = INT8_MIN;
    for (uint32_t i = 0; i < depth; i++) {
        largest = row[i] > largest ? row[i] : largest;
    }
    return largest;
}

static float sum_of(const float lanes[LANES])
{
    float sums[8];
    for (uint32_t i = 0; i < 8; i++) {
        sums[i] = lanes[i] + lanes[i + 8];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* Return e^x for x <= 0: 2^n times a polynomial of the rest. */
static float exponential(float x)
{
    x = x < LOWEST ? LOWEST : x;
    const float biased = __builtin_fmaf(x, N6K_LOG2_E, N6K_ROUNDING);
    const float n = biased - N6K_ROUNDING;
    x = __builtin_fmaf(n, -N6K_LN_2_HIGH, x);
    x = __builtin_fmaf(n, -N6K_LN_2_LOW, x);
    return n6k_exp_near_0(x) * n6k_of_bits((n6k_bits_of(biased) << 23) + 0x3f800000U);
}

#if defined(__ARM_FEATURE_MVE)
/* Vectors would turn numbers below 2^-126 into 0. */
__attribute__((optimize("no-tree-vectorize")))
#endif
static void softmax(const n6k_real_softmax_t *op)
{
    const int8_t *row = op->input;
    float *output = op->output;
    for (uint32_t r = 0; r < op->rows; r++, row += op->depth, output += op->depth) {
        const float largest = (float)(largest_of(row, op->depth) - op->zero_point) * op->scale;
        float lanes[LANES] = {0};
        for (uint32_t i = 0; i < op->depth; i++) {
            output[i] = exponential((float)(row[i] - op->zero_point) * op->scale - largest);
            lanes[i % LANES] += output[i];
        }
        const float factor = 1.0f / sum_of(lanes);
        for (uint32_t i = 0; i < op->depth; i++) {
            output[i] *= factor;
        }
    }
}

void n6k_plain_real_softmax(const n6k_real_softmax_t *op)
{
    softmax(op);
}

void n6k_real_softmax(const n6k_real_softmax_t *op)
{
    softmax(op);
}
