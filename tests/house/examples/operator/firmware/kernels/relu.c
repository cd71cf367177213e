/* SPDX-License-Identifier: Apache-2.0
 *
 * RELU, int8. In plain C alone; a Helium path would stand behind `#if defined(__ARM_FEATURE_MVE)`, as in add.c.
 */
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_relu(const n6k_relu_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t scaled = n6k_scale_double(op->input[i] - op->input_zero_point, op->multiplier, op->shift);
        op->output[i] = n6k_to_output(scaled, op->range);
    }
}

void n6k_relu(const n6k_relu_t *op)
{
    n6k_plain_relu(op);
}
