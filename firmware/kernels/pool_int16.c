/* SPDX-License-Identifier: Apache-2.0
 *
 * Max and average pooling, NHWC int16.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

/* Return the average, halves rounded away from zero. */
static int32_t average(int32_t sum, int32_t count)
{
    return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

/* The part of an output pixel's window inside the input. */
typedef struct {
    int32_t top;
    int32_t bottom;
    int32_t left;
    int32_t right;
} part_t;

static part_t inside(const n6k_pool_int16_t *op, int32_t oy, int32_t ox)
{
    const int32_t top = oy * op->window.stride_h - op->window.pad_top;
    const int32_t left = ox * op->window.stride_w - op->window.pad_left;
    return (part_t){
        .top = n6k_clamp(top, 0, op->in.height),
        .bottom = n6k_clamp(top + op->window.height, 0, op->in.height),
        .left = n6k_clamp(left, 0, op->in.width),
        .right = n6k_clamp(left + op->window.width, 0, op->in.width),
    };
}

void n6k_plain_max_pool_2d_int16(const n6k_pool_int16_t *op)
{
    const int32_t channels = op->out.channels;
    for (int32_t i = 0; i < op->out.height * op->out.width * channels; i++) {
        const part_t part = inside(op, i / channels / op->out.width, i / channels % op->out.width);
        int32_t largest = INT16_MIN;
        for (int32_t y = part.top; y < part.bottom; y++) {
            for (int32_t x = part.left; x < part.right; x++) {
                const int32_t value = op->input[(y * op->in.width + x) * channels + i % channels];
                largest = value > largest ? value : largest;
            }
        }
        op->output[i] = n6k_to_int16(largest, op->range);
    }
}

void n6k_plain_average_pool_2d_int16(const n6k_pool_int16_t *op)
{
    const int32_t channels = op->out.channels;
    for (int32_t i = 0; i < op->out.height * op->out.width * channels; i++) {
        const part_t part = inside(op, i / channels / op->out.width, i / channels % op->out.width);
        int32_t sum = 0;
        for (int32_t y = part.top; y < part.bottom; y++) {
            for (int32_t x = part.left; x < part.right; x++) {
                sum += op->input[(y * op->in.width + x) * channels + i % channels];
            }
        }
        const int32_t count = (part.bottom - part.top) * (part.right - part.left);
        op->output[i] = n6k_to_int16(average(sum, count), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_max_pool_2d_int16(const n6k_pool_int16_t *op)
{
    const uint32_t channels = op->out.channels;
    int16_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++, output += channels) {
            const part_t part = inside(op, oy, ox);
            for (uint32_t c = 0; c < channels; c += 8) {
                const mve_pred16_t lanes = vctp16q(channels - c);
                int16x8_t largest = vdupq_n_s16(INT16_MIN);
                for (int32_t y = part.top; y < part.bottom; y++) {
                    for (int32_t x = part.left; x < part.right; x++) {
                        const int16_t *from = op->input + (y * op->in.width + x) * channels + c;
                        largest = vmaxq_s16(largest, vldrhq_z_s16(from, lanes));
                    }
                }
                largest = vmaxq_s16(largest, vdupq_n_s16(op->range.clamp_min));
                vstrhq_p_s16(output + c, vminq_s16(largest, vdupq_n_s16(op->range.clamp_max)), lanes);
            }
        }
    }
}

void n6k_average_pool_2d_int16(const n6k_pool_int16_t *op)
{
    const uint32_t channels = op->out.channels;
    int16_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++, output += channels) {
            const part_t part = inside(op, oy, ox);
            const int32_t count = (part.bottom - part.top) * (part.right - part.left);
            for (uint32_t c = 0; c < channels; c += 4) {
                const mve_pred16_t lanes = vctp32q(channels - c);
                int32x4_t sum = vdupq_n_s32(0);
                for (int32_t y = part.top; y < part.bottom; y++) {
                    for (int32_t x = part.left; x < part.right; x++) {
                        const int16_t *from = op->input + (y * op->in.width + x) * channels + c;
                        sum = vaddq_s32(sum, vldrhq_z_s32(from, lanes));
                    }
                }
                int32_t sums[4];
                vst1q_s32(sums, sum);
                for (uint32_t i = 0; i < 4; i++) {
                    sums[i] = n6k_to_int16(average(sums[i], count), op->range);
                }
                vstrhq_p_s32(output + c, vld1q_s32(sums), lanes);
            }
        }
    }
}

#else

void n6k_max_pool_2d_int16(const n6k_pool_int16_t *op)
{
    n6k_plain_max_pool_2d_int16(op);
}

void n6k_average_pool_2d_int16(const n6k_pool_int16_t *op)
{
    n6k_plain_average_pool_2d_int16(op);
}

#endif
