/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int8.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    const int32_t out_channels = op->out.channels;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            for (int32_t oc = 0; oc < out_channels; oc++) {
                const int32_t ic = oc / op->depth_multiplier;
                int32_t sum = op->bias[oc];
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky * window->dilation_h;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx * window->dilation_w;
                        const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width;
                        const int32_t value = inside ? op->input[(y * op->in.width + x) * op->in.channels + ic]
                                                     : op->input_zero_point;
                        sum += value * op->weights[(ky * window->width + kx) * out_channels + oc];
                    }
                }
                *output++ = n6k_to_output(n6k_scale_double(sum, op->multiplier[oc], op->shift[oc]), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Sixteen output channels at most. Widening int8 products to int32 twice leaves every fourth channel in a vector, so group k
 * holds the channels k, k + 4, k + 8, k + 12 of the block. */
typedef struct {
    int32x4_t bias[4];
    int32x4_t multiplier[4];
    int32x4_t left_shift[4];
    int32x4_t right_shift[4]; /* negative */
    int8x16_t input_zero_point;
    uint8x16_t input_lanes; /* each channel's input channel, from the block's first */
    mve_pred16_t lanes;
    const int8_t *input;
    const int8_t *weights;
    int8_t *output;
} block_t;

typedef struct {
    int32x4_t group[4];
} sums_t;

static void prepare(block_t *block, const n6k_depthwise_conv_2d_t *op, uint32_t begin)
{
    const uint32_t count = op->out.channels - begin;
    const uint32_t first_input = begin / op->depth_multiplier;
    const int32x4_t zero = vdupq_n_s32(0);
    for (uint32_t k = 0; k < 4; k++) {
        const uint32x4_t channels = vidupq_n_u32(k, 4);
        const mve_pred16_t present = vcmphiq_u32(vdupq_n_u32(count), channels);
        const int32x4_t shift = vldrwq_gather_shifted_offset_z_s32(op->shift + begin, channels, present);
        block->bias[k] = vldrwq_gather_shifted_offset_z_s32(op->bias + begin, channels, present);
        block->multiplier[k] = vldrwq_gather_shifted_offset_z_s32(op->multiplier + begin, channels, present);
        block->left_shift[k] = vmaxq_s32(shift, zero);
        block->right_shift[k] = vminq_s32(shift, zero);
    }
    uint8_t lanes[16];
    for (uint32_t i = 0; i < 16; i++) {
        lanes[i] = (uint8_t)((begin + i) / op->depth_multiplier - first_input);
    }
    block->input_lanes = vld1q_u8(lanes);
    block->input_zero_point = vdupq_n_s8(op->input_zero_point);
    block->lanes = vctp8q(count);
    block->input = op->input + first_input;
    block->weights = op->weights + begin;
    block->output = op->output + begin;
}

/* One tap: sixteen products. */
static inline sums_t add_tap(sums_t sums, int8x16_t x, int8x16_t w)
{
    const int16x8_t even = vmullbq_int_s8(x, w);
    const int16x8_t odd = vmulltq_int_s8(x, w);
    sums.group[0] = vaddq_s32(sums.group[0], vmovlbq_s16(even));
    sums.group[2] = vaddq_s32(sums.group[2], vmovltq_s16(even));
    sums.group[1] = vaddq_s32(sums.group[1], vmovlbq_s16(odd));
    sums.group[3] = vaddq_s32(sums.group[3], vmovltq_s16(odd));
    return sums;
}

/* A whole row of taps inside the input, `step` bytes apart there and `weight_step` in the weights. Two taps' products are
 * added in 16 bits first, which holds them as long as no weight is -128. For want of a ninth register the second tap's input
 * is loaded twice. */
static inline sums_t add_row(sums_t sums, const int8_t *x, const int8_t *w, uint32_t taps, uint32_t step, uint32_t weight_step,
                             mve_pred16_t lanes)
{
    int32x4_t a0 = sums.group[0], a1 = sums.group[1], a2 = sums.group[2], a3 = sums.group[3];
    const uint32_t pairs = taps >> 1;
    const uint32_t odd = taps & 1;
    __asm__ volatile("vmsr p0, %[lanes]\n"
                     "wls lr, %[pairs], 2f\n"
                     "1:\n"
                     "vpstt\n"
                     "vldrbt.8 q4, [%[x]]\n"
                     "vldrbt.8 q5, [%[w]]\n"
                     "add %[x], %[x], %[step]\n"
                     "add %[w], %[w], %[weight_step]\n"
                     "vmullb.s8 q6, q4, q5\n"
                     "vmullt.s8 q4, q4, q5\n"
                     "vpstt\n"
                     "vldrbt.8 q5, [%[x]]\n"
                     "vldrbt.8 q7, [%[w]]\n"
                     "add %[w], %[w], %[weight_step]\n"
                     "vmullb.s8 q5, q5, q7\n"
                     "vadd.i16 q6, q6, q5\n"
                     "vpst\n"
                     "vldrbt.8 q5, [%[x]]\n"
                     "add %[x], %[x], %[step]\n"
                     "vmullt.s8 q5, q5, q7\n"
                     "vadd.i16 q4, q4, q5\n"
                     "vmovlb.s16 q5, q6\n"
                     "vmovlt.s16 q6, q6\n"
                     "vadd.i32 %q[a0], %q[a0], q5\n"
                     "vadd.i32 %q[a2], %q[a2], q6\n"
                     "vmovlb.s16 q5, q4\n"
                     "vmovlt.s16 q4, q4\n"
                     "vadd.i32 %q[a1], %q[a1], q5\n"
                     "vadd.i32 %q[a3], %q[a3], q4\n"
                     "le lr, 1b\n"
                     "2:\n"
                     "cbz %[odd], 3f\n"
                     "vpstt\n"
                     "vldrbt.8 q4, [%[x]]\n"
                     "vldrbt.8 q5, [%[w]]\n"
                     "vmullb.s8 q6, q4, q5\n"
                     "vmullt.s8 q4, q4, q5\n"
                     "vmovlb.s16 q5, q6\n"
                     "vmovlt.s16 q6, q6\n"
                     "vadd.i32 %q[a0], %q[a0], q5\n"
                     "vadd.i32 %q[a2], %q[a2], q6\n"
                     "vmovlb.s16 q5, q4\n"
                     "vmovlt.s16 q4, q4\n"
                     "vadd.i32 %q[a1], %q[a1], q5\n"
                     "vadd.i32 %q[a3], %q[a3], q4\n"
                     "3:\n"
                     : [a0] "+w"(a0), [a1] "+w"(a1), [a2] "+w"(a2), [a3] "+w"(a3), [x] "+r"(x), [w] "+r"(w)
                     : [pairs] "r"(pairs), [odd] "l"(odd), [step] "r"(step), [weight_step] "r"(weight_step),
                       [lanes] "r"((uint32_t)lanes)
                     : "lr", "q4", "q5", "q6", "q7", "memory");
    return (sums_t){{a0, a1, a2, a3}};
}

/* The window at (top, left), of any depth multiplier, partly in the padding, with any weights. */
static sums_t __attribute__((noinline)) add_window(const block_t *block, const n6k_depthwise_conv_2d_t *op, int32_t top,
                                                   int32_t left)
{
    sums_t sums = {{block->bias[0], block->bias[1], block->bias[2], block->bias[3]}};
    const int8_t *weights = block->weights;
    for (int32_t ky = 0; ky < op->window.height; ky++) {
        const int32_t y = top + ky * op->window.dilation_h;
        for (int32_t kx = 0; kx < op->window.width; kx++, weights += op->out.channels) {
            const int32_t x = left + kx * op->window.dilation_w;
            int8x16_t value = block->input_zero_point;
            if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                const int8_t *from = block->input + (y * op->in.width + x) * op->in.channels;
                value = vldrbq_gather_offset_z_s8(from, block->input_lanes, block->lanes);
            }
            sums = add_tap(sums, value, vldrbq_z_s8(weights, block->lanes));
        }
    }
    return sums;
}

