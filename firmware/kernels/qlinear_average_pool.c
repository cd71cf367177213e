/* SPDX-License-Identifier: Apache-2.0
 *
 * Averages of int8 as ONNX Runtime computes them: in float32, whose sums depend on their order.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

/* The part of a window that lies inside the input. */
typedef struct {
    int32_t top;
    int32_t left;
    int32_t rows;
    int32_t columns;
} part_t;

static part_t inside(const n6k_qlinear_average_pool_t *op, int32_t top, int32_t left)
{
    const int32_t bottom = top + op->window.height;
    const int32_t right = left + op->window.width;
    part_t part = {.top = top < 0 ? 0 : top, .left = left < 0 ? 0 : left};
    part.rows = (bottom < op->in.height ? bottom : op->in.height) - part.top;
    part.columns = (right < op->in.width ? right : op->in.width) - part.left;
    return part;
}

static float count_of(const n6k_qlinear_average_pool_t *op, part_t part)
{
    return (float)(op->counts_padding ? op->window.height * op->window.width : part.rows * part.columns);
}

static inline float real_of(int8_t x, int32_t zero_point, float scale)
{
    return (float)(x - zero_point) * scale;
}

static float sum_of(const n6k_qlinear_average_pool_t *op, part_t part, int32_t channel)
{
    const int8_t *start = op->input + (part.top * op->in.width + part.left) * op->in.channels + channel;
    const int32_t outer = op->columns_first ? part.columns : part.rows;
    const int32_t inner = op->columns_first ? part.rows : part.columns;
    const int32_t row = op->in.width * op->in.channels;
    float sum = 0;
    for (int32_t i = 0; i < outer; i++) {
        float partial = op->columns_first ? 0 : sum;
        for (int32_t j = 0; j < inner; j++) {
            const int32_t y = op->columns_first ? j : i;
            const int32_t x = op->columns_first ? i : j;
            partial += real_of(start[y * row + x * op->in.channels], op->input_zero_point, op->input_scale);
        }
        sum = op->columns_first ? sum + partial : partial;
    }
    return sum;
}

void n6k_plain_qlinear_average_pool(const n6k_qlinear_average_pool_t *op)
{
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const part_t part =
                inside(op, oy * op->window.stride_h - op->window.pad_top, ox * op->window.stride_w - op->window.pad_left);
            for (int32_t c = 0; c < op->out.channels; c++) {
                const float mean = sum_of(op, part, c) / count_of(op, part);
                *output++ = n6k_real_to_output(mean / op->output_scale, op->range);
            }
        }
    }
}

/* Four sums of every fourth pixel, then of those, then of the pixels that are left. */
void n6k_plain_qlinear_global_average_pool(const n6k_qlinear_global_average_pool_t *op)
{
    const uint32_t fours = op->pixels & ~UINT32_C(3);
    for (uint32_t channel = 0; channel < op->channels; channel++) {
        float sums[4] = {0, 0, 0, 0};
        for (uint32_t i = 0; i < fours; i++) {
            sums[i & 3] += real_of(op->input[i * op->channels + channel], op->input_zero_point, op->input_scale);
        }
        float sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
        for (uint32_t i = fours; i < op->pixels; i++) {
            sum += real_of(op->input[i * op->channels + channel], op->input_zero_point, op->input_scale);
        }
        op->output[channel] = n6k_real_to_output(sum / (float)op->pixels / op->output_scale, op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_qlinear_average_pool(const n6k_qlinear_average_pool_t *op)
{
    const n6k_qlinear_average_pool_t local = *op; /* which stores through a byte pointer might otherwise change */
    const uint32_t channels = local.in.channels;
    const uint32_t row = local.in.width * channels;
    int8_t *output = local.output;
    int32_t top = -local.window.pad_top;
    for (uint32_t oy = local.out.height; oy > 0; oy--, top += local.window.stride_h) {
        int32_t left = -local.window.pad_left;
        for (uint32_t ox = local.out.width; ox > 0; ox--, left += local.window.stride_w, output += channels) {
            const part_t part = inside(&local, top, left);
            const int32_t outer = local.columns_first ? part.columns : part.rows;
            const int32_t inner = local.columns_first ? part.rows : part.columns;
            const uint32_t outer_step = local.columns_first ? channels : row;
            const uint32_t inner_step = local.columns_first ? row : channels;
            const float count = count_of(&local, part);
            for (uint32_t c = 0; c < channels; c += 4) {
                const mve_pred16_t lanes = vctp32q(channels - c);
                const int8_t *from = local.input + (uint32_t)part.top * row + (uint32_t)part.left * channels + c;
                float32x4_t sum = vdupq_n_f32(0);
                for (int32_t i = 0; i < outer; i++, from += outer_step) {
                    float32x4_t partial = local.columns_first ? vdupq_n_f32(0) : sum;
                    for (int32_t j = 0; j < inner; j++) {
                        partial = vaddq_f32(partial, n6k_load_reals_x4(from + (uint32_t)j * inner_step,
                                                                      local.input_zero_point, local.input_scale, lanes));
                    }
                    sum = local.columns_first ? vaddq_f32(sum, partial) : partial;
                }
                const float32x4_t steps = sum / vdupq_n_f32(count) / vdupq_n_f32(local.output_scale);
                n6k_store_reals_x4(output + c, steps, local.range, lanes);
            }
        }
    }
}

void n6k_qlinear_global_average_pool(const n6k_qlinear_global_average_pool_t *op)
{
    const n6k_qlinear_global_average_pool_t local = *op;
    const uint32_t channels = local.channels;
    const uint32_t fours = local.pixels & ~UINT32_C(3);
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        const int8_t *from = local.input + c;
        float32x4_t sums[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
        for (uint32_t i = 0; i < fours; i += 4) {
            for (uint32_t k = 0; k < 4; k++, from += channels) {
                const float32x4_t x = n6k_load_reals_x4(from, local.input_zero_point, local.input_scale, lanes);
                sums[k] = vaddq_f32(sums[k], x);
            }
        }
        float32x4_t sum = vaddq_f32(vaddq_f32(sums[0], sums[2]), vaddq_f32(sums[1], sums[3]));
        for (uint32_t i = fours; i < local.pixels; i++, from += channels) {
            sum = vaddq_f32(sum, n6k_load_reals_x4(from, local.input_zero_point, local.input_scale, lanes));
        }
        const float32x4_t steps = sum / vdupq_n_f32((float)local.pixels) / vdupq_n_f32(local.output_scale);
        n6k_store_reals_x4(local.output + c, steps, local.range, lanes);
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
