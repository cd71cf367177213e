/* SPDX-License-Identifier: Apache-2.0
 *
 * Average pooling, NHWC int8 converted from uint8: halves are rounded up.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

/* Return the average as for uint8: add 128 to each element of `sum`, divide by `count`, subtract 128. */
static int32_t average(int32_t sum, int32_t count)
{
    return (sum + 128 * count + count / 2) / count - 128;
}

void n6k_plain_average_pool_2d_unsigned(const n6k_pool_t *op)
{
    const int32_t channels = op->out.channels;
    for (int32_t i = 0; i < op->out.height * op->out.width * channels; i++) {
        const int32_t top = i / channels / op->out.width * op->window.stride_h - op->window.pad_top;
        const int32_t left = i / channels % op->out.width * op->window.stride_w - op->window.pad_left;
        int32_t sum = 0;
        int32_t count = 0;
        for (int32_t y = top < 0 ? 0 : top; y < top + op->window.height && y < op->in.height; y++) {
            for (int32_t x = left < 0 ? 0 : left; x < left + op->window.width && x < op->in.width; x++, count++) {
                sum += op->input[(y * op->in.width + x) * channels + i % channels];
            }
        }
        op->output[i] = (int8_t)n6k_clamp(average(sum, count), op->range.clamp_min, op->range.clamp_max);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_average_pool_2d_unsigned(const n6k_pool_t *op)
{
    const uint32_t channels = op->out.channels;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        const int32_t top = oy * op->window.stride_h - op->window.pad_top;
        const int32_t first = top < 0 ? 0 : top;
        const int32_t end = top + op->window.height < op->in.height ? top + op->window.height : op->in.height;
        for (int32_t ox = 0; ox < op->out.width; ox++, output += channels) {
            const int32_t start = ox * op->window.stride_w - op->window.pad_left;
            const int32_t left = start < 0 ? 0 : start;
            const int32_t right = start + op->window.width < op->in.width ? start + op->window.width : op->in.width;
            for (uint32_t c = 0; c < channels; c += 4) {
                const mve_pred16_t lanes = vctp32q(channels - c);
                int32x4_t sum = vdupq_n_s32(0);
                for (int32_t y = first; y < end; y++) {
                    for (int32_t x = left; x < right; x++) {
                        sum = vaddq_s32(sum, vldrbq_z_s32(op->input + (y * op->in.width + x) * channels + c, lanes));
                    }
                }
                int32_t sums[4];
                vst1q_s32(sums, sum);
                for (uint32_t i = 0; i < 4; i++) {
                    sums[i] = n6k_clamp(average(sums[i], (end - first) * (right - left)), op->range.clamp_min,
                                        op->range.clamp_max);
                }
                vstrbq_p_s32(output + c, vld1q_s32(sums), lanes);
            }
        }
    }
}

#else

void n6k_average_pool_2d_unsigned(const n6k_pool_t *op)
{
    n6k_plain_average_pool_2d_unsigned(op);
}

#endif
