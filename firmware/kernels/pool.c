/* SPDX-License-Identifier: Apache-2.0
 *
 * Max and average pooling, NHWC int8.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_max_pool_2d(const n6k_pool_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            for (int32_t c = 0; c < op->out.channels; c++) {
                int32_t largest = INT8_MIN;
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx;
                        if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                            const int32_t value = op->input[(y * op->in.width + x) * op->in.channels + c];
                            largest = value > largest ? value : largest;
                        }
                    }
                }
                *output++ = (int8_t)n6k_clamp(largest, op->range.clamp_min, op->range.clamp_max);
            }
        }
    }
}

void n6k_plain_average_pool_2d(const n6k_pool_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            for (int32_t c = 0; c < op->out.channels; c++) {
                int32_t sum = 0;
                int32_t count = 0;
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx;
                        if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                            sum += op->input[(y * op->in.width + x) * op->in.channels + c];
                            count++;
                        }
                    }
                }
                const int32_t average = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
                *output++ = (int8_t)n6k_clamp(average, op->range.clamp_min, op->range.clamp_max);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The part of a window inside the input. */
typedef struct {
    const int8_t *start;
    int32_t rows;
    int32_t columns;
} part_t;

static inline part_t inside(const n6k_pool_t *op, int32_t top, int32_t left)
{
    const int32_t y = top < 0 ? 0 : top;
    const int32_t x = left < 0 ? 0 : left;
    const int32_t bottom = top + op->window.height;
    const int32_t right = left + op->window.width;
    return (part_t){
        .start = op->input + (y * op->in.width + x) * op->in.channels,
        .rows = (bottom < op->in.height ? bottom : op->in.height) - y,
        .columns = (right < op->in.width ? right : op->in.width) - x,
    };
}

/* The constants of the assembly below. */
typedef struct {
    uint32_t second; /* of two or three columns, from the first, in bytes */
    uint32_t row;    /* 4: bytes */
    uint32_t third;  /* 8: of three columns, from the first, in bytes */
    uint32_t last;   /* 12: group of three columns, from the first, in bytes */
    int32_t low;     /* 16 */
    int32_t high;
    uint32_t channels; /* 24 */
    int32_t columns;
} max_t;

/* Compute the maximum of up to two columns; a single column is used twice. Loads and comparisons alternate, since the processor
 * overlaps them. */
