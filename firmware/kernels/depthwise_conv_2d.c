/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int8.
 */
#include <stddef.h>

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

/* Bytes of a pixel in the band and of a tap in the packed weights: sixteen channels. The last block may have fewer. */
#define BLOCK 16

/* Values that are the same for all pixels of a block of sixteen output channels. Widening int8 products to int32 twice leaves
 * every fourth channel in a vector, so group k holds the channels k, k + 4, k + 8, k + 12 of the block. */
typedef struct {
    int32_t bias[4][4];
    int32_t multiplier[4][4];
    int32_t sign_shift[4][4];  /* gives 1 for a negative lane and 0 for another, or 0 for all lanes if none must be lowered */
    int32_t right_shift[4][4]; /* negative */
    int32_t left_shift[4][4];
    int8_t low[BLOCK];
    int8_t high[BLOCK];
    int8_t *weights;        /* 352: packed: a single tap, then pairs */
    int32_t *offsets;       /* 356: of the taps in the same order, from a pixel's window in the band */
    uint32_t pairs;         /* 360 */
    uint32_t any_left;      /* 364: nonzero if a lane of left_shift is not 0 */
    uint32_t step;          /* 368: from one window to the next in the band, in bytes */
    uint32_t channels;      /* 372: from one output pixel to the next, in bytes */
    int32_t zero_point;     /* 376: of the output */
    uint32_t lanes;         /* 380: a predicate: channels of the block */
    uint8x16_t input_lanes; /* of a depth multiplier: each channel's input channel, from the block's first */
} block_t;

_Static_assert(offsetof(block_t, multiplier) == 64 && offsetof(block_t, sign_shift) == 128 &&
                   offsetof(block_t, right_shift) == 192 && offsetof(block_t, left_shift) == 256 &&
                   offsetof(block_t, low) == 320 && offsetof(block_t, high) == 336 && offsetof(block_t, weights) == 352 &&
                   offsetof(block_t, offsets) == 356 && offsetof(block_t, pairs) == 360 &&
                   offsetof(block_t, any_left) == 364 && offsetof(block_t, step) == 368 &&
                   offsetof(block_t, channels) == 372 && offsetof(block_t, zero_point) == 376 &&
                   offsetof(block_t, lanes) == 380,
               "the assembly knows these offsets");

/* A part of the input with its padding, sixteen channels of it, for N6K_DEPTHWISE_CONV_2D_ROWS output rows by
 * N6K_DEPTHWISE_CONV_2D_COLUMNS columns. Its windows have no borders, but have lanes beyond the channels. */
typedef struct {
    int8_t *start;
    uint32_t left;   /* pixels of padding */
    uint32_t column; /* of the input, the first one inside */
    uint32_t inside;
    uint32_t right; /* pixels of padding, or of input that no window needs */
    uint32_t row;   /* bytes */
} band_t;

static void prepare_constants(block_t *block, const n6k_depthwise_conv_2d_t *op, uint32_t begin)
{
    const uint32_t count = op->out.channels - begin;
    const int32x4_t zero = vdupq_n_s32(0);
    int32_t most = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const uint32x4_t channels = vidupq_n_u32(k, 4);
        const mve_pred16_t present = vcmphiq_u32(vdupq_n_u32(count), channels);
        const int32x4_t shift = vldrwq_gather_shifted_offset_z_s32(op->shift + begin, channels, present);
        vst1q_s32(block->bias[k], vldrwq_gather_shifted_offset_z_s32(op->bias + begin, channels, present));
        vst1q_s32(block->multiplier[k], vldrwq_gather_shifted_offset_z_s32(op->multiplier + begin, channels, present));
        vst1q_s32(block->left_shift[k], vmaxq_s32(shift, zero));
        vst1q_s32(block->right_shift[k], vminq_s32(shift, zero));
        vst1q_s32(block->sign_shift[k], vpselq_s32(vdupq_n_s32(-31), vdupq_n_s32(-32), vcmpltq_n_s32(shift, 0)));
        most = vmaxvq_s32(most, shift);
    }
    block->any_left = most > 0;
    block->lanes = vctp8q(count);
    if (op->depth_multiplier != 1) {
        const uint32_t first_input = begin / op->depth_multiplier;
        uint8_t lanes[BLOCK];
        for (uint32_t i = 0; i < BLOCK; i++) {
            lanes[i] = (uint8_t)((begin + i) / op->depth_multiplier - first_input);
        }
        block->input_lanes = vld1q_u8(lanes);
    }
}

typedef struct {
    int8_t *weights;
    int32_t *offsets;
} packed_t;

static inline packed_t pack_tap(packed_t to, int8x16_t weights, int32_t offset)
{
    vst1q_s8(to.weights, weights);
    *to.offsets = offset;
    return (packed_t){to.weights + BLOCK, to.offsets + 1};
}

