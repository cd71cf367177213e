/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resizing of int16, like resize.c for int8; the sum of four has 36 bits. Plain C only.
 */
#include "n6_kernels_plain.h"

void n6k_plain_resize_bilinear_int16(const n6k_resize_bilinear_int16_t *op)
{
    const uint32_t bits = op->row_bits + op->column_bits;
    const int64_t half = ((int64_t)1 << bits) / 2;
    int16_t *output = op->output;
    for (uint32_t y = 0; y < op->out_height; y++) {
        const int16_t *const upper = op->input + op->rows[y];
        const int16_t *const lower = op->input + op->rows[op->out_height + y];
        const int32_t lower_weight = op->rows[2 * op->out_height + y];
        const int32_t upper_weight = (1 << op->row_bits) - lower_weight;
        for (uint32_t x = 0; x < op->out_width; x++) {
            const int32_t left = op->columns[x], right = op->columns[op->out_width + x];
            const int32_t right_weight = op->columns[2 * op->out_width + x];
            const int32_t left_weight = (1 << op->column_bits) - right_weight;
            for (int32_t c = 0; c < (int32_t)op->channels; c++) {
                const int32_t above = upper[left + c] * left_weight + upper[right + c] * right_weight;
                const int32_t below = lower[left + c] * left_weight + lower[right + c] * right_weight;
                const int64_t sum = (int64_t)above * upper_weight + (int64_t)below * lower_weight;
                *output++ = (int16_t)(sum > 0 ? (sum + half) >> bits : -((half - sum) >> bits));
            }
        }
    }
}

void n6k_resize_bilinear_int16(const n6k_resize_bilinear_int16_t *op)
{
    n6k_plain_resize_bilinear_int16(op);
}