static inline int32x4_t scaled(const block_t *block, uint32_t k, int32x4_t sum)
{
    const int32x4_t shifted = vshlq_s32(sum, block->left_shift[k]);
    return n6k_rounding_divide_x4(vqrdmulhq_s32(shifted, block->multiplier[k]), block->right_shift[k]);
}

/* Both narrowings saturate, which clamping to int8 makes unobservable. */
static inline int8x16_t narrowed(const block_t *block, sums_t sums, n6k_output_t range)
{
    int16x8_t even = vqmovnbq_s32(vuninitializedq_s16(), scaled(block, 0, sums.group[0]));
    even = vqmovntq_s32(even, scaled(block, 2, sums.group[2]));
    int16x8_t odd = vqmovnbq_s32(vuninitializedq_s16(), scaled(block, 1, sums.group[1]));
    odd = vqmovntq_s32(odd, scaled(block, 3, sums.group[3]));
    int8x16_t all = vqmovnbq_s16(vuninitializedq_s8(), vqaddq_n_s16(even, range.zero_point));
    all = vqmovntq_s16(all, vqaddq_n_s16(odd, range.zero_point));
    all = vmaxq_s8(all, vdupq_n_s8(range.clamp_min));
    return vminq_s8(all, vdupq_n_s8(range.clamp_max));
}

