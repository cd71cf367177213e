/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise product, int8.
 */
#include "broadcast.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_mul(const n6k_product_t *op)
{
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        for (uint32_t i = 0; i < walk.elements; i++) {
            const int32_t product = (walk.a[i] - op->a_zero_point) * (walk.b[i] - op->b_zero_point);
            walk.output[i] = n6k_to_output(n6k_scale_double(product, op->multiplier, op->shift), op->range);
        }
    } while (n6k_walk_next(&walk));
}

#if defined(__ARM_FEATURE_MVE)

/* The constants of the assembly below, in the order of its loads. */
typedef struct {
    int32_t right_shift; /* 0, negative */
    uint32_t elements;
    int32_t low; /* 8 */
    int32_t high;
    int32_t a_offset; /* 16 */
    int32_t b_offset;
    int32_t left_shift;
    int32_t multiplier;
    int32_t zero_point;
} constants_t;

/* Multiply elements. After the high multiply follows a rounding shift as in n6k_rounding_divide_x4. */
static void __attribute__((noinline)) mul_elements(const constants_t *constants, const int8_t *a, const int8_t *b,
                                                   int8_t *output)
{
    __asm__ volatile("ldrd r4, lr, [%[constants]], #8\n"
                     "vdup.32 q4, r4\n"
                     "ldrd r4, r5, [%[constants]], #8\n"
                     "vdup.32 q5, r4\n"
                     "vdup.32 q6, r5\n"
                     "ldm %[constants], {r4, r5, r6, r8, r10}\n"
                     "dlstp.32 lr, lr\n"
                     "1:\n"
                     "vldrb.s32 q0, [%[a]], #4\n"
                     "vadd.i32 q0, q0, r4\n"
                     "vldrb.s32 q1, [%[b]], #4\n"
                     "vadd.i32 q1, q1, r5\n"
                     "vmul.i32 q0, q0, q1\n"
                     "vshl.s32 q0, r6\n"
                     "vqrdmulh.s32 q0, q0, r8\n"
                     "vand q2, q0, q4\n"
                     "vshr.s32 q2, q2, #31\n"
                     "vqadd.s32 q0, q0, q2\n"
                     "vrshl.s32 q0, q0, q4\n"
                     "vadd.i32 q0, q0, r10\n"
                     "vmax.s32 q0, q0, q5\n"
                     "vmin.s32 q0, q0, q6\n"
                     "vstrb.32 q0, [%[output]], #4\n"
                     "letp lr, 1b\n"
                     : [constants] "+r"(constants), [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)
                     :
                     : "r4", "r5", "r6", "r8", "r10", "lr", "q0", "q1", "q2", "q4", "q5", "q6", "memory");
}

void n6k_mul(const n6k_product_t *op)
{
    constants_t constants = {
        .right_shift = op->shift > 0 ? 0 : op->shift,
        .low = op->range.clamp_min,
        .high = op->range.clamp_max,
        .a_offset = -(int32_t)op->a_zero_point,
        .b_offset = -(int32_t)op->b_zero_point,
        .left_shift = op->shift > 0 ? op->shift : 0,
        .multiplier = op->multiplier,
        .zero_point = op->range.zero_point,
    };
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        constants.elements = walk.elements;
        mul_elements(&constants, walk.a, walk.b, walk.output);
    } while (n6k_walk_next(&walk));
}

#else

void n6k_mul(const n6k_product_t *op)
{
    n6k_plain_mul(op);
}

#endif