/* Pack weights and offsets of the taps: one tap, then pairs, whose products are added in 16 bits first. 16 bits are enough unless
 * both weights are -128; then each weight is paired with 0 instead. */
static void pack_taps(block_t *block, const n6k_depthwise_conv_2d_t *op, uint32_t begin, uint32_t row)
{
    const mve_pred16_t lanes = (mve_pred16_t)block->lanes;
    const int8_t *weights = op->weights + begin;
    const int8x16_t zero = vdupq_n_s8(0);
    packed_t to = {block->weights, block->offsets};
    int8x16_t first = zero; /* of a pair */
    int32_t first_offset = 0;
    int waiting = 0; /* for the second of a pair */
    int32_t line = 0;
    uint32_t pairs = 0;
    for (uint32_t ky = op->window.height; ky > 0; ky--, line += (int32_t)(op->window.dilation_h * row)) {
        int32_t offset = line;
        for (uint32_t kx = op->window.width; kx > 0; kx--, offset += op->window.dilation_w * BLOCK) {
            const int8x16_t tap = vldrbq_z_s8(weights, lanes);
            weights += op->out.channels;
            if (to.weights == block->weights) {
                to = pack_tap(to, tap, offset);
            } else if (!waiting) {
                first = tap;
                first_offset = offset;
                waiting = 1;
            } else {
                if (vminvq_s8(INT8_MAX, vmaxq_s8(first, tap)) == INT8_MIN) {
                    to = pack_tap(to, first, first_offset);
                    to = pack_tap(to, zero, first_offset);
                    first = zero;
                    pairs++;
                }
                to = pack_tap(to, first, first_offset);
                to = pack_tap(to, tap, offset);
                waiting = 0;
                pairs++;
            }
        }
    }
    if (waiting) {
        to = pack_tap(to, first, first_offset);
        to = pack_tap(to, zero, first_offset);
        pairs++;
    }
    block->pairs = pairs;
    to.offsets[0] = 0; /* of a pair that is loaded, but not used */
    to.offsets[1] = 0;
}

/* Copy sixteen channels of each of `pixels` pixels (may be 0), `step` bytes apart. Return the end. */
static inline int8_t *copy_pixels(int8_t *to, const int8_t *from, uint32_t pixels, uint32_t step, uint32_t lanes)
{
    __asm__ volatile("vmsr p0, %[lanes]\n"
                     "wls lr, %[pixels], 2f\n"
                     "1:\n"
                     "vpst\n"
                     "vldrbt.8 q0, [%[from]]\n"
                     "add %[from], %[from], %[step]\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "le lr, 1b\n"
                     "2:\n"
                     : [to] "+l"(to), [from] "+r"(from)
                     : [pixels] "r"(pixels), [step] "r"(step), [lanes] "r"(lanes)
                     : "lr", "q0", "memory");
    return to;
}

/* Fill `rows` rows of the band, from row y of the input on, which may be in the padding. */
static void fill_band(const band_t *band, const block_t *block, const n6k_depthwise_conv_2d_t *op, uint32_t begin, int32_t y,
                      uint32_t rows)
{
    const uint32_t channels = op->in.channels;
    const int8_t zero_point = op->input_zero_point;
    const int8_t *slice = op->input + begin / op->depth_multiplier;
    int8_t *to = band->start;
    for (; rows > 0; rows--, y++) {
        if (y < 0 || y >= op->in.height) {
            to = n6k_fill_bytes(to, zero_point, band->row);
            continue;
        }
        const int8_t *from = slice + ((uint32_t)y * op->in.width + band->column) * channels;
        to = n6k_fill_bytes(to, zero_point, band->left * BLOCK);
        if (op->depth_multiplier == 1) {
            to = copy_pixels(to, from, band->inside, channels, block->lanes);
        } else {
            for (uint32_t pixel = band->inside; pixel > 0; pixel--, from += channels, to += BLOCK) {
                vst1q_s8(to, vldrbq_gather_offset_z_s8(from, block->input_lanes, (mve_pred16_t)block->lanes));
            }
        }
        to = n6k_fill_bytes(to, zero_point, band->right * BLOCK);
    }
}

/* Compute the block's channels of `count` neighbouring output pixels. first_window: window of the first pixel in the band. Loads,
 * multiplications and additions alternate, since the processor overlaps them: the second half of a pair is loaded and multiplied
 * while products of the first half are added. r7 and r9 are unused: frame pointer, and base of position independent data. */
