/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resizing. An element is the sum of four, with weights whose sum is a power of two; the sum has 28 bits at most.
 */
#include "helium.h"
#include "n6_kernels_plain.h"

/* Of a table: two offsets and the weight of the second. */
typedef struct {
    int32_t lower;
    int32_t upper;
    int32_t weight;
} position_t;

static inline position_t position_of(const int32_t *table, uint32_t index)
{
    const position_t position = {table[3 * index], table[3 * index + 1], table[3 * index + 2]};
    return position;
}

typedef struct {
    const int8_t *from[4];
    int32_t weight[4];
} corners_t;

static inline corners_t corners_of(const n6k_resize_bilinear_t *op, position_t row, uint32_t x)
{
    const position_t column = position_of(op->columns, x);
    const int32_t top = (1 << op->row_bits) - row.weight;
    const int32_t left = (1 << op->column_bits) - column.weight;
    const corners_t corners = {
        {op->input + row.lower + column.lower, op->input + row.lower + column.upper,
         op->input + row.upper + column.lower, op->input + row.upper + column.upper},
        {top * left, top * column.weight, row.weight * left, row.weight * column.weight},
    };
    return corners;
}

void n6k_plain_resize_bilinear(const n6k_resize_bilinear_t *op)
{
    const int32_t sum_of_weights = 1 << (op->row_bits + op->column_bits);
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out_height; y++) {
        const position_t row = position_of(op->rows, y);
        for (uint32_t x = 0; x < op->out_width; x++) {
            const corners_t corners = corners_of(op, row, x);
            for (uint32_t c = 0; c < op->channels; c++) {
                int32_t sum = 0;
                for (int i = 0; i < 4; i++) {
                    sum += corners.weight[i] * corners.from[i][c];
                }
                const int32_t half = sum > 0 ? sum_of_weights / 2 : -(sum_of_weights / 2);
                *output++ = (int8_t)((sum + half) / sum_of_weights);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* With sums that fit 16 bits. */
static inline void blend_x8(int8_t *to, const corners_t *corners, uint32_t channels, int16x8_t negative_bits)
{
    for (uint32_t c = 0; c < channels; c += 8) {
        const mve_pred16_t lanes = vctp16q(channels - c);
        int16x8_t sum = vmulq_n_s16(vldrbq_z_s16(corners->from[0] + c, lanes), (int16_t)corners->weight[0]);
        sum = vmlaq_n_s16(sum, vldrbq_z_s16(corners->from[1] + c, lanes), (int16_t)corners->weight[1]);
        sum = vmlaq_n_s16(sum, vldrbq_z_s16(corners->from[2] + c, lanes), (int16_t)corners->weight[2]);
        sum = vmlaq_n_s16(sum, vldrbq_z_s16(corners->from[3] + c, lanes), (int16_t)corners->weight[3]);
        /* Halves away from zero: see n6k_rounding_divide_x4. */
        sum = vaddq_s16(sum, vshrq_n_s16(vandq_s16(sum, negative_bits), 15));
        vstrbq_p_s16(to + c, vrshlq_s16(sum, negative_bits), lanes);
    }
}

static inline void blend_x4(int8_t *to, const corners_t *corners, uint32_t channels, int32x4_t negative_bits)
{
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        int32x4_t sum = vmulq_n_s32(vldrbq_z_s32(corners->from[0] + c, lanes), corners->weight[0]);
        sum = vmlaq_n_s32(sum, vldrbq_z_s32(corners->from[1] + c, lanes), corners->weight[1]);
        sum = vmlaq_n_s32(sum, vldrbq_z_s32(corners->from[2] + c, lanes), corners->weight[2]);
        sum = vmlaq_n_s32(sum, vldrbq_z_s32(corners->from[3] + c, lanes), corners->weight[3]);
        vstrbq_p_s32(to + c, n6k_rounding_divide_x4(sum, negative_bits), lanes);
    }
}

void n6k_resize_bilinear(const n6k_resize_bilinear_t *op)
{
    const int32_t bits = (int32_t)(op->row_bits + op->column_bits);
    /* |sum| <= 2^(7 + bits), and half of the divisor is added to it. */
    const int short_sums = bits <= 7;
    const uint32_t channels = op->channels;
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out_height; y++) {
        const position_t row = position_of(op->rows, y);
        for (uint32_t x = 0; x < op->out_width; x++, output += channels) {
            const corners_t corners = corners_of(op, row, x);
            if (short_sums) {
                blend_x8(output, &corners, channels, vdupq_n_s16((int16_t)-bits));
            } else {
                blend_x4(output, &corners, channels, vdupq_n_s32(-bits));
            }
        }
    }
}

#else

void n6k_resize_bilinear(const n6k_resize_bilinear_t *op)
{
    n6k_plain_resize_bilinear(op);
}

#endif
