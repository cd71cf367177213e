/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over some dimensions, int8, and their means.
 */
#include "helium.h"
#include "n6_kernels.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_sum(const n6k_reduced_sum_t *op)
{
    const n6k_reduction_t *of = &op->reduction;
    int8_t *output = op->output;
    for (uint32_t outer = 0; outer < of->outer; outer++) {
        for (uint32_t middle = 0; middle < of->middle; middle++) {
            for (uint32_t inner = 0; inner < of->inner; inner++) {
                uint32_t sum = (uint32_t)op->bias; /* wraps, as the reference's does */
                for (uint32_t first = 0; first < of->first; first++) {
                    const uint32_t block = (outer * of->first + first) * of->middle + middle;
                    const int8_t *input = op->input + block * of->second * of->inner + inner;
                    for (uint32_t second = 0; second < of->second; second++) {
                        sum += (uint32_t)input[second * of->inner];
                    }
                }
                *output++ = n6k_to_output(n6k_scale_double((int32_t)sum, op->multiplier, op->shift), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

static int32_t sum_of_bytes(const int8_t *from, uint32_t bytes, int32_t sum)
{
    __asm__("wlstp.8 lr, %[bytes], 1f\n"
            "2:\n"
            "vldrb.8 q0, [%[from]], #16\n"
            "vaddva.s8 %[sum], q0\n"
            "letp lr, 2b\n"
            "1:\n"
            : [sum] "+Te"(sum), [from] "+r"(from)
            : [bytes] "r"(bytes)
            : "lr", "q0", "memory");
    return sum;
}

/* Compute one output for each run of `second` contiguous elements. */
static int8_t *sum_runs(const n6k_reduced_sum_t *op, const int8_t *input, uint32_t stride, int8_t *output)
{
    int32_t sum = op->bias;
    for (uint32_t first = op->reduction.first; first > 0; first--, input += stride) {
        sum = sum_of_bytes(input, op->reduction.second, sum);
    }
    *output = n6k_to_output(n6k_scale_double(sum, op->multiplier, op->shift), op->range);
    return output + 1;
}

/* Compute four adjacent outputs at a time; the last round has fewer lanes. */
static int8_t *sum_columns(const n6k_reduced_sum_t *op, const int8_t *input, uint32_t stride, int8_t *output)
{
    const n6k_reduction_t *of = &op->reduction;
    for (uint32_t inner = 0; inner < of->inner; inner += 4) {
        const mve_pred16_t lanes = vctp32q(of->inner - inner);
        int32x4_t sum = vdupq_n_s32(op->bias);
        for (uint32_t first = 0; first < of->first; first++) {
            const int8_t *row = input + first * stride + inner;
            for (uint32_t second = of->second; second > 0; second--, row += of->inner) {
                sum = vaddq_s32(sum, vldrbq_z_s32(row, lanes));
            }
        }
        const int32x4_t scaled = n6k_scale_x4(sum, op->multiplier, op->shift);
        vstrbq_p_s32(output + inner, n6k_to_output_x4(scaled, op->range), lanes);
    }
    return output + of->inner;
}

void n6k_sum(const n6k_reduced_sum_t *op)
{
    const n6k_reduction_t *of = &op->reduction;
    const uint32_t block = of->second * of->inner, stride = of->middle * block;
    int8_t *output = op->output;
    for (uint32_t outer = 0; outer < of->outer; outer++) {
        const int8_t *input = op->input + outer * of->first * stride;
        for (uint32_t middle = 0; middle < of->middle; middle++, input += block) {
            output = of->inner == 1 ? sum_runs(op, input, stride, output) : sum_columns(op, input, stride, output);
        }
    }
}

#else

void n6k_sum(const n6k_reduced_sum_t *op)
{
    n6k_plain_sum(op);
}

#endif
