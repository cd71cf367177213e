/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int8, with sums scaled in float32.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

void n6k_plain_qlinear_depthwise_conv(const n6k_qlinear_depthwise_conv_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            for (int32_t oc = 0; oc < op->out.channels; oc++) {
                const int8_t *weight = op->weights + oc;
                uint32_t sum = (uint32_t)op->bias[oc]; /* modulo 2^32 */
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky * window->dilation_h;
                    for (int32_t kx = 0; kx < window->width; kx++, weight += op->out.channels) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx * window->dilation_w;
                        const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width;
                        const int32_t at = (y * op->in.width + x) * op->in.channels + oc / op->depth_multiplier;
                        sum += inside ? (uint32_t)((op->input[at] - op->input_zero_point) * *weight) : 0;
                    }
                }
                *output++ = n6k_real_to_output((float)(int32_t)sum * op->scale[oc], op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* At most eight output channels: those with even numbers, and those with odd numbers. */
typedef struct {
    int32x4_t even;
    int32x4_t odd;
} sums_t;

typedef struct {
    sums_t bias;
    float32x4_t even_scale;
    float32x4_t odd_scale;
    uint16x8_t input_lanes; /* each channel's input channel, from the block's first */
    mve_pred16_t lanes;
    const int8_t *input;
    const int8_t *weights;
    int8_t *output;
} block_t;

static void prepare(block_t *block, const n6k_qlinear_depthwise_conv_t *op, uint32_t begin)
{
    const uint32_t count = op->out.channels - begin;
    const uint32_t first_input = begin / op->depth_multiplier;
    const uint32x4_t even = vidupq_n_u32(0, 2);
    const uint32x4_t odd = vaddq_n_u32(even, 1);
    const mve_pred16_t evens = vcmphiq_u32(vdupq_n_u32(count), even);
    const mve_pred16_t odds = vcmphiq_u32(vdupq_n_u32(count), odd);
    block->bias.even = vldrwq_gather_shifted_offset_z_s32(op->bias + begin, even, evens);
    block->bias.odd = vldrwq_gather_shifted_offset_z_s32(op->bias + begin, odd, odds);
    block->even_scale = vldrwq_gather_shifted_offset_z_f32(op->scale + begin, even, evens);
    block->odd_scale = vldrwq_gather_shifted_offset_z_f32(op->scale + begin, odd, odds);
    uint16_t lanes[8];
    for (uint32_t i = 0; i < 8; i++) {
        lanes[i] = (uint16_t)((begin + i) / op->depth_multiplier - first_input);
    }
    block->input_lanes = vld1q_u16(lanes);
    block->lanes = vctp16q(count);
    block->input = op->input + first_input;
    block->weights = op->weights + begin;
    block->output = op->output + begin;
}

static inline __attribute__((always_inline)) sums_t window_sums(const n6k_qlinear_depthwise_conv_t *op, const block_t *block,
                                                                int32_t top, int32_t left, int one_for_one)
{
    const uint32_t channels = op->out.channels;
    const mve_pred16_t lanes = block->lanes;
    const int16_t zero_point = op->input_zero_point;
    const int8_t *weights = block->weights;
    sums_t sums = block->bias;
    for (int32_t ky = 0; ky < op->window.height; ky++, weights += op->window.width * channels) {
        const int32_t y = top + ky * op->window.dilation_h;
        if (y < 0 || y >= op->in.height) {
            continue;
        }
        const int8_t *row = block->input + (uint32_t)y * op->in.width * op->in.channels;
        for (int32_t kx = 0; kx < op->window.width; kx++) {
            const int32_t x = left + kx * op->window.dilation_w;
            if (x < 0 || x >= op->in.width) {
                continue;
            }
            const int8_t *from = row + (uint32_t)x * op->in.channels;
            int16x8_t value =
                one_for_one ? vldrbq_z_s16(from, lanes) : vldrbq_gather_offset_z_s16(from, block->input_lanes, lanes);
            value = vsubq_n_s16(value, zero_point);
            const int16x8_t weight = vldrbq_z_s16(weights + (uint32_t)kx * channels, lanes);
            sums.even = vaddq_s32(sums.even, vmullbq_int_s16(value, weight));
            sums.odd = vaddq_s32(sums.odd, vmulltq_int_s16(value, weight));
        }
    }
    return sums;
}

/* Scale and store sums. Both narrowings saturate; clamping to int8 makes this unobservable. */
static inline void store_sums(const block_t *block, sums_t sums, n6k_output_t range, int8_t *output)
{
    const int32x4_t even = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sums.even), block->even_scale));
    const int32x4_t odd = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sums.odd), block->odd_scale));
    int16x8_t all = vqmovntq_s32(vqmovnbq_s32(vuninitializedq_s16(), even), odd);
    all = vqaddq_n_s16(all, range.zero_point);
    all = vmaxq_s16(all, vdupq_n_s16(range.clamp_min));
    all = vminq_s16(all, vdupq_n_s16(range.clamp_max));
    vstrbq_p_s16(output, all, block->lanes);
}

void n6k_qlinear_depthwise_conv(const n6k_qlinear_depthwise_conv_t *op)
{
    for (uint32_t begin = 0; begin < op->out.channels; begin += 8) {
        block_t block;
        prepare(&block, op, begin);
        int8_t *output = block.output;
        int32_t top = -op->window.pad_top;
        for (uint32_t rows = op->out.height; rows > 0; rows--, top += op->window.stride_h) {
            int32_t left = -op->window.pad_left;
            for (uint32_t columns = op->out.width; columns > 0; columns--, left += op->window.stride_w) {
                const sums_t sums = op->depth_multiplier == 1 ? window_sums(op, &block, top, left, 1)
                                                              : window_sums(op, &block, top, left, 0);
                store_sums(&block, sums, op->range, output);
                output += op->out.channels;
            }
        }
    }
}

#else

void n6k_qlinear_depthwise_conv(const n6k_qlinear_depthwise_conv_t *op)
{
    n6k_plain_qlinear_depthwise_conv(op);
}

#endif
