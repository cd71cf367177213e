/* SPDX-License-Identifier: Apache-2.0
 *
 * Layer normalisation of int8 in float32: the mean in double precision, the squares in eight parallel sums, like ONNX Runtime on
 * processors with vectors of eight.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

/* The number of parallel sums. */
#define LANES 8

static inline float real_of(const n6k_real_layer_norm_t *op, int8_t element)
{
    return (float)(element - op->input_zero_point) * op->input_scale;
}

static float mean_of(const n6k_real_layer_norm_t *op, const int8_t *row)
{
    double sum = 0;
    for (uint32_t i = 0; i < op->depth; i++) {
        sum += (double)real_of(op, row[i]);
    }
    return (float)(sum / op->depth);
}

/* Return 1 / standard deviation. sums: of the squares of all elements but those after the last whole group of LANES. */
static float inverse_deviation(const n6k_real_layer_norm_t *op, const int8_t *row, float mean, const float sums[LANES])
{
    float pairs[LANES / 2];
    for (uint32_t i = 0; i < LANES / 2; i++) {
        pairs[i] = sums[i] + sums[i + LANES / 2];
    }
    float sum = (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]);
    for (uint32_t i = op->depth - op->depth % LANES; i < op->depth; i++) {
        const float centred = real_of(op, row[i]) - mean;
        sum = __builtin_fmaf(centred, centred, sum);
    }
    return 1.0f / n6k_square_root(sum / (float)op->depth + op->epsilon);
}

void n6k_plain_real_layer_norm(const n6k_real_layer_norm_t *op)
{
    const int8_t *row = op->input;
    int8_t *output = op->output;
    for (uint32_t r = 0; r < op->rows; r++, row += op->depth, output += op->depth) {
        const float mean = mean_of(op, row);
        float sums[LANES] = {0};
        for (uint32_t i = 0; i < op->depth - op->depth % LANES; i++) {
            const float centred = real_of(op, row[i]) - mean;
            sums[i % LANES] = __builtin_fmaf(centred, centred, sums[i % LANES]);
        }
        const float factor = inverse_deviation(op, row, mean, sums);
        for (uint32_t i = 0; i < op->depth; i++) {
            const float normal = (real_of(op, row[i]) - mean) * factor;
            output[i] = n6k_real_to_output(__builtin_fmaf(normal, op->scale[i], op->bias[i]) / op->output_scale, op->range);
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

static void sum_squares(const n6k_real_layer_norm_t *op, const int8_t *row, float mean, float sums[LANES])
{
    const mve_pred16_t all = vctp32q(4);
    float32x4_t low = vdupq_n_f32(0), high = vdupq_n_f32(0);
    for (uint32_t i = 0; i + LANES <= op->depth; i += LANES) {
        const float32x4_t x = n6k_load_reals_x4(row + i, op->input_zero_point, op->input_scale, all);
        const float32x4_t y = n6k_load_reals_x4(row + i + 4, op->input_zero_point, op->input_scale, all);
        const float32x4_t centred_x = vsubq_n_f32(x, mean), centred_y = vsubq_n_f32(y, mean);
        low = vfmaq_f32(low, centred_x, centred_x);
        high = vfmaq_f32(high, centred_y, centred_y);
    }
    vst1q_f32(sums, low);
    vst1q_f32(sums + 4, high);
}

void n6k_real_layer_norm(const n6k_real_layer_norm_t *op)
{
    const n6k_real_layer_norm_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    const float32x4_t output_scale = vdupq_n_f32(local.output_scale);
    const int8_t *row = local.input;
    int8_t *output = local.output;
    for (uint32_t r = local.rows; r > 0; r--, row += local.depth, output += local.depth) {
        const float mean = mean_of(&local, row);
        float sums[LANES];
        sum_squares(&local, row, mean, sums);
        const float factor = inverse_deviation(&local, row, mean, sums);
        for (uint32_t i = 0; i < local.depth; i += 4) {
            const mve_pred16_t lanes = vctp32q(local.depth - i);
            float32x4_t x = n6k_load_reals_x4(row + i, local.input_zero_point, local.input_scale, lanes);
            x = vmulq_n_f32(vsubq_n_f32(x, mean), factor);
            x = vfmaq_f32(vldrwq_z_f32(local.bias + i, lanes), x, vldrwq_z_f32(local.scale + i, lanes));
            n6k_store_reals_x4(output + i, x / output_scale, local.range, lanes);
        }
    }
}

#else

void n6k_real_layer_norm(const n6k_real_layer_norm_t *op)
{
    n6k_plain_real_layer_norm(op);
}

#endif