static void __attribute__((noinline)) max_of_two_columns(const max_t *constants, const int8_t *start, int32_t rows,
                                                         int8_t *output)
{
    __asm__ volatile("ldrd r10, r5, [%[constants], #16]\n" /* low, high */
                     "vdup.8 q6, r10\n"
                     "vdup.8 q7, r5\n"
                     "ldr r10, [%[constants], #24]\n" /* channels */
                     "ldrd r8, r12, [%[constants]]\n" /* second, row */
                     "dlstp.8 lr, r10\n"
                     "1:\n"
                     "mov r5, %[start]\n"
                     "add r6, %[start], r8\n"
                     "add %[start], %[start], #16\n"
                     "subs r10, %[rows], #1\n"
                     "vldrb.8 q0, [r5]\n"
                     "vldrb.8 q1, [r6]\n"
                     "beq 3f\n"
                     "2:\n"
                     "add r5, r5, r12\n"
                     "add r6, r6, r12\n"
                     "subs r10, r10, #1\n"
                     "vldrb.8 q2, [r5]\n"
                     "vmax.s8 q0, q0, q1\n"
                     "vldrb.8 q1, [r6]\n"
                     "vmax.s8 q0, q0, q2\n"
                     "bne 2b\n"
                     "3:\n"
                     "vmax.s8 q0, q0, q1\n"
                     "vmax.s8 q0, q0, q6\n"
                     "vmin.s8 q0, q0, q7\n"
                     "vstrb.8 q0, [%[output]], #16\n"
                     "letp lr, 1b\n"
                     : [start] "+r"(start), [output] "+r"(output)
                     : [constants] "r"(constants), [rows] "r"(rows)
                     : "r5", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q6", "q7", "cc", "memory");
}

/* Compute the maximum of at least three columns, three at a time. If their number is no multiple of three, the last three overlap
 * those before: an element may be used twice. */
static void __attribute__((noinline)) max_of_columns(const max_t *constants, const int8_t *start, int32_t rows,
                                                     int8_t *output)
{
    __asm__ volatile("ldrd r5, r6, [%[constants], #16]\n" /* low, high */
                     "vdup.8 q6, r5\n"
                     "vdup.8 q7, r6\n"
                     "ldr r5, [%[constants], #24]\n" /* channels */
                     "dlstp.8 lr, r5\n"
                     "1:\n"
                     "vmov.i8 q0, #0x80\n"
                     "vmov.i8 q3, #0x80\n"
                     "mov r11, #0\n"
                     "2:\n"
                     "ldrd r6, r12, [%[constants]]\n" /* second, row */
                     "add r5, %[start], r11\n"
                     "ldr r8, [%[constants], #8]\n" /* third */
                     "mov r10, %[rows]\n"
                     "add r6, r6, r5\n"
                     "add r8, r8, r5\n"
                     "3:\n"
                     "vldrb.8 q1, [r5]\n"
                     "vmax.s8 q0, q0, q3\n"
                     "vldrb.8 q2, [r6]\n"
                     "vmax.s8 q0, q0, q1\n"
                     "vldrb.8 q3, [r8]\n"
                     "vmax.s8 q0, q0, q2\n"
                     "add r5, r5, r12\n"
                     "add r6, r6, r12\n"
                     "add r8, r8, r12\n"
                     "subs r10, r10, #1\n"
                     "bne 3b\n"
                     "ldr r5, [%[constants], #12]\n" /* last */
                     "cmp r11, r5\n"
                     "beq 4f\n"
                     "ldr r6, [%[constants]]\n" /* second */
                     "add r11, r11, r6\n"
                     "add r11, r11, r6, lsl #1\n"
                     "cmp r11, r5\n"
                     "it hi\n"
                     "movhi r11, r5\n"
                     "b 2b\n"
                     "4:\n"
                     "vmax.s8 q0, q0, q3\n"
                     "add %[start], %[start], #16\n"
                     "vmax.s8 q0, q0, q6\n"
                     "vmin.s8 q0, q0, q7\n"
                     "vstrb.8 q0, [%[output]], #16\n"
                     "letp lr, 1b\n"
                     : [start] "+r"(start), [output] "+r"(output)
                     : [constants] "r"(constants), [rows] "r"(rows)
                     : "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q6", "q7", "cc", "memory");
}

/* The largest number of elements in a window whose sum, with its rounding term, fits in 16 bits. */
#define MOST_IN_16_BITS 255

/* The constants of the assembly below, in the order of its loads. */
typedef struct {
    uint32_t row;     /* bytes */
    uint32_t rows;    /* 4 */
    uint32_t columns; /* 8 */
    uint32_t count;   /* 12: rows * columns */
    uint32_t half;    /* 16: of the count, rounded down */
    int32_t low;
    int32_t high; /* 24 */
    uint32_t reciprocal;
} average_t;

/* Compute averages of windows of at most MOST_IN_16_BITS elements. With reciprocal = floor(65535 / count) the upper half of n *
 * reciprocal is the quotient of n / count or one less, for every 16-bit n; if one less, the remainder is not below the count. */
static void __attribute__((noinline)) average_of_few(const average_t *constants, const int8_t *start, uint32_t channels,
                                                     int8_t *output)
{
    register int8_t *to __asm__("r4") = output; /* a low register, as narrowing stores and widening loads need */
    __asm__ volatile("ldrd r5, r6, [%[constants], #20]\n" /* low, high */
                     "vdup.16 q6, r5\n"
                     "vdup.16 q7, r6\n"
                     "ldr r5, [%[constants], #28]\n" /* reciprocal */
                     "vdup.16 q5, r5\n"
                     "dlstp.16 lr, %[channels]\n"
                     "1:\n"
                     "vmov.i32 q0, #0\n"
                     "mov r11, %[start]\n"
                     "ldr r8, [%[constants], #4]\n" /* rows */
                     "2:\n"
                     "mov r5, r11\n"
                     "ldr r10, [%[constants], #8]\n" /* columns */
                     "lsrs r10, r10, #1\n"
                     "bcc 3f\n"
                     "vldrb.s16 q1, [r5]\n"
                     "add r5, r5, %[channels]\n"
                     "vadd.i16 q0, q0, q1\n"
                     "cmp r10, #0\n"
                     "beq 4f\n"
                     "3:\n"
                     "add r6, r5, %[channels]\n"
                     "vldrb.s16 q1, [r5]\n"
                     "add r5, r6, %[channels]\n"
                     "vadd.i16 q0, q0, q1\n"
                     "vldrb.s16 q2, [r6]\n"
                     "subs r10, r10, #1\n"
                     "vadd.i16 q0, q0, q2\n"
                     "bne 3b\n"
                     "4:\n"
                     "ldr r6, [%[constants]]\n" /* row */
                     "subs r8, r8, #1\n"
                     "add r11, r11, r6\n"
                     "bne 2b\n"
                     "ldrd r6, r8, [%[constants], #12]\n" /* count, half */
                     "vabs.s16 q1, q0\n"
                     "vadd.i16 q1, q1, r8\n"
                     "vmulh.u16 q2, q1, q5\n"
                     "vmul.i16 q3, q2, r6\n"
                     "mov r8, #1\n"
                     "vsub.i16 q1, q1, q3\n"
                     "vpt.u16 cs, q1, r6\n"
                     "vaddt.i16 q2, q2, r8\n"
                     "vpt.s16 lt, q0, zr\n"
                     "vnegt.s16 q2, q2\n"
                     "vmax.s16 q2, q2, q6\n"
                     "add %[start], %[start], #8\n"
                     "vmin.s16 q2, q2, q7\n"
                     "vstrb.16 q2, [r4], #8\n"
                     "letp lr, 1b\n"
                     : [start] "+r"(start), "+r"(to)
                     : [constants] "r"(constants), [channels] "r"(channels)
                     : "r5", "r6", "r8", "r10", "r11", "lr", "q0", "q1", "q2", "q3", "q5", "q6", "q7", "cc", "memory");
}

static void __attribute__((noinline)) average_of_many(const n6k_pool_t *op, part_t part, int8_t *output)
{
    const uint32_t channels = op->in.channels;
    const uint32_t row = op->in.width * channels;
    const int32_t count = part.rows * part.columns;
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        int32x4_t sum = vdupq_n_s32(0);
        const int8_t *start = part.start + c;
        for (int32_t rows = part.rows; rows > 0; rows--, start += row) {
            const int8_t *from = start;
            for (int32_t columns = part.columns; columns > 0; columns--, from += channels) {
                sum = vaddq_s32(sum, vldrbq_z_s32(from, lanes));
            }
        }
        int32_t sums[4];
        vst1q_s32(sums, sum);
        for (uint32_t i = 0; i < 4; i++) {
            sums[i] = (sums[i] > 0 ? sums[i] + count / 2 : sums[i] - count / 2) / count;
        }
        int32x4_t average = vmaxq_s32(vld1q_s32(sums), vdupq_n_s32(op->range.clamp_min));
        average = vminq_s32(average, vdupq_n_s32(op->range.clamp_max));
        vstrbq_p_s32(output + c, average, lanes);
    }
}

