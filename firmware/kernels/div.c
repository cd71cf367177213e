/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise quotient, int8. Plain C only: quotients are rare, and a vector of divisors needs a search in each lane.
 */
#include "broadcast.h"
#include "n6_kernels_plain.h"
#include "fixed32.h"

/* Divide by up to 2^63. From 2^32 on the result should be 0. But the reference resolver uses the shift of a 32-bit processor,
 * which takes the exponent modulo 32, and a mask of 32 bits: with a coarse output scale, small dividends by large divisors give
 * large results. A model tuned with it relies on that, or is not affected. */
static int32_t divide_by_power_of_two(int32_t x, int32_t exponent)
{
    return exponent < 32 ? n6k_rounding_divide(x, exponent) : (x >> (exponent - 32)) + (x < 0 ? 0 : 1);
}

static int32_t quotient(const n6k_product_t *op, int32_t a, int32_t b)
{
    if (b == 0) {
        return a > 0 ? INT8_MAX - INT8_MIN : (a < 0 ? INT8_MIN - INT8_MAX : 0);
    }
    const int32_t dividend = b < 0 ? -a : a;
    const uint32_t divisor = (uint32_t)(b < 0 ? -b : b);
    const int32_t zeros = n6k_leading_zeros(divisor);
    const int32_t inverse = n6k_reciprocal_of_one_plus((int32_t)((divisor << zeros) - (UINT32_C(1) << 31)));
    const int32_t headroom = n6k_leading_zeros((uint32_t)(dividend < 0 ? ~dividend : dividend)) - 1;
    const int32_t unscaled = n6k_scale_double(dividend, inverse, headroom);
    return divide_by_power_of_two(n6k_doubling_high_multiply(unscaled, op->multiplier),
                                  31 - zeros + headroom - op->shift);
}

void n6k_plain_div(const n6k_product_t *op)
{
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        for (uint32_t i = 0; i < walk.elements; i++) {
            const int32_t scaled = quotient(op, walk.a[i] - op->a_zero_point, walk.b[i] - op->b_zero_point);
            walk.output[i] = n6k_to_output(scaled, op->range);
        }
    } while (n6k_walk_next(&walk));
}

void n6k_div(const n6k_product_t *op)
{
    n6k_plain_div(op);
}
