/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution, NHWC int8.
 */
#include <stddef.h>

#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_conv_2d(const n6k_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const int8_t *weight = op->weights;
            for (int32_t oc = 0; oc < op->out.channels; oc++) {
                int32_t sum = op->bias[oc];
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky * window->dilation_h;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx * window->dilation_w;
                        const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width;
                        for (int32_t ic = 0; ic < op->in.channels; ic++) {
                            const int32_t value = inside ? op->input[(y * op->in.width + x) * op->in.channels + ic]
                                                         : op->input_zero_point;
                            sum += value * *weight++;
                        }
                    }
                }
                *output++ = n6k_to_output(n6k_scale_double(sum, op->multiplier[oc], op->shift[oc]), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The number of output channels whose accumulators are scaled together by vectors; a multiple of 3. */
#define BLOCK 96

/* The dot products of two columns with the rows of weights of a block. */
typedef struct {
    const int8_t *x0;
    const int8_t *x1;
    uint32_t taps;        /* length of columns and rows */
    uintptr_t to_bias;    /* from an accumulator of the first pixel to its channel's bias, in bytes */
    uint32_t excess;      /* distance of post-incremented pointers beyond `taps`, since they advance in steps of 16 */
    const int32_t *end;   /* of the first pixel's accumulators that are computed three at a time */
    uint32_t saved[2];    /* r7, r9 */
    int32_t first[BLOCK]; /* accumulators of the first pixel, which start as the bias */
    int32_t second[BLOCK];
} dot_t;

_Static_assert(offsetof(dot_t, taps) == 8 && offsetof(dot_t, to_bias) == 12 && offsetof(dot_t, excess) == 16 &&
                   offsetof(dot_t, end) == 20 && offsetof(dot_t, saved) == 24 && offsetof(dot_t, first) == 32 &&
                   offsetof(dot_t, second) - offsetof(dot_t, first) == 384,
               "the assembly knows these offsets");

/* Compute three channels at a time for both columns: 6 multiply-accumulates of 16 bytes for 5 loads. vmladava accumulates in even
 * registers only. With six of them, five pointers and lr for the loop, only two registers are free, so the rest of the state is
 * in memory. r7 and r9 are restored, not named as clobbered: a compiler may reserve them as frame pointer and as base of
 * position independent data. Return the weights after the last row used. There must be at least three channels. */
static const int8_t *dot_threes(dot_t *dot, const int8_t *weights)
{
    register dot_t *state __asm__("r12") = dot;
    register const int8_t *w0 __asm__("r5") = weights;
    __asm__ volatile("strd r7, r9, [r12, #24]\n"
                     "add r9, r12, #32\n"
                     "1:\n"
                     "ldrd lr, r8, [r12, #8]\n" /* taps, to_bias */
                     "add r8, r8, r9\n"
                     "ldrd r0, r2, [r8]\n"
                     "ldr r4, [r8, #8]\n"
                     "add r7, r5, lr\n"
                     "ldrd r1, r3, [r12]\n" /* x0, x1 */
                     "add r11, r7, lr\n"
                     "mov r6, r0\n"
                     "mov r8, r2\n"
                     "mov r10, r4\n"
                     "dlstp.8 lr, lr\n"
                     "2:\n"
                     "vldrb.8 q0, [r1], #16\n"
                     "vldrb.8 q2, [r5], #16\n"
                     "vmladava.s8 r0, q0, q2\n"
                     "vldrb.8 q1, [r3], #16\n"
                     "vmladava.s8 r6, q1, q2\n"
                     "vldrb.8 q3, [r7], #16\n"
                     "vmladava.s8 r2, q0, q3\n"
                     "vldrb.8 q2, [r11], #16\n"
                     "vmladava.s8 r8, q1, q3\n"
                     "vmladava.s8 r4, q0, q2\n"
                     "vmladava.s8 r10, q1, q2\n"
                     "letp lr, 2b\n"
                     "ldrd r1, r3, [r12, #16]\n" /* excess, end */
                     "strd r6, r8, [r9, #384]\n"
                     "str r10, [r9, #392]\n"
                     "strd r0, r2, [r9], #8\n"
                     "str r4, [r9], #4\n"
                     "sub r5, r11, r1\n"
                     "cmp r9, r3\n"
                     "bne 1b\n"
                     "ldrd r7, r9, [r12, #24]\n"
                     : "+r"(w0)
                     : "r"(state)
                     : "r0", "r1", "r2", "r3", "r4", "r6", "r8", "r10", "r11", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
    return w0;
}

/* Compute one channel for both columns. */
static inline void dot_one(dot_t *dot, uint32_t channel, const int8_t *weights, int32_t bias)
{
    const int8_t *x0 = dot->x0;
    const int8_t *x1 = dot->x1;
    int32_t a = bias;
    int32_t b = bias;
    __asm__ volatile("dlstp.8 lr, %[taps]\n"
                     "1:\n"
                     "vldrb.8 q0, [%[x0]], #16\n"
                     "vldrb.8 q2, [%[w]], #16\n"
                     "vmladava.s8 %[a], q0, q2\n"
                     "vldrb.8 q1, [%[x1]], #16\n"
                     "vmladava.s8 %[b], q1, q2\n"
                     "letp lr, 1b\n"
                     : [a] "+Te"(a), [b] "+Te"(b), [x0] "+r"(x0), [x1] "+r"(x1), [w] "+r"(weights)
                     : [taps] "r"(dot->taps)
                     : "lr", "q0", "q1", "q2", "memory");
    dot->first[channel] = a;
    dot->second[channel] = b;
}

/* Scale `count` channels of both pixels from channel `begin` on, and store them. The two pixels' results share a vector of 16-bit
 * lanes (even: first, odd: second) for zero point and clamping. Both narrowings saturate; clamping to int8 makes this
 * unobservable. */
static void __attribute__((noinline)) scale_and_store(const n6k_conv_2d_t *op, const dot_t *dot, uint32_t begin,
                                                      uint32_t count, int8_t *first, int8_t *second)
{
    const int32_t *a = dot->first;
    const int32_t *b = dot->second;
    const int32_t *multiplier = op->multiplier + begin;
    const int32_t *shift = op->shift + begin;
    __asm__ volatile("vmov.i32 q7, #0\n"
                     "vdup.16 q6, %[low]\n"
                     "vdup.16 q5, %[high]\n"
                     "dlstp.32 lr, %[count]\n"
                     "1:\n"
                     "vldrw.32 q0, [%[a]], #16\n"
                     "vldrw.32 q2, [%[shift]], #16\n"
                     "vmax.s32 q3, q2, q7\n" /* left shift */
                     "vldrw.32 q1, [%[b]], #16\n"
                     "vshl.s32 q0, q0, q3\n"
                     "vshl.s32 q1, q1, q3\n"
                     "vldrw.32 q3, [%[multiplier]], #16\n"
                     "vmin.s32 q2, q2, q7\n" /* right shift, negative */
                     "vqrdmulh.s32 q0, q0, q3\n"
                     "vqrdmulh.s32 q1, q1, q3\n"
                     "vand q3, q0, q2\n" /* as n6k_rounding_divide_x4 */
                     "vand q4, q1, q2\n"
                     "vshr.s32 q3, q3, #31\n"
                     "vshr.s32 q4, q4, #31\n"
                     "vqadd.s32 q0, q0, q3\n"
                     "vqadd.s32 q1, q1, q4\n"
                     "vrshl.s32 q0, q0, q2\n"
                     "vrshl.s32 q1, q1, q2\n"
                     "vqmovnb.s32 q0, q0\n"
                     "vqmovnt.s32 q0, q1\n"
                     "vqadd.s16 q0, q0, %[zero_point]\n"
                     "vmax.s16 q0, q0, q6\n"
                     "vmin.s16 q0, q0, q5\n"
                     "vshr.u32 q1, q0, #16\n"
                     "vstrb.32 q0, [%[first]], #4\n"
                     "vstrb.32 q1, [%[second]], #4\n"
                     "letp lr, 1b\n"
                     : [a] "+r"(a), [b] "+r"(b), [multiplier] "+r"(multiplier), [shift] "+r"(shift), [first] "+l"(first),
                       [second] "+l"(second)
                     : [count] "r"(count), [zero_point] "r"((int32_t)op->range.zero_point),
                       [low] "r"((int32_t)op->range.clamp_min), [high] "r"((int32_t)op->range.clamp_max)
                     : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
}

/* Copy the window's input at (top, left), which may be in the padding, to `scratch` in the order of the weights. */
static const int8_t *gather(const n6k_conv_2d_t *op, int32_t top, int32_t left, int8_t *scratch)
{
    const int32_t channels = op->in.channels;
    int8_t *to = scratch;
    for (int32_t ky = 0; ky < op->window.height; ky++) {
        const int32_t y = top + ky * op->window.dilation_h;
        for (int32_t kx = 0; kx < op->window.width; kx++) {
            const int32_t x = left + kx * op->window.dilation_w;
            if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                to = n6k_copy_bytes(to, op->input + (y * op->in.width + x) * channels, (uint32_t)channels);
            } else {
                to = n6k_fill_bytes(to, op->input_zero_point, (uint32_t)channels);
            }
        }
    }
    return scratch;
}

/* Values of a window inside the input that are the same for every pixel. Rows are contiguous unless dilated in width. */
typedef struct {
    uint32_t tops; /* a window is inside where its top and left, unsigned, are less than these */
    uint32_t lefts;
    uint32_t row_bytes;
    uint32_t row_step;
} inside_t;

static inline const int8_t *column(const n6k_conv_2d_t *op, const inside_t *inside, int32_t top, int32_t left,
                                   int8_t *scratch)
{
    if ((uint32_t)top >= inside->tops || (uint32_t)left >= inside->lefts) {
        return gather(op, top, left, scratch);
    }
    const int8_t *from = op->input + (top * op->in.width + left) * op->in.channels;
    uint32_t rows = op->window.height;
    if (rows == 1) {
        return from;
    }
    int8_t *to = scratch;
    do {
        to = n6k_copy_bytes(to, from, inside->row_bytes);
        from += inside->row_step;
    } while (--rows > 0);
    return scratch;
}

/* Compute all channels of two pixels. */
static void __attribute__((noinline)) two_pixels(const n6k_conv_2d_t *op, dot_t *dot, int8_t *first, int8_t *second)
{
    const uint32_t channels = op->out.channels;
    const uint32_t taps = dot->taps;
    const int8_t *weights = op->weights;
    for (uint32_t begin = 0; begin < channels; begin += BLOCK) {
        const uint32_t count = channels - begin < BLOCK ? channels - begin : BLOCK;
        const int32_t *bias = op->bias + begin;
        uint32_t threes = count - count % 3;
        if (threes > 0) {
            dot->to_bias = (uintptr_t)bias - (uintptr_t)dot->first;
            dot->end = dot->first + threes;
            weights = dot_threes(dot, weights);
        }
        for (; threes < count; threes++, weights += taps) {
            dot_one(dot, threes, weights, bias[threes]);
        }
        scale_and_store(op, dot, begin, count, first + begin, second + begin);
    }
}

void n6k_conv_2d(const n6k_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    const uint32_t row_bytes = (uint32_t)window->width * op->in.channels;
    const uint32_t taps = window->height * row_bytes;
    const uint32_t rounded = (taps + 15) & ~UINT32_C(15);
    const int dense = window->width == 1 || window->dilation_w == 1;
    const inside_t inside = {
        .tops = dense ? n6k_positions_inside(op->in.height, window->height, window->dilation_h) : 0,
        .lefts = n6k_positions_inside(op->in.width, window->width, window->dilation_w),
        .row_bytes = row_bytes,
        .row_step = (uint32_t)window->dilation_h * op->in.width * op->in.channels,
    };
    dot_t dot;
    dot.taps = taps;
    dot.excess = rounded - taps;
    int8_t *output = op->output;
    int32_t top = -window->pad_top;
    int odd = 0;
    for (uint32_t rows = op->out.height; rows > 0; rows--, top += window->stride_h) {
        int32_t left = -window->pad_left;
        for (uint32_t columns = op->out.width; columns > 0; columns--, left += window->stride_w) {
            if (odd) {
                dot.x1 = column(op, &inside, top, left, op->scratch + rounded);
                two_pixels(op, &dot, output, output + op->out.channels);
                output += 2 * op->out.channels;
            } else {
                dot.x0 = column(op, &inside, top, left, op->scratch);
            }
            odd ^= 1;
        }
    }
    if (odd) { /* the last pixel has no neighbour: computed twice */
        dot.x1 = dot.x0;
        two_pixels(op, &dot, output, output);
    }
}

#else

void n6k_conv_2d(const n6k_conv_2d_t *op)
{
    n6k_plain_conv_2d(op);
}

#endif
