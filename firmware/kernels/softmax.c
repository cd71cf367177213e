/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, int8, in fixed point. Qi.f: i integer bits, f fractional bits, one sign bit.
 */
#include "fixed32.h"
#include "n6_kernels_plain.h"

#define SUM_INTEGER_BITS 12 /* the sum of exponentials is Q12.19 */

void n6k_plain_softmax(const n6k_softmax_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t row = 0; row < op->rows; row++, input += op->depth, output += op->depth) {
        int32_t largest = INT8_MIN;
        for (uint32_t i = 0; i < op->depth; i++) {
            largest = input[i] > largest ? input[i] : largest;
        }

        int32_t sum = 0;
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t difference = input[i] - largest;
            if (difference >= op->diff_min) {
                const int32_t scaled = n6k_scale_double(difference, op->multiplier, op->left_shift);
                sum += n6k_rounding_divide(n6k_exp_of_negative(scaled), SUM_INTEGER_BITS);
            }
        }

        const int32_t zeros = n6k_leading_zeros((uint32_t)sum);
        const int32_t scale = n6k_reciprocal_of_one_plus((int32_t)(((uint32_t)sum << zeros) - (UINT32_C(1) << 31)));
        const int32_t right = SUM_INTEGER_BITS - zeros + 31 - 8;
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t difference = input[i] - largest;
            int32_t value = INT8_MIN;
            if (difference >= op->diff_min) {
                const int32_t scaled = n6k_scale_double(difference, op->multiplier, op->left_shift);
                const int32_t product = n6k_doubling_high_multiply(scale, n6k_exp_of_negative(scaled));
                value += right > 31 ? 0 : n6k_rounding_divide(product, right); /* each of 512 or more is below 1/512 */
            }
            output[i] = (int8_t)n6k_clamp(value, INT8_MIN, INT8_MAX);
        }
    }
}

void n6k_softmax(const n6k_softmax_t *op)
{
    n6k_plain_softmax(op);
}
