/* SPDX-License-Identifier: Apache-2.0
 *
 * PRELU, int8: negative values times a tensor.
 */
#include "broadcast.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_prelu(const n6k_prelu_t *op)
{
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        for (uint32_t i = 0; i < walk.elements; i++) {
            const int32_t x = walk.a[i] - op->a_zero_point;
            const int32_t alpha = walk.b[i] - op->b_zero_point;
            const int32_t scaled = x < 0 ? n6k_scale_double(x * alpha, op->negative_multiplier, op->negative_shift)
                                         : n6k_scale_double(x, op->positive_multiplier, op->positive_shift);
            walk.output[i] = n6k_to_output(scaled, op->range);
        }
    } while (n6k_walk_next(&walk));
}

#if defined(__ARM_FEATURE_MVE)

/* The constants of the assembly below, in the order of its loads; right shifts are negative. */
typedef struct {
    int32_t positive_right; /* 0 */
    int32_t negative_right;
    int32_t low; /* 8 */
    int32_t high;
    uint32_t elements; /* 16 */
    int32_t a_offset;
    int32_t b_offset;
    int32_t positive_left;
    int32_t positive_multiplier;
    int32_t negative_left;
    int32_t negative_multiplier;
    int32_t zero_point;
} constants_t;

/* Compute both results for every lane. After high multiplies follows a rounding shift as in n6k_rounding_divide_x4. */
static void __attribute__((noinline)) prelu_elements(const constants_t *constants, const int8_t *a, const int8_t *b,
                                                     int8_t *output)
{
    __asm__ volatile("ldrd r4, r5, [%[constants]], #8\n"
                     "vdup.32 q4, r4\n"
                     "vdup.32 q5, r5\n"
                     "ldrd r4, r5, [%[constants]], #8\n"
                     "vdup.32 q6, r4\n"
                     "vdup.32 q7, r5\n"
                     "ldr lr, [%[constants]], #4\n"
                     "ldm %[constants], {r4, r5, r6, r8, r10, r11, r12}\n"
                     "dlstp.32 lr, lr\n"
                     "1:\n"
                     "vldrb.s32 q0, [%[a]], #4\n"
                     "vadd.i32 q0, q0, r4\n"
                     "vldrb.s32 q1, [%[b]], #4\n"
                     "vadd.i32 q1, q1, r5\n"
                     "vmul.i32 q1, q1, q0\n"
                     "vcmp.s32 lt, q0, zr\n"
                     "vshl.s32 q0, r6\n"
                     "vshl.s32 q1, r10\n"
                     "vqrdmulh.s32 q0, q0, r8\n"
                     "vqrdmulh.s32 q1, q1, r11\n"
                     "vand q2, q0, q4\n"
                     "vshr.s32 q2, q2, #31\n"
                     "vqadd.s32 q0, q0, q2\n"
                     "vand q3, q1, q5\n"
                     "vshr.s32 q3, q3, #31\n"
                     "vqadd.s32 q1, q1, q3\n"
                     "vrshl.s32 q0, q0, q4\n"
                     "vrshl.s32 q1, q1, q5\n"
                     "vpsel q0, q1, q0\n"
                     "vadd.i32 q0, q0, r12\n"
                     "vmax.s32 q0, q0, q6\n"
                     "vmin.s32 q0, q0, q7\n"
                     "vstrb.32 q0, [%[output]], #4\n"
                     "letp lr, 1b\n"
                     : [constants] "+r"(constants), [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)
                     :
                     : "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6",
                       "q7", "memory");
}

void n6k_prelu(const n6k_prelu_t *op)
{
    constants_t constants = {
        .positive_right = op->positive_shift > 0 ? 0 : op->positive_shift,
        .negative_right = op->negative_shift > 0 ? 0 : op->negative_shift,
        .low = op->range.clamp_min,
        .high = op->range.clamp_max,
        .a_offset = -(int32_t)op->a_zero_point,
        .b_offset = -(int32_t)op->b_zero_point,
        .positive_left = op->positive_shift > 0 ? op->positive_shift : 0,
        .positive_multiplier = op->positive_multiplier,
        .negative_left = op->negative_shift > 0 ? op->negative_shift : 0,
        .negative_multiplier = op->negative_multiplier,
        .zero_point = op->range.zero_point,
    };
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        constants.elements = walk.elements;
        prelu_elements(&constants, walk.a, walk.b, walk.output);
    } while (n6k_walk_next(&walk));
}

#else

void n6k_prelu(const n6k_prelu_t *op)
{
    n6k_plain_prelu(op);
}

#endif
