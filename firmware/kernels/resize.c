/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resizing. An element is the weighted sum, of at most 28 bits, of four. The weights add up to a power of two.
 */
#include <stddef.h>

#include "helium.h"
#include "n6_kernels_plain.h"

/* A row of the output: the two neighbouring rows of the input, and their weights. */
typedef struct {
    const int8_t *upper;
    const int8_t *lower;
    int32_t upper_weight;
    int32_t lower_weight;
} row_t;

static inline row_t row_of(const n6k_resize_bilinear_t *op, uint32_t y)
{
    const int32_t *const table = op->rows + y;
    const int32_t weight = table[2 * op->out_height];
    const row_t row = {op->input + table[0], op->input + table[op->out_height], (1 << op->row_bits) - weight, weight};
    return row;
}

void n6k_plain_resize_bilinear(const n6k_resize_bilinear_t *op)
{
    const int32_t divisor = 1 << (op->row_bits + op->column_bits);
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out_height; y++) {
        const row_t row = row_of(op, y);
        for (uint32_t x = 0; x < op->out_width; x++) {
            const int32_t *const table = op->columns + x;
            const int32_t left = table[0], right = table[op->out_width];
            const int32_t right_weight = table[2 * op->out_width];
            const int32_t left_weight = (1 << op->column_bits) - right_weight;
            for (int32_t c = 0; c < (int32_t)op->channels; c++) {
                const int32_t upper = row.upper[left + c] * left_weight + row.upper[right + c] * right_weight;
                const int32_t lower = row.lower[left + c] * left_weight + row.lower[right + c] * right_weight;
                const int32_t sum = upper * row.upper_weight + lower * row.lower_weight;
                *output++ = (int8_t)((sum + (sum > 0 ? divisor / 2 : -(divisor / 2))) / divisor);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The fewest channels for lanes of channels. With fewer channels, lanes are columns. */
#define LEAST_CHANNELS 4

/* An element of the output: the starts of its four neighbours, and their weights. blend_x8 and blend_x4 load it into registers in
 * this order; r7 and r9 belong to the compiler. */
typedef struct {
    int8_t *to;
    const int8_t *from[4];
    int32_t weight[4];
    uint32_t channels;
    int32_t negative_bits;
} element_t;

/* Blend eight channels at a time, with sums of 16 bits. Halves are rounded away from zero: see n6k_rounding_divide_x4. */
static void blend_x8(const element_t *at)
{
    register const element_t *r0 __asm__("r0") = at;
    __asm__ volatile("ldr r12, [r0, %[negative_bits]]\n"
                     "vdup.16 q3, r12\n"
                     "ldm r0, {r0-r6, r8, r10, r12}\n"
                     "wlstp.16 lr, r12, 1f\n"
                     "2:\n"
                     "vldrb.s16 q0, [r1], #8\n"
                     "vldrb.s16 q1, [r2], #8\n"
                     "vmul.i16 q0, q0, r5\n"
                     "vldrb.s16 q2, [r3], #8\n"
                     "vmla.s16 q0, q1, r6\n"
                     "vldrb.s16 q1, [r4], #8\n"
                     "vmla.s16 q0, q2, r8\n"
                     "vmla.s16 q0, q1, r10\n"
                     "vand q1, q0, q3\n"
                     "vshr.s16 q1, q1, #15\n"
                     "vadd.i16 q0, q0, q1\n"
                     "vrshl.s16 q0, q0, q3\n"
                     "vstrb.16 q0, [r0], #8\n"
                     "letp lr, 2b\n"
                     "1:\n"
                     : "+r"(r0)
                     : [negative_bits] "i"(offsetof(element_t, negative_bits))
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3",
                       "memory");
}

/* Do the same as blend_x8, four at a time with sums of 32 bits. */
static void blend_x4(const element_t *at)
{
    register const element_t *r0 __asm__("r0") = at;
    __asm__ volatile("ldr r12, [r0, %[negative_bits]]\n"
                     "vdup.32 q3, r12\n"
                     "ldm r0, {r0-r6, r8, r10, r12}\n"
                     "wlstp.32 lr, r12, 1f\n"
                     "2:\n"
                     "vldrb.s32 q0, [r1], #4\n"
                     "vldrb.s32 q1, [r2], #4\n"
                     "vmul.i32 q0, q0, r5\n"
                     "vldrb.s32 q2, [r3], #4\n"
                     "vmla.s32 q0, q1, r6\n"
                     "vldrb.s32 q1, [r4], #4\n"
                     "vmla.s32 q0, q2, r8\n"
                     "vmla.s32 q0, q1, r10\n"
                     "vand q1, q0, q3\n"
                     "vshr.s32 q1, q1, #31\n"
                     "vadd.i32 q0, q0, q1\n"
                     "vrshl.s32 q0, q0, q3\n"
                     "vstrb.32 q0, [r0], #4\n"
                     "letp lr, 2b\n"
                     "1:\n"
                     : "+r"(r0)
                     : [negative_bits] "i"(offsetof(element_t, negative_bits))
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3",
                       "memory");
}

static inline __attribute__((always_inline)) void blend_row(const n6k_resize_bilinear_t *op, row_t row, int8_t *output,
                                                            int short_sums)
{
    const n6k_resize_bilinear_t local = *op;
    const int32_t *table = local.columns;
    for (uint32_t x = local.out_width; x > 0; x--, table++, output += local.channels) {
        const int32_t left = table[0], right = table[local.out_width], weight = table[2 * local.out_width];
        const int32_t left_weight = (1 << local.column_bits) - weight;
        const element_t at = {
            output,
            {row.upper + left, row.upper + right, row.lower + left, row.lower + right},
            {row.upper_weight * left_weight, row.upper_weight * weight, row.lower_weight * left_weight,
             row.lower_weight * weight},
            local.channels,
            -(int32_t)(local.row_bits + local.column_bits),
        };
        if (short_sums) {
            blend_x8(&at);
        } else {
            blend_x4(&at);
        }
    }
}

static void blend_columns(const n6k_resize_bilinear_t *op, row_t row, int8_t *output)
{
    const n6k_resize_bilinear_t local = *op;
    const int32x4_t negative_bits = vdupq_n_s32(-(int32_t)(local.row_bits + local.column_bits));
    const int32x4_t whole = vdupq_n_s32(1 << local.column_bits);
    const uint32x4_t out_offsets = vmulq_n_u32(vidupq_n_u32(0, 1), local.channels);
    for (uint32_t c = 0; c < local.channels; c++, row.upper++, row.lower++) {
        for (uint32_t x = 0; x < local.out_width; x += 4) {
            const mve_pred16_t lanes = vctp32q(local.out_width - x);
            const int32_t *const table = local.columns + x;
            const uint32x4_t left = vreinterpretq_u32_s32(vldrwq_z_s32(table, lanes));
            const uint32x4_t right = vreinterpretq_u32_s32(vldrwq_z_s32(table + local.out_width, lanes));
            const int32x4_t weight = vldrwq_z_s32(table + 2 * local.out_width, lanes);
            const int32x4_t left_weight = vsubq_s32(whole, weight);
            const int32x4_t upper = vaddq_s32(
                vmulq_s32(vldrbq_gather_offset_z_s32(row.upper, left, lanes), left_weight),
                vmulq_s32(vldrbq_gather_offset_z_s32(row.upper, right, lanes), weight));
            const int32x4_t lower = vaddq_s32(
                vmulq_s32(vldrbq_gather_offset_z_s32(row.lower, left, lanes), left_weight),
                vmulq_s32(vldrbq_gather_offset_z_s32(row.lower, right, lanes), weight));
            const int32x4_t sum = vmlaq_n_s32(vmulq_n_s32(upper, row.upper_weight), lower, row.lower_weight);
            vstrbq_scatter_offset_p_s32(output + x * local.channels + c, out_offsets,
                                        n6k_rounding_divide_x4(sum, negative_bits), lanes);
        }
    }
}

void n6k_resize_bilinear(const n6k_resize_bilinear_t *op)
{
    /* |sum| <= 2^(7 + bits), and half of the divisor is added to it. */
    const int short_sums = op->row_bits + op->column_bits <= 7;
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out_height; y++, output += op->out_width * op->channels) {
        if (op->channels < LEAST_CHANNELS) {
            blend_columns(op, row_of(op, y), output);
        } else if (short_sums) {
            blend_row(op, row_of(op, y), output, 1);
        } else {
            blend_row(op, row_of(op, y), output, 0);
        }
    }
}

#else

void n6k_resize_bilinear(const n6k_resize_bilinear_t *op)
{
    n6k_plain_resize_bilinear(op);
}

#endif