static void compute_pixels(const block_t *constants, const int8_t *first_window, int8_t *first_output, uint32_t count)
{
    register const int8_t *window __asm__("r0") = first_window;
    register const block_t *block __asm__("r3") = constants;
    register int8_t *output __asm__("r4") = first_output;
    register uint32_t pixels __asm__("r5") = count;
    __asm__ volatile("ldrd r10, r11, [r3, #368]\n" /* step, channels */
                     "ldrd r12, r6, [r3, #376]\n"  /* zero_point, lanes */
                     "vmsr p0, r6\n"
                     "1:\n"
                     "ldrd r1, r2, [r3, #352]\n" /* weights, offsets */
                     "ldr lr, [r3, #360]\n"      /* pairs */
                     "ldr r6, [r2], #4\n"
                     "vldrb.8 q5, [r1], #16\n"
                     "add r6, r6, r0\n"
                     "vldrb.8 q4, [r6]\n"
                     "ldrd r6, r8, [r2], #8\n"
                     "vmullb.s8 q6, q4, q5\n"
                     "vldrw.32 q0, [r3]\n"
                     "vmullt.s8 q4, q4, q5\n"
                     "add r6, r6, r0\n"
                     "vmovlb.s16 q5, q6\n"
                     "vldrw.32 q2, [r3, #32]\n"
                     "vmovlt.s16 q6, q6\n"
                     "vldrw.32 q1, [r3, #16]\n"
                     "vadd.i32 q0, q0, q5\n"
                     "vldrw.32 q3, [r3, #48]\n"
                     "vadd.i32 q2, q2, q6\n"
                     "add r8, r8, r0\n"
                     "vmovlb.s16 q5, q4\n"
                     "vldrb.8 q6, [r6]\n"
                     "vmovlt.s16 q4, q4\n"
                     "vldrb.8 q7, [r1]\n"
                     "vadd.i32 q1, q1, q5\n"
                     "vldrb.8 q5, [r8]\n"
                     "vadd.i32 q3, q3, q4\n"
                     "wls lr, lr, 3f\n"
                     "vmullb.s8 q4, q6, q7\n"
                     "vldrb.8 q7, [r1, #16]\n"
                     "vmullb.s8 q5, q5, q7\n"
                     "2:\n" /* q4, q5: a pair's products of even channels */
                     "vldrb.8 q6, [r6]\n"
                     "vadd.i16 q4, q4, q5\n"
                     "vldrb.8 q7, [r1], #32\n"
                     "vmovlb.s16 q5, q4\n"
                     "vmullt.s8 q6, q6, q7\n"
                     "vadd.i32 q0, q0, q5\n"
                     "vldrb.8 q7, [r8]\n"
                     "vmovlt.s16 q4, q4\n"
                     "vldrb.8 q5, [r1, #-16]\n"
                     "vadd.i32 q2, q2, q4\n"
                     "vmullt.s8 q7, q7, q5\n"
                     "ldrd r6, r8, [r2], #8\n"
                     "add r6, r6, r0\n"
                     "add r8, r8, r0\n"
                     "vldrb.8 q4, [r6]\n"
                     "vadd.i16 q6, q6, q7\n"
                     "vldrb.8 q5, [r1]\n"
                     "vmovlb.s16 q7, q6\n"
                     "vmullb.s8 q4, q4, q5\n"
                     "vadd.i32 q1, q1, q7\n"
                     "vldrb.8 q5, [r8]\n"
                     "vmovlt.s16 q6, q6\n"
                     "vldrb.8 q7, [r1, #16]\n"
                     "vadd.i32 q3, q3, q6\n"
                     "vmullb.s8 q5, q5, q7\n"
                     "le lr, 2b\n"
                     "3:\n"
                     "ldr r6, [r3, #364]\n" /* any_left */
                     "cbz r6, 4f\n"
                     "vldrw.32 q4, [r3, #256]\n"
                     "vshl.s32 q0, q0, q4\n"
                     "vldrw.32 q4, [r3, #272]\n"
                     "vshl.s32 q1, q1, q4\n"
                     "vldrw.32 q4, [r3, #288]\n"
                     "vshl.s32 q2, q2, q4\n"
                     "vldrw.32 q4, [r3, #304]\n"
                     "vshl.s32 q3, q3, q4\n"
                     "4:\n" /* as n6k_rounding_divide_x4: no lane is INT32_MIN after the high multiply */
                     "vldrw.32 q4, [r3, #64]\n"
                     "vqrdmulh.s32 q0, q0, q4\n"
                     "vldrw.32 q5, [r3, #128]\n"
                     "vshl.u32 q5, q0, q5\n"
                     "vldrw.32 q4, [r3, #96]\n"
                     "vsub.i32 q0, q0, q5\n"
                     "vqrdmulh.s32 q2, q2, q4\n"
                     "vldrw.32 q5, [r3, #160]\n"
                     "vshl.u32 q5, q2, q5\n"
                     "vldrw.32 q6, [r3, #192]\n"
                     "vrshl.s32 q0, q0, q6\n"
                     "vldrw.32 q4, [r3, #80]\n"
                     "vsub.i32 q2, q2, q5\n"
                     "vqrdmulh.s32 q1, q1, q4\n"
                     "vqmovnb.s32 q0, q0\n"
                     "vldrw.32 q6, [r3, #224]\n"
                     "vrshl.s32 q2, q2, q6\n"
                     "vldrw.32 q5, [r3, #144]\n"
                     "vshl.u32 q5, q1, q5\n"
                     "vldrw.32 q4, [r3, #112]\n"
                     "vqmovnt.s32 q0, q2\n"
                     "vqrdmulh.s32 q3, q3, q4\n"
                     "vsub.i32 q1, q1, q5\n"
                     "vldrw.32 q5, [r3, #176]\n"
                     "vshl.u32 q5, q3, q5\n"
                     "vldrw.32 q6, [r3, #208]\n"
                     "vrshl.s32 q1, q1, q6\n"
                     "vldrw.32 q7, [r3, #240]\n"
                     "vsub.i32 q3, q3, q5\n"
                     "add r0, r0, r10\n"
                     "vqmovnb.s32 q1, q1\n"
                     "vldrw.32 q6, [r3, #320]\n"
                     "vrshl.s32 q3, q3, q7\n"
                     "vldrw.32 q7, [r3, #336]\n"
                     "vqadd.s16 q0, q0, r12\n"
                     "subs r5, r5, #1\n"
                     "vqmovnt.s32 q1, q3\n"
                     "vqmovnb.s16 q0, q0\n"
                     "vqadd.s16 q1, q1, r12\n"
                     "vqmovnt.s16 q0, q1\n"
                     "vmax.s8 q0, q0, q6\n"
                     "vmin.s8 q0, q0, q7\n"
                     "vpst\n"
                     "vstrbt.8 q0, [r4]\n"
                     "add r4, r4, r11\n"
                     "bne 1b\n"
                     : "+r"(window), "+r"(output), "+r"(pixels)
                     : "r"(block)
                     : "r1", "r2", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc",
                       "memory");
}

