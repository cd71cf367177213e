/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution in groups, NHWC int8, with sums scaled in float32.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

void n6k_plain_qlinear_conv(const n6k_qlinear_conv_t *op)
{
    const n6k_window_t *window = &op->window;
    const int32_t depth = op->in.channels / op->groups;
    const int32_t channels_of_group = op->out.channels / op->groups;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const int8_t *weight = op->weights;
            for (int32_t oc = 0; oc < op->out.channels; oc++) {
                const int32_t first = oc / channels_of_group * depth;
                uint32_t sum = (uint32_t)op->bias[oc]; /* modulo 2^32 */
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky * window->dilation_h;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx * window->dilation_w;
                        const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width;
                        for (int32_t ic = 0; ic < depth; ic++) {
                            const int32_t at = (y * op->in.width + x) * op->in.channels + first + ic;
                            sum += (uint32_t)((inside ? op->input[at] : op->input_zero_point) * *weight++);
                        }
                    }
                }
                *output++ = n6k_real_to_output((float)(int32_t)sum * op->scale[oc], op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The number of output channels whose accumulators are scaled together. */
#define BLOCK 32


/* Compute three rows of weights for one column. vmladava accumulates in even registers only. */
static inline void dot_threes(const int8_t *x, uint32_t taps, const int8_t *w0, const int32_t *bias, int32_t *sums)
{
    const int8_t *w1 = w0 + taps;
    const int8_t *w2 = w1 + taps;
    int32_t a = bias[0], b = bias[1], c = bias[2];
    __asm__ volatile("dlstp.8 lr, %[taps]\n"
                     "1:\n"
                     "vldrb.8 q0, [%[x]], #16\n"
                     "vldrb.8 q1, [%[w0]], #16\n"
                     "vmladava.s8 %[a], q0, q1\n"
                     "vldrb.8 q2, [%[w1]], #16\n"
                     "vmladava.s8 %[b], q0, q2\n"
                     "vldrb.8 q3, [%[w2]], #16\n"
                     "vmladava.s8 %[c], q0, q3\n"
                     "letp lr, 1b\n"
                     : [a] "+Te"(a), [b] "+Te"(b), [c] "+Te"(c), [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2)
                     : [taps] "r"(taps)
                     : "lr", "q0", "q1", "q2", "q3", "memory");
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
}

static inline int32_t dot_one(const int8_t *x, uint32_t taps, const int8_t *weights, int32_t sum)
{
    __asm__ volatile("dlstp.8 lr, %[taps]\n"
                     "1:\n"
                     "vldrb.8 q0, [%[x]], #16\n"
                     "vldrb.8 q1, [%[w]], #16\n"
                     "vmladava.s8 %[sum], q0, q1\n"
                     "letp lr, 1b\n"
                     : [sum] "+Te"(sum), [x] "+r"(x), [w] "+r"(weights)
                     : [taps] "r"(taps)
                     : "lr", "q0", "q1", "memory");
    return sum;
}

static void __attribute__((noinline)) scale_and_store(const int32_t *sums, const float *scale, uint32_t count,
                                                      n6k_output_t range, int8_t *output)
{
    for (uint32_t i = 0; i < count; i += 4) {
        const mve_pred16_t lanes = vctp32q(count - i);
        const float32x4_t real = vcvtq_f32_s32(vldrwq_z_s32(sums + i, lanes));
        n6k_store_reals_x4(output + i, vmulq_f32(real, vldrwq_z_f32(scale + i, lanes)), range, lanes);
    }
}

/* Copy the window's input at (top, left), which may be in the padding, in the order of the weights of a group. */
static void gather(const n6k_qlinear_conv_t *op, int32_t top, int32_t left, uint32_t first, uint32_t depth, int8_t *to)
{
    for (int32_t ky = 0; ky < op->window.height; ky++) {
        const int32_t y = top + ky * op->window.dilation_h;
        for (int32_t kx = 0; kx < op->window.width; kx++) {
            const int32_t x = left + kx * op->window.dilation_w;
            if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                to = n6k_copy_bytes(to, op->input + (uint32_t)(y * op->in.width + x) * op->in.channels + first, depth);
            } else {
                to = n6k_fill_bytes(to, op->input_zero_point, depth);
            }
        }
    }
}

/* Compute the channels from `begin` to `end` of one pixel, whose column is x. */
static void __attribute__((noinline)) one_pixel(const n6k_qlinear_conv_t *op, const int8_t *x, uint32_t taps, uint32_t begin,
                                                uint32_t end, int8_t *output)
{
    int32_t sums[BLOCK];
    for (; begin < end; begin += BLOCK) {
        const uint32_t count = end - begin < BLOCK ? end - begin : BLOCK;
        const int8_t *weights = op->weights + begin * taps;
        uint32_t i = 0;
        for (; i + 3 <= count; i += 3, weights += 3 * taps) {
            dot_threes(x, taps, weights, op->bias + begin + i, sums + i);
        }
        for (; i < count; i++, weights += taps) {
            sums[i] = dot_one(x, taps, weights, op->bias[begin + i]);
        }
        scale_and_store(sums, op->scale + begin, count, op->range, output + begin);
    }
}

void n6k_qlinear_conv(const n6k_qlinear_conv_t *op)
{
    const n6k_window_t *window = &op->window;
    const uint32_t depth = op->in.channels / op->groups;
    const uint32_t taps = (uint32_t)window->height * window->width * depth;
    const uint32_t of_group = op->out.channels / op->groups;
    /* A window of one element inside the input is its own column. */
    const int direct = op->groups == 1 && window->height == 1 && window->width == 1;
    int8_t *output = op->output;
    int32_t top = -window->pad_top;
    for (uint32_t rows = op->out.height; rows > 0; rows--, top += window->stride_h) {
        int32_t left = -window->pad_left;
        for (uint32_t columns = op->out.width; columns > 0; columns--, left += window->stride_w) {
            const int inside = top >= 0 && top < op->in.height && left >= 0 && left < op->in.width;
            for (uint32_t group = 0; group < op->groups; group++) {
                const int8_t *x = op->scratch;
                if (direct && inside) {
                    x = op->input + (uint32_t)(top * op->in.width + left) * op->in.channels;
                } else {
                    gather(op, top, left, group * depth, depth, op->scratch);
                }
                one_pixel(op, x, taps, group * of_group, (group + 1) * of_group, output);
            }
            output += op->out.channels;
        }
    }
}

#else

void n6k_qlinear_conv(const n6k_qlinear_conv_t *op)
{
    n6k_plain_qlinear_conv(op);
}

#endif
