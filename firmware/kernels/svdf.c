/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular value decomposition filter: int8 in and out, an int16 memory of the last steps.
 */
#include "dot.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

/* Every filter forgets its oldest element and has room for a new one at the end. */
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

void n6k_svdf(const n6k_svdf_t *op)
{
    forget(op);
    for (uint32_t filter = 0; filter < op->filters; filter += 4) {
        const uint32_t count = op->filters - filter < 4 ? op->filters - filter : 4;
        int32_t sums[4];
        vst1q_s32(sums, vldrwq_z_s32(op->feature_bias + filter, vctp32q(count)));
        n6k_dot_rows(op->input, op->feature_weights + filter * op->inputs, op->inputs, count, op->inputs, sums);
        for (uint32_t i = 0; i < count; i++) {
            op->state[(filter + i) * op->memory + op->memory - 1] = to_state(op, sums[i]);
        }
    }
    const uint32_t each = op->filters / op->units * op->memory;
    const int16_t *state = op->state, *weights = op->time_weights;
    for (uint32_t unit = 0; unit < op->units; unit++, state += each, weights += each) {
        int32_t sum = op->bias[unit];
        for (uint32_t i = 0; i < each; i += 8) {
            const mve_pred16_t lanes = vctp16q(each - i);
            sum = vmladavaq_s16(sum, vldrhq_z_s16(state + i, lanes), vldrhq_z_s16(weights + i, lanes));
        }
        op->output[unit] = n6k_to_output(n6k_scale_double(sum, op->multiplier, op->shift), op->range);
    }
}

#else

void n6k_svdf(const n6k_svdf_t *op)
{
    n6k_plain_svdf(op);
}

#endif