/* Set the part of the band's rows inside the input. first: the input column of the band's first column; may be in the padding. */
static inline void place_columns(band_t *band, int32_t first, uint32_t in_width)
{
    const uint32_t columns = band->row / BLOCK;
    band->left = first < 0 ? n6k_least((uint32_t)-first, columns) : 0;
    band->column = first < 0 ? 0 : n6k_least((uint32_t)first, in_width);
    band->inside = n6k_least(in_width - band->column, columns - band->left);
    band->right = columns - band->left - band->inside;
}

void n6k_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    const uint32_t channels = op->out.channels;
    const uint32_t most_rows = n6k_least(op->out.height, N6K_DEPTHWISE_CONV_2D_ROWS);
    const uint32_t most_columns = n6k_least(op->out.width, N6K_DEPTHWISE_CONV_2D_COLUMNS);
    const uint32_t rows_of_window = (window->height - 1u) * window->dilation_h + 1;
    band_t band = {.start = op->scratch};
    band.row = BLOCK * ((most_columns - 1) * window->stride_w + (window->width - 1u) * window->dilation_w + 1);
    block_t block;
    block.weights = band.start + ((most_rows - 1) * window->stride_h + rows_of_window) * band.row;
    block.offsets = (int32_t *)(void *)(block.weights + BLOCK * (2 * window->height * window->width + 1));
    block.step = window->stride_w * BLOCK;
    block.channels = channels;
    block.zero_point = op->range.zero_point;
    vst1q_s8(block.low, vdupq_n_s8(op->range.clamp_min));
    vst1q_s8(block.high, vdupq_n_s8(op->range.clamp_max));
    for (uint32_t begin = 0; begin < channels; begin += BLOCK) {
        prepare_constants(&block, op, begin);
        pack_taps(&block, op, begin, band.row);
        for (uint32_t x = 0; x < op->out.width; x += most_columns) {
            const uint32_t columns = n6k_least(op->out.width - x, most_columns);
            int8_t *output = op->output + begin + x * channels;
            place_columns(&band, (int32_t)(x * window->stride_w) - window->pad_left, op->in.width);
            for (uint32_t y = 0; y < op->out.height; y += most_rows) {
                const uint32_t rows = n6k_least(op->out.height - y, most_rows);
                fill_band(&band, &block, op, begin, (int32_t)(y * window->stride_h) - window->pad_top,
                          (rows - 1) * window->stride_h + rows_of_window);
                const int8_t *first = band.start;
                for (uint32_t i = rows; i > 0; i--) {
                    compute_pixels(&block, first, output, columns);
                    first += window->stride_h * band.row;
                    output += op->out.width * channels;
                }
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
