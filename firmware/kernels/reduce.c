/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest and smallest element over some dimensions, int8. The smallest is the complement of the largest complement, since ~x
 * falls as x rises.
 */
#include "helium.h"
#include "n6_kernels.h"
#include "n6_kernels_plain.h"

static inline void plain_reduce(const n6k_reduce_t *op, int32_t mask)
{
    const n6k_reduction_t *of = &op->reduction;
    int8_t *output = op->output;
    for (uint32_t outer = 0; outer < of->outer; outer++) {
        for (uint32_t middle = 0; middle < of->middle; middle++) {
            for (uint32_t inner = 0; inner < of->inner; inner++) {
                int32_t largest = INT8_MIN;
                for (uint32_t first = 0; first < of->first; first++) {
                    const uint32_t block = (outer * of->first + first) * of->middle + middle;
                    const int8_t *input = op->input + block * of->second * of->inner + inner;
                    for (uint32_t second = 0; second < of->second; second++) {
                        const int32_t value = input[second * of->inner] ^ mask;
                        largest = value > largest ? value : largest;
                    }
                }
                *output++ = (int8_t)(largest ^ mask);
            }
        }
    }
}

void n6k_plain_reduce_max(const n6k_reduce_t *op)
{
    plain_reduce(op, 0);
}

void n6k_plain_reduce_min(const n6k_reduce_t *op)
{
    plain_reduce(op, -1);
}

#if defined(__ARM_FEATURE_MVE)

static int32_t largest_of(const int8_t *from, uint32_t count, int8x16_t mask, int32_t largest)
{
    int8_t found = (int8_t)largest;
    for (uint32_t at = 0; at < count; at += 16) {
        const mve_pred16_t lanes = vctp8q(count - at);
        found = vmaxvq_p_s8(found, veorq_s8(vldrbq_z_s8(from + at, lanes), mask), lanes);
    }
    return found;
}

static inline __attribute__((always_inline)) void reduce(const n6k_reduce_t *op, int8_t bits)
{
    const n6k_reduction_t *of = &op->reduction;
    const int8x16_t mask = vdupq_n_s8(bits);
    const uint32_t block = of->second * of->inner, stride = of->middle * block;
    int8_t *output = op->output;
    for (uint32_t outer = 0; outer < of->outer; outer++) {
        const int8_t *input = op->input + outer * of->first * stride;
        for (uint32_t middle = 0; middle < of->middle; middle++, input += block) {
            if (of->inner == 1) { /* the elements of one output are contiguous */
                int32_t largest = INT8_MIN;
                for (uint32_t first = 0; first < of->first; first++) {
                    largest = largest_of(input + first * stride, of->second, mask, largest);
                }
                *output++ = (int8_t)(largest ^ bits);
                continue;
            }
            for (uint32_t inner = 0; inner < of->inner; inner += 16) {
                const mve_pred16_t lanes = vctp8q(of->inner - inner);
                int8x16_t largest = vdupq_n_s8(INT8_MIN);
                for (uint32_t first = 0; first < of->first; first++) {
                    const int8_t *row = input + first * stride + inner;
                    for (uint32_t second = of->second; second > 0; second--, row += of->inner) {
                        largest = vmaxq_s8(largest, veorq_s8(vldrbq_z_s8(row, lanes), mask));
                    }
                }
                vstrbq_p_s8(output + inner, veorq_s8(largest, mask), lanes);
            }
            output += of->inner;
        }
    }
}

void n6k_reduce_max(const n6k_reduce_t *op)
{
    reduce(op, 0);
}

void n6k_reduce_min(const n6k_reduce_t *op)
{
    reduce(op, -1);
}

#else

void n6k_reduce_max(const n6k_reduce_t *op)
{
    n6k_plain_reduce_max(op);
}

void n6k_reduce_min(const n6k_reduce_t *op)
{
    n6k_plain_reduce_min(op);
}

#endif
