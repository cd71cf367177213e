/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, int8, in fixed point. Qi.f: i integer bits, f fractional bits, one sign bit.
 */
#include "n6_kernels_plain.h"
#include "reciprocal.h"
#include "requantize.h"

#define SUM_INTEGER_BITS 12 /* the sum of exponentials is Q12.19 */

/* exp(x) for -1/4 <= x < 0, Q0.31: the Taylor series around -1/8 up to the fourth power. */
static int32_t exp_of_last_quarter(int32_t x)
{
    const int32_t exp_minus_eighth = 1895147668;
    const int32_t third = 715827883;
    const int32_t d = x + (1 << 28);
    const int32_t d2 = n6k_doubling_high_multiply(d, d);
    const int32_t d3 = n6k_doubling_high_multiply(d2, d);
    const int32_t d4_4 = n6k_rounding_divide(n6k_doubling_high_multiply(d2, d2), 2);
    const int32_t tail = n6k_rounding_divide(n6k_doubling_high_multiply(d4_4 + d3, third) + d2, 1);
    return exp_minus_eighth + n6k_doubling_high_multiply(exp_minus_eighth, d + tail);
}

static inline int32_t times_if(int32_t condition, int32_t x, int32_t factor)
{
    return condition != 0 ? n6k_doubling_high_multiply(x, factor) : x;
}

/* exp(x) for x <= 0: Q5.26 to Q0.31. */
static int32_t exp_of_negative(int32_t x)
{
    const int32_t quarter = 1 << 24;
    if (x == 0) {
        return INT32_MAX;
    }
    const int32_t last_quarter = (x & (quarter - 1)) - quarter;
    const int32_t rest = last_quarter - x;
    int32_t result = exp_of_last_quarter(n6k_saturating_shift_left(last_quarter, 5));
    /* exp(-2^k), k = -2..4, Q0.31; as code, because a table would be data with an address. */
    result = times_if(rest & quarter, result, 1672461947);
    result = times_if(rest & (quarter << 1), result, 1302514674);
    result = times_if(rest & (quarter << 2), result, 790015084);
    result = times_if(rest & (quarter << 3), result, 290630308);
    result = times_if(rest & (quarter << 4), result, 39332535);
    result = times_if(rest & (quarter << 5), result, 720401);
    result = times_if(rest & (quarter << 6), result, 242);
    return result;
}

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
                sum += n6k_rounding_divide(exp_of_negative(scaled), SUM_INTEGER_BITS);
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
                const int32_t product = n6k_doubling_high_multiply(scale, exp_of_negative(scaled));
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
