/* SPDX-License-Identifier: Apache-2.0
 *
 * Logarithm of softmax, int8, in fixed point. Qi.f: i integer bits, f fractional bits, one sign bit.
 */
#include "fixed32.h"
#include "n6_kernels_plain.h"

#define SUM_INTEGER_BITS 12     /* the sum of exponentials is Q12.19 */
#define OUTPUT_FRACTION_BITS 22 /* of Q5.26, beyond the output's step of 1/16 */

static inline int32_t scaled(const n6k_log_softmax_t *op, int32_t difference)
{
    return n6k_scale_double(difference, op->multiplier, op->left_shift);
}

void n6k_plain_log_softmax(const n6k_log_softmax_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t row = op->rows; row > 0; row--, input += op->depth, output += op->depth) {
        int32_t largest = INT8_MIN;
        for (uint32_t i = 0; i < op->depth; i++) {
            largest = input[i] > largest ? input[i] : largest;
        }
        int32_t sum = 0;
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t difference = input[i] - largest;
            const int32_t each = difference < op->diff_min ? 0 : n6k_exp_of_negative(scaled(op, difference));
            sum = (int32_t)((uint32_t)sum + (uint32_t)n6k_rounding_divide(each, SUM_INTEGER_BITS));
        }
        const int32_t log_sum = n6k_logarithm(sum);
        const int32_t lowest = n6k_scale_double((int32_t)((uint32_t)log_sum + (UINT32_C(1) << 31)), op->reverse_multiplier,
                                                op->reverse_shift);
        const int32_t limit = lowest > op->diff_min - 1 ? lowest : op->diff_min - 1;
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t difference = input[i] - largest;
            int32_t value = INT8_MIN;
            if (difference > limit) {
                const int32_t q5 = (int32_t)((uint32_t)scaled(op, difference) - (uint32_t)log_sum);
                value = n6k_rounding_divide(q5, OUTPUT_FRACTION_BITS) + INT8_MAX;
            }
            output[i] = (int8_t)n6k_clamp(value, INT8_MIN, INT8_MAX);
        }
    }
}

void n6k_log_softmax(const n6k_log_softmax_t *op)
{
    n6k_plain_log_softmax(op);
}
