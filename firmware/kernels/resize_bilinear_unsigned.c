/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resizing of int8 converted from uint8: in float32, in the reference resolver's order, halves up. Plain C only.
 */
#include "n6_kernels_plain.h"

/* Return the uint8 value: int8 elements are 128 less. */
static inline float raised(const int8_t *element)
{
    return (float)(*element + 128);
}

void n6k_plain_resize_bilinear_unsigned(const n6k_resize_bilinear_unsigned_t *op)
{
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out_height; y++) {
        const int8_t *const upper = op->input + op->rows[y];
        const int8_t *const lower = op->input + op->rows[op->out_height + y];
        const float below = op->row_weights[y], above = 1.0f - below;
        for (uint32_t x = 0; x < op->out_width; x++) {
            const int32_t left = op->columns[x], right = op->columns[op->out_width + x];
            const float behind = op->column_weights[x], before = 1.0f - behind;
            for (int32_t c = 0; c < (int32_t)op->channels; c++) {
                float sum = raised(upper + left + c) * above * before;
                sum += raised(lower + left + c) * below * before;
                sum += raised(upper + right + c) * above * behind;
                sum += raised(lower + right + c) * below * behind;
                *output++ = (int8_t)((int32_t)(sum + 0.5f) - 128);
            }
        }
    }
}

void n6k_resize_bilinear_unsigned(const n6k_resize_bilinear_unsigned_t *op)
{
    n6k_plain_resize_bilinear_unsigned(op);
}
