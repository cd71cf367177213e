/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise sum, int8.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

static int32_t scale_operand(int32_t value, int32_t zero_point, int32_t left_shift, int32_t multiplier, int32_t shift)
{
    return n6k_scale_double((value - zero_point) * (1 << left_shift), multiplier, shift);
}

void n6k_plain_add(const n6k_add_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int8_t b = op->b[op->elements_b == 1 ? 0 : i];
        const int32_t sum =
            scale_operand(op->a[i], op->a_zero_point, op->left_shift, op->a_multiplier, op->a_shift) +
            scale_operand(b, op->b_zero_point, op->left_shift, op->b_multiplier, op->b_shift);
        op->output[i] = n6k_to_output(n6k_scale_double(sum, op->out_multiplier, op->out_shift), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Elements of a block in which a single operand is repeated. */
#define BLOCK 64

/* What the assembly below loads, in the order in which it does; shifts are negative. */
typedef struct {
    int32_t a_shift; /* 0 */
    int32_t b_shift;
    int32_t out_shift; /* 8 */
    int32_t low;
    int32_t high; /* 16 */
    uint32_t elements;
    int32_t a_offset; /* 24 */
    int32_t b_offset;
    int32_t left_shift;
    int32_t a_multiplier;
    int32_t b_multiplier;
    int32_t out_multiplier;
    int32_t zero_point;
} constants_t;

/* Each high multiply is followed by a rounding shift as in n6k_rounding_divide_x4; no value comes near INT32_MIN, so lowering
 * a lane needs no saturation. */
static void __attribute__((noinline)) add_elements(const constants_t *constants, const int8_t *a, const int8_t *b,
                                                   int8_t *output)
{
    __asm__ volatile("ldrd r4, r5, [%[constants]], #8\n"
                     "vdup.32 q4, r4\n"
                     "vdup.32 q5, r5\n"
                     "ldrd r4, r5, [%[constants]], #8\n"
                     "vdup.32 q6, r4\n"
                     "vdup.32 q3, r5\n"
                     "ldrd r4, lr, [%[constants]], #8\n"
                     "vdup.32 q7, r4\n"
                     "ldm %[constants], {r4, r5, r6, r8, r10, r11, r12}\n"
                     "dlstp.32 lr, lr\n"
                     "1:\n"
                     "vldrb.s32 q0, [%[a]], #4\n"
                     "vadd.i32 q0, q0, r4\n"
                     "vldrb.s32 q1, [%[b]], #4\n"
                     "vadd.i32 q1, q1, r5\n"
                     "vshl.s32 q0, r6\n"
                     "vshl.s32 q1, r6\n"
                     "vqrdmulh.s32 q0, q0, r8\n"
                     "vqrdmulh.s32 q1, q1, r10\n"
                     "vand q2, q0, q4\n"
                     "vshr.s32 q2, q2, #31\n"
                     "vadd.i32 q0, q0, q2\n"
                     "vand q2, q1, q5\n"
                     "vshr.s32 q2, q2, #31\n"
                     "vadd.i32 q1, q1, q2\n"
                     "vrshl.s32 q0, q0, q4\n"
                     "vrshl.s32 q1, q1, q5\n"
                     "vadd.i32 q0, q0, q1\n"
                     "vqrdmulh.s32 q0, q0, r11\n"
                     "vand q2, q0, q6\n"
                     "vshr.s32 q2, q2, #31\n"
                     "vadd.i32 q0, q0, q2\n"
                     "vrshl.s32 q0, q0, q6\n"
                     "vadd.i32 q0, q0, r12\n"
                     "vmax.s32 q0, q0, q3\n"
                     "vmin.s32 q0, q0, q7\n"
                     "vstrb.32 q0, [%[output]], #4\n"
                     "letp lr, 1b\n"
                     : [constants] "+r"(constants), [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)
                     :
                     : "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7",
                       "memory");
}

void n6k_add(const n6k_add_t *op)
{
    constants_t constants = {
        .a_shift = op->a_shift,
        .b_shift = op->b_shift,
        .out_shift = op->out_shift,
        .low = op->range.clamp_min,
        .high = op->range.clamp_max,
        .elements = op->elements,
        .a_offset = -(int32_t)op->a_zero_point,
        .b_offset = -(int32_t)op->b_zero_point,
        .left_shift = op->left_shift,
        .a_multiplier = op->a_multiplier,
        .b_multiplier = op->b_multiplier,
        .out_multiplier = op->out_multiplier,
        .zero_point = op->range.zero_point,
    };
    if (op->elements_b != 1) {
        add_elements(&constants, op->a, op->b, op->output);
        return;
    }
    int8_t repeated[BLOCK];
    n6k_fill_bytes(repeated, *op->b, BLOCK);
    for (uint32_t i = 0; i < op->elements; i += BLOCK) {
        const uint32_t left = op->elements - i;
        constants.elements = left < BLOCK ? left : BLOCK;
        add_elements(&constants, op->a + i, repeated, op->output + i);
    }
}

#else

void n6k_add(const n6k_add_t *op)
{
    n6k_plain_add(op);
}

#endif
