/* SPDX-License-Identifier: Apache-2.0
 *
 * Logistic, hyperbolic tangent and softmax, int16, by tables with linear interpolation. The code is scalar: Helium gains little
 * if each element needs a table look-up.
 */
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

static int32_t argument(int16_t x, int32_t multiplier, int32_t right_shift)
{
    const int32_t round = right_shift > 0 ? 1 << (right_shift - 1) : 0;
    return (x * multiplier + round) >> right_shift;
}

static uint32_t magnitude(int32_t x)
{
    return (uint32_t)(x < 0 ? -x : x);
}

/* Return the logistic function of a positive number, with 16 + bits bits. Its lowest `bits` bits interpolate two entries. */
static uint32_t between(const int16_t *table, uint32_t x, uint32_t bits, uint32_t beyond)
{
    const uint32_t index = x >> bits;
    if (index >= 255) {
        return beyond << bits;
    }
    const uint32_t low = (uint16_t)table[index];
    return (low << bits) + (x & ((1U << bits) - 1)) * ((uint16_t)table[index + 1] - low);
}

void n6k_plain_logistic_int16(const n6k_table_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t x = argument(op->input[i], op->multiplier, op->right_shift);
        const uint32_t positive = between(op->table, magnitude(x), 9, 0xFFFE);
        const uint32_t result = x >= 0 ? positive + (1U << 9) : (1U << 25) - positive + (1U << 9) - 1;
        op->output[i] = (int16_t)(result >> 10);
    }
}

/* Compute tanh(x) as 2 * logistic(2 * x) - 1. */
void n6k_plain_tanh_int16(const n6k_table_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t x = argument(op->input[i], op->multiplier, op->right_shift);
        const int32_t positive = (int32_t)between(op->table, magnitude(x), 8, 0xFFFF);
        const int32_t half = 1 << 23;
        const int32_t result = x >= 0 ? positive - half + (1 << 7) : -positive + half + (1 << 7) - 1;
        op->output[i] = (int16_t)(result >> 8);
    }
}

/* Look up x with interpolation. table: 513 entries for steps of 128. */
static int32_t looked_up(const int16_t *table, int32_t x)
{
    const int16_t *entry = table + 256 + (x >> 7);
    return (int16_t)(entry[0] + (((int16_t)(entry[1] - entry[0]) * (x & 127) + 64) >> 7));
}

void n6k_plain_softmax_int16(const n6k_softmax_int16_t *op)
{
    const int16_t *input = op->input;
    int16_t *output = op->output;
    for (uint32_t row = 0; row < op->rows; row++, input += op->depth, output += op->depth) {
        int32_t largest = INT16_MIN;
        for (uint32_t i = 0; i < op->depth; i++) {
            largest = input[i] > largest ? input[i] : largest;
        }

        uint32_t sum = 0; /* Q16.15; below 2^31, see the check of its rows */
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t shifted = (int32_t)((uint32_t)(input[i] - largest) << op->left_shift);
            const int32_t product = n6k_doubling_high_multiply(shifted, op->multiplier);
            const int32_t scaled = n6k_rounding_divide(product, op->right_shift);
            /* Scaled differences that leave int32 wrap, as the shift above does. */
            const int32_t position = (int32_t)((uint32_t)scaled + INT16_MAX);
            const int32_t power = looked_up(op->exponential, n6k_clamp(position, INT16_MIN, INT16_MAX));
            output[i] = (int16_t)power;
            sum += (uint32_t)power;
        }

        const int32_t zeros = sum == 0 ? 32 : n6k_clamp(__builtin_clz(sum), 1, 31);
        /* Normalise the sum to 2^30 to 2^31, then reduce it to steps of 2^14. */
        const uint32_t normal = sum << (zeros - 1);
        const int32_t mantissa = (int32_t)((normal + (1U << 13)) >> 14) - (3 << 15);
        const int32_t scale = looked_up(op->reciprocal, n6k_clamp(mantissa, INT16_MIN, INT16_MAX));
        /* A sum of 0 or 1 has no bits to round. */
        const int32_t right = zeros < 31 ? 31 - zeros : 0;
        const int32_t half = right > 0 ? 1 << (right - 1) : 0;
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t rounded = (output[i] * scale + half) >> right;
            output[i] = (int16_t)n6k_clamp(rounded, 0, INT16_MAX);
        }
    }
}

void n6k_logistic_int16(const n6k_table_int16_t *op)
{
    n6k_plain_logistic_int16(op);
}

void n6k_tanh_int16(const n6k_table_int16_t *op)
{
    n6k_plain_tanh_int16(op);
}

void n6k_softmax_int16(const n6k_softmax_int16_t *op)
{
    n6k_plain_softmax_int16(op);
}

void n6k_plain_leaky_relu_int16(const n6k_leaky_relu_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t x = op->input[i];
        const int32_t scaled = x >= 0 ? n6k_scale_double(x, op->multiplier, op->shift)
                                      : n6k_scale_double(x, op->negative_multiplier, op->negative_shift);
        op->output[i] = (int16_t)n6k_clamp(scaled, INT16_MIN, INT16_MAX);
    }
}

void n6k_leaky_relu_int16(const n6k_leaky_relu_int16_t *op)
{
    n6k_plain_leaky_relu_int16(op);
}
