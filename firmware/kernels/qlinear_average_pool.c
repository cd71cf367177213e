/* SPDX-License-Identifier: Apache-2.0
 *
 * Averages of int8 like ONNX Runtime's integer operators: of windows in float32, row by row; of whole images in int32.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

/* The part of a window inside the input. */
typedef struct {
    int32_t top;
    int32_t left;
    int32_t rows;
    int32_t columns;
    float count;
} part_t;

static part_t part_of(const n6k_qlinear_average_pool_t *op, int32_t top, int32_t left)
{
    const int32_t bottom = top + op->window.height;
    const int32_t right = left + op->window.width;
    part_t part = {.top = top < 0 ? 0 : top, .left = left < 0 ? 0 : left};
    part.rows = (bottom < op->in.height ? bottom : op->in.height) - part.top;
    part.columns = (right < op->in.width ? right : op->in.width) - part.left;
    part.count = (float)(op->counts_padding ? op->window.height * op->window.width : part.rows * part.columns);
    return part;
}

void n6k_plain_qlinear_average_pool(const n6k_qlinear_average_pool_t *op)
{
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const part_t part =
                part_of(op, oy * op->window.stride_h - op->window.pad_top, ox * op->window.stride_w - op->window.pad_left);
            for (int32_t c = 0; c < op->out.channels; c++) {
                float sum = 0;
                for (int32_t y = part.top; y < part.top + part.rows; y++) {
                    for (int32_t x = part.left; x < part.left + part.columns; x++) {
                        const int32_t value = op->input[(y * op->in.width + x) * op->in.channels + c];
                        sum += (float)(value - op->input_zero_point) * op->input_scale;
                    }
                }
                const float number = sum / part.count / op->output_scale + op->output_zero_point;
                *output++ = n6k_number_to_output(number, op->output_offset, op->range);
            }
        }
    }
}

void n6k_plain_qlinear_global_average_pool(const n6k_qlinear_global_average_pool_t *op)
{
    for (uint32_t channel = 0; channel < op->channels; channel++) {
        int32_t sum = op->bias;
        for (uint32_t i = 0; i < op->pixels; i++) {
            sum += op->input[i * op->channels + channel];
        }
        op->output[channel] = n6k_real_to_output((float)sum * op->scale, op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_qlinear_average_pool(const n6k_qlinear_average_pool_t *op)
{
    const n6k_qlinear_average_pool_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    const uint32_t channels = local.in.channels;
    const uint32_t row = local.in.width * channels;
    int8_t *output = local.output;
    int32_t top = -local.window.pad_top;
    for (uint32_t oy = local.out.height; oy > 0; oy--, top += local.window.stride_h) {
        int32_t left = -local.window.pad_left;
        for (uint32_t ox = local.out.width; ox > 0; ox--, left += local.window.stride_w, output += channels) {
            const part_t part = part_of(&local, top, left);
            const int8_t *start = local.input + (uint32_t)part.top * row + (uint32_t)part.left * channels;
            for (uint32_t c = 0; c < channels; c += 4) {
                const mve_pred16_t lanes = vctp32q(channels - c);
                float32x4_t sum = vdupq_n_f32(0);
                for (int32_t y = 0; y < part.rows; y++) {
                    const int8_t *from = start + (uint32_t)y * row + c;
                    for (int32_t x = 0; x < part.columns; x++, from += channels) {
                        sum = vaddq_f32(sum, n6k_load_reals_x4(from, local.input_zero_point, local.input_scale, lanes));
                    }
                }
                const float32x4_t steps = sum / vdupq_n_f32(part.count) / vdupq_n_f32(local.output_scale);
                const float32x4_t numbers = vaddq_n_f32(steps, local.output_zero_point);
                n6k_store_numbers_x4(output + c, numbers, local.output_offset, local.range, lanes);
            }
        }
    }
}

void n6k_qlinear_global_average_pool(const n6k_qlinear_global_average_pool_t *op)
{
    const n6k_qlinear_global_average_pool_t local = *op;
    for (uint32_t c = 0; c < local.channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(local.channels - c);
        const int8_t *from = local.input + c;
        int32x4_t sum = vdupq_n_s32(local.bias);
        for (uint32_t i = local.pixels; i > 0; i--, from += local.channels) {
            sum = vaddq_s32(sum, vldrbq_z_s32(from, lanes));
        }
        n6k_store_reals_x4(local.output + c, vmulq_n_f32(vcvtq_f32_s32(sum), local.scale), local.range, lanes);
    }
}

#else

void n6k_qlinear_average_pool(const n6k_qlinear_average_pool_t *op)
{
    n6k_plain_qlinear_average_pool(op);
}

void n6k_qlinear_global_average_pool(const n6k_qlinear_global_average_pool_t *op)
{
    n6k_plain_qlinear_global_average_pool(op);
}

#endif
