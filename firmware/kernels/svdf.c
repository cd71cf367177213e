/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular value decomposition filter: int8 in and out, an int16 memory of the last steps.
 */
#include "dot.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

/* Discard the oldest element of every filter, and make room for a new one at the end. */
static void plain_forget(const n6k_svdf_t *op)
{
    for (uint32_t i = 0; i + 1 < op->filters * op->memory; i++) {
        op->state[i] = op->state[i + 1];
    }
}

static inline int16_t to_state(const n6k_svdf_t *op, int32_t sum)
{
    return (int16_t)n6k_clamp(n6k_scale_double(sum, op->feature_multiplier, op->feature_shift), INT16_MIN, INT16_MAX);
}

void n6k_plain_svdf(const n6k_svdf_t *op)
{
    plain_forget(op);
    for (uint32_t filter = 0; filter < op->filters; filter++) {
        const int8_t *weights = op->feature_weights + filter * op->inputs;
        const int32_t sum = n6k_plain_dot(op->input, weights, op->inputs, op->feature_bias[filter]);
        op->state[filter * op->memory + op->memory - 1] = to_state(op, sum);
    }
    const uint32_t each = op->filters / op->units * op->memory;
    for (uint32_t unit = 0; unit < op->units; unit++) {
        uint32_t sum = (uint32_t)op->bias[unit]; /* wraps, as the reference's does */
        for (uint32_t i = unit * each; i < (unit + 1) * each; i++) {
            sum += (uint32_t)(op->state[i] * op->time_weights[i]);
        }
        op->output[unit] = n6k_to_output(n6k_scale_double((int32_t)sum, op->multiplier, op->shift), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

static void forget(const n6k_svdf_t *op)
{
    int16_t *to = op->state;
    uint32_t left = op->filters * op->memory - 1;
    for (; left > 0; to += 8, left = left > 8 ? left - 8 : 0) {
        const mve_pred16_t lanes = vctp16q(left);
        vstrhq_p_s16(to, vldrhq_z_s16(to + 1, lanes), lanes);
    }
}

/* Store the newest feature of up to four filters. */
static void remember(const n6k_svdf_t *op, uint32_t filter)
{
    const uint32_t count = op->filters - filter < 4 ? op->filters - filter : 4;
    const mve_pred16_t lanes = vctp32q(count);
    int32_t sums[4];
    vst1q_s32(sums, vldrwq_z_s32(op->feature_bias + filter, lanes));
    n6k_dot_rows(op->input, op->feature_weights + filter * op->inputs, op->inputs, count, op->inputs, sums);
    int32x4_t feature = n6k_scale_x4(vld1q_s32(sums), op->feature_multiplier, op->feature_shift);
    feature = vminq_s32(vmaxq_s32(feature, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
    int16_t *newest = op->state + filter * op->memory + op->memory - 1;
    vstrhq_scatter_shifted_offset_p_s32(newest, vmulq_n_u32(vidupq_n_u32(0, 1), op->memory), feature, lanes);
}

static int32_t filtered(const int16_t *state, const int16_t *weights, uint32_t count, int32_t sum)
{
    for (uint32_t i = 0; i < count; i += 8) {
        const mve_pred16_t lanes = vctp16q(count - i);
        sum = vmladavaq_s16(sum, vldrhq_z_s16(state + i, lanes), vldrhq_z_s16(weights + i, lanes));
    }
    return sum;
}

void n6k_svdf(const n6k_svdf_t *op)
{
    forget(op);
    for (uint32_t filter = 0; filter < op->filters; filter += 4) {
        remember(op, filter);
    }
    const uint32_t each = op->filters / op->units * op->memory;
    for (uint32_t unit = 0; unit < op->units; unit += 4) {
        const uint32_t count = op->units - unit < 4 ? op->units - unit : 4;
        int32_t sums[4] = {0, 0, 0, 0};
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t start = (unit + i) * each;
            sums[i] = filtered(op->state + start, op->time_weights + start, each, op->bias[unit + i]);
        }
        const int32x4_t scaled = n6k_scale_x4(vld1q_s32(sums), op->multiplier, op->shift);
        vstrbq_p_s32(op->output + unit, n6k_to_output_x4(scaled, op->range), vctp32q(count));
    }
}

#else

void n6k_svdf(const n6k_svdf_t *op)
{
    n6k_plain_svdf(op);
}

#endif