void n6k_max_pool_2d(const n6k_pool_t *op)
{
    const uint32_t channels = op->in.channels;
    int8_t *output = op->output;
    /* Set the members one by one: an initializer becomes a call of memset, which relocatable models do not have. */
    max_t constants;
    constants.second = constants.third = constants.last = 0;
    constants.row = op->in.width * channels;
    constants.low = op->range.clamp_min;
    constants.high = op->range.clamp_max;
    constants.channels = channels;
    constants.columns = 0;
    int32_t top = -op->window.pad_top;
    for (uint32_t oy = op->out.height; oy > 0; oy--, top += op->window.stride_h) {
        int32_t left = -op->window.pad_left;
        for (uint32_t ox = op->out.width; ox > 0; ox--, left += op->window.stride_w, output += channels) {
            const part_t part = inside(op, top, left);
            if (part.columns != constants.columns) {
                const uint32_t columns = (uint32_t)part.columns;
                constants.columns = part.columns;
                constants.second = n6k_least(columns - 1, 1) * channels;
                constants.third = n6k_least(columns - 1, 2) * channels;
                constants.last = (columns - n6k_least(columns, 3)) * channels;
            }
            if (part.columns > 2) {
                max_of_columns(&constants, part.start, part.rows, output);
            } else {
                max_of_two_columns(&constants, part.start, part.rows, output);
            }
        }
    }
}

void n6k_average_pool_2d(const n6k_pool_t *op)
{
    const uint32_t channels = op->in.channels;
    int8_t *output = op->output;
    average_t few = {.row = op->in.width * channels, .low = op->range.clamp_min, .high = op->range.clamp_max};
    int32_t top = -op->window.pad_top;
    for (uint32_t oy = op->out.height; oy > 0; oy--, top += op->window.stride_h) {
        int32_t left = -op->window.pad_left;
        for (uint32_t ox = op->out.width; ox > 0; ox--, left += op->window.stride_w, output += channels) {
            const part_t part = inside(op, top, left);
            const uint32_t count = (uint32_t)(part.rows * part.columns);
            if (count > MOST_IN_16_BITS) {
                average_of_many(op, part, output);
                continue;
            }
            if (count != few.count) {
                few.count = count;
                few.half = count / 2;
                few.reciprocal = UINT16_MAX / count;
            }
            const int whole_rows = part.columns == op->in.width; /* are contiguous */
            few.rows = whole_rows ? 1 : (uint32_t)part.rows;
            few.columns = whole_rows ? count : (uint32_t)part.columns;
            average_of_few(&few, part.start, channels, output);
        }
    }
}

#else

void n6k_max_pool_2d(const n6k_pool_t *op)
{
    n6k_plain_max_pool_2d(op);
}

void n6k_average_pool_2d(const n6k_pool_t *op)
{
    n6k_plain_average_pool_2d(op);
}

#endif
