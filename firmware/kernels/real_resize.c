/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear resizing of int8 in float32, from four neighbours. Their weights are multiplied first, as in ONNX Runtime.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

/* The neighbours of one pixel of the output, and their weights. */
typedef struct {
    const int8_t *from[4];
    float weights[4];
} pixel_t;

static inline pixel_t pixel_at(const n6k_real_resize_t *op, uint32_t y, uint32_t x)
{
    const uint32_t row = (uint32_t)op->in.width * op->in.channels;
    const int8_t *near_row = op->input + op->rows[2 * y] * row, *far_row = op->input + op->rows[2 * y + 1] * row;
    const uint32_t near = (uint32_t)op->columns[2 * x] * op->in.channels, far = (uint32_t)op->columns[2 * x + 1] * op->in.channels;
    const float *of_row = op->row_weights + 2 * y, *of_column = op->column_weights + 2 * x;
    return (pixel_t){
        .from = {near_row + near, near_row + far, far_row + near, far_row + far},
        .weights = {of_column[0] * of_row[0], of_column[1] * of_row[0], of_column[0] * of_row[1], of_column[1] * of_row[1]},
    };
}

void n6k_plain_real_resize(const n6k_real_resize_t *op)
{
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out.height; y++) {
        for (uint32_t x = 0; x < op->out.width; x++) {
            const pixel_t pixel = pixel_at(op, y, x);
            for (uint32_t c = 0; c < op->out.channels; c++) {
                float sum = 0;
                for (uint32_t i = 0; i < 4; i++) {
                    sum += pixel.weights[i] * ((float)(pixel.from[i][c] - op->input_zero_point) * op->input_scale);
                }
                *output++ = n6k_real_to_output(sum / op->output_scale, op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_real_resize(const n6k_real_resize_t *op)
{
    const n6k_real_resize_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    const float32x4_t output_scale = vdupq_n_f32(local.output_scale);
    int8_t *output = local.output;
    for (uint32_t y = 0; y < local.out.height; y++) {
        for (uint32_t x = 0; x < local.out.width; x++, output += local.out.channels) {
            const pixel_t pixel = pixel_at(&local, y, x);
            for (uint32_t c = 0; c < local.out.channels; c += 4) {
                const mve_pred16_t lanes = vctp32q(local.out.channels - c);
                float32x4_t sum = vdupq_n_f32(0);
                for (uint32_t i = 0; i < 4; i++) {
                    const float32x4_t real =
                        n6k_load_reals_x4(pixel.from[i] + c, local.input_zero_point, local.input_scale, lanes);
                    sum = vaddq_f32(sum, vmulq_n_f32(real, pixel.weights[i]));
                }
                n6k_store_reals_x4(output + c, sum / output_scale, local.range, lanes);
            }
        }
    }
}

#else

void n6k_real_resize(const n6k_real_resize_t *op)
{
    n6k_plain_real_resize(op);
}

#endif