static int has_weight_minus_128(const n6k_depthwise_conv_2d_t *op)
{
    const int8_t *weights = op->weights;
    int32_t least = 0;
    __asm__ volatile("dlstp.8 lr, %[count]\n"
                     "1:\n"
                     "vldrb.8 q0, [%[weights]], #16\n"
                     "vminv.s8 %[least], q0\n"
                     "letp lr, 1b\n"
                     : [weights] "+r"(weights), [least] "+r"(least)
                     : [count] "r"((uint32_t)op->window.height * op->window.width * op->out.channels)
                     : "lr", "q0", "memory");
    return least == INT8_MIN;
}

void n6k_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    const uint32_t channels = op->out.channels;
    const int fast = op->depth_multiplier == 1 && !has_weight_minus_128(op);
    const uint32_t tops = fast ? n6k_positions_inside(op->in.height, window->height, window->dilation_h) : 0;
    const uint32_t lefts = n6k_positions_inside(op->in.width, window->width, window->dilation_w);
    const uint32_t step = window->dilation_w * channels;
    const uint32_t row = (uint32_t)op->in.width * channels;
    const uint32_t next_row = window->dilation_h * row;
    const uint32_t taps = window->width;
    const n6k_output_t range = op->range;
    for (uint32_t begin = 0; begin < channels; begin += 16) {
        block_t block;
        prepare(&block, op, begin);
        int8_t *output = block.output;
        int32_t top = -window->pad_top;
        for (uint32_t rows = op->out.height; rows > 0; rows--, top += window->stride_h) {
            int32_t left = -window->pad_left;
            for (uint32_t columns = op->out.width; columns > 0; columns--, left += window->stride_w, output += channels) {
                sums_t sums;
                if ((uint32_t)top < tops && (uint32_t)left < lefts) {
                    const int8_t *x = block.input + (uint32_t)top * row + (uint32_t)left * channels;
                    const int8_t *w = block.weights;
                    sums = (sums_t){{block.bias[0], block.bias[1], block.bias[2], block.bias[3]}};
                    for (uint32_t ky = window->height; ky > 0; ky--) {
                        sums = add_row(sums, x, w, taps, step, channels, block.lanes);
                        x += next_row;
                        w += taps * channels;
                    }
                } else {
                    sums = add_window(&block, op, top, left);
                }
                vstrbq_p_s8(output, narrowed(&block, sums, range), block.lanes);
            }
        }
    }
}

#else

void n6k_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op)
{
    n6k_plain_depthwise_conv_2d(op);
}

#endif
