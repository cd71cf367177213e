/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums, differences and squares of differences, int8.
 */
#include "broadcast.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

typedef enum { SUM, DIFFERENCE, SQUARED_DIFFERENCE } combination_t;

static int32_t scale_operand(int32_t value, int32_t zero_point, int32_t left_shift, int32_t multiplier, int32_t shift)
{
    return n6k_scale_double((value - zero_point) * (1 << left_shift), multiplier, shift);
}

static int32_t combined(int32_t a, int32_t b, combination_t combination)
{
    const int32_t difference = a - b;
    return combination == SUM ? a + b : (combination == DIFFERENCE ? difference : difference * difference);
}

static void n6k_plain_combined(const n6k_sum_t *op, combination_t combination)
{
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        for (uint32_t i = 0; i < walk.elements; i++) {
            const int32_t a = scale_operand(walk.a[i], op->a_zero_point, op->left_shift, op->a_multiplier, op->a_shift);
            const int32_t b = scale_operand(walk.b[i], op->b_zero_point, op->left_shift, op->b_multiplier, op->b_shift);
            const int32_t scaled = n6k_scale_double(combined(a, b, combination), op->out_multiplier, op->out_shift);
            walk.output[i] = n6k_to_output(scaled, op->range);
        }
    } while (n6k_walk_next(&walk));
}

void n6k_plain_add(const n6k_sum_t *op)
{
    n6k_plain_combined(op, SUM);
}

void n6k_plain_sub(const n6k_sum_t *op)
{
    n6k_plain_combined(op, DIFFERENCE);
}

void n6k_plain_squared_difference(const n6k_sum_t *op)
{
    n6k_plain_combined(op, SQUARED_DIFFERENCE);
}

#if defined(__ARM_FEATURE_MVE)

/* The constants of the assembly below, in the order of its loads; shifts are negative. */
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

static constants_t __attribute__((noinline)) constants_of(const n6k_sum_t *op)
{
    return (constants_t){
        .a_shift = op->a_shift,
        .b_shift = op->b_shift,
        .out_shift = op->out_shift,
        .low = op->range.clamp_min,
        .high = op->range.clamp_max,
        .a_offset = -(int32_t)op->a_zero_point,
        .b_offset = -(int32_t)op->b_zero_point,
        .left_shift = op->left_shift,
        .a_multiplier = op->a_multiplier,
        .b_multiplier = op->b_multiplier,
        .out_multiplier = op->out_multiplier,
        .zero_point = op->range.zero_point,
    };
}

/* After each high multiply follows a rounding shift as in n6k_rounding_divide_x4. No value is near INT32_MIN, so subtracting 1
 * from a lane needs no saturation. */
#define LOOP(combine)                                                                                                  \
    __asm__ volatile("ldrd r4, r5, [%[constants]], #8\n"                                                               \
                     "vdup.32 q4, r4\n"                                                                                \
                     "vdup.32 q5, r5\n"                                                                                \
                     "ldrd r4, r5, [%[constants]], #8\n"                                                               \
                     "vdup.32 q6, r4\n"                                                                                \
                     "vdup.32 q3, r5\n"                                                                                \
                     "ldrd r4, lr, [%[constants]], #8\n"                                                               \
                     "vdup.32 q7, r4\n"                                                                                \
                     "ldm %[constants], {r4, r5, r6, r8, r10, r11, r12}\n"                                             \
                     "dlstp.32 lr, lr\n"                                                                               \
                     "1:\n"                                                                                            \
                     "vldrb.s32 q0, [%[a]], #4\n"                                                                      \
                     "vadd.i32 q0, q0, r4\n"                                                                           \
                     "vldrb.s32 q1, [%[b]], #4\n"                                                                      \
                     "vadd.i32 q1, q1, r5\n"                                                                           \
                     "vshl.s32 q0, r6\n"                                                                               \
                     "vshl.s32 q1, r6\n"                                                                               \
                     "vqrdmulh.s32 q0, q0, r8\n"                                                                       \
                     "vqrdmulh.s32 q1, q1, r10\n"                                                                      \
                     "vand q2, q0, q4\n"                                                                               \
                     "vshr.s32 q2, q2, #31\n"                                                                          \
                     "vadd.i32 q0, q0, q2\n"                                                                           \
                     "vand q2, q1, q5\n"                                                                               \
                     "vshr.s32 q2, q2, #31\n"                                                                          \
                     "vadd.i32 q1, q1, q2\n"                                                                           \
                     "vrshl.s32 q0, q0, q4\n"                                                                          \
                     "vrshl.s32 q1, q1, q5\n"                                                                          \
                     combine                                                                                           \
                     "vqrdmulh.s32 q0, q0, r11\n"                                                                      \
                     "vand q2, q0, q6\n"                                                                               \
                     "vshr.s32 q2, q2, #31\n"                                                                          \
                     "vadd.i32 q0, q0, q2\n"                                                                           \
                     "vrshl.s32 q0, q0, q6\n"                                                                          \
                     "vadd.i32 q0, q0, r12\n"                                                                          \
                     "vmax.s32 q0, q0, q3\n"                                                                           \
                     "vmin.s32 q0, q0, q7\n"                                                                           \
                     "vstrb.32 q0, [%[output]], #4\n"                                                                  \
                     "letp lr, 1b\n"                                                                                   \
                     : [constants] "+r"(constants), [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)                    \
                     :                                                                                                 \
                     : "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6",    \
                       "q7", "memory")

/* Define the function n6k_<name>, which combines q0 and q1 into q0. */
#define KERNEL(name, combine)                                                                                          \
    static void __attribute__((noinline)) name##_elements(const constants_t *constants, const int8_t *a,               \
                                                          const int8_t *b, int8_t *output)                             \
    {                                                                                                                  \
        LOOP(combine);                                                                                                 \
    }                                                                                                                  \
    void n6k_##name(const n6k_sum_t *op)                                                                               \
    {                                                                                                                  \
        constants_t constants = constants_of(op);                                                                      \
        n6k_walk_t walk;                                                                                               \
        n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);                                               \
        do {                                                                                                           \
            constants.elements = walk.elements;                                                                        \
            name##_elements(&constants, walk.a, walk.b, walk.output);                                                  \
        } while (n6k_walk_next(&walk));                                                                                \
    }

KERNEL(add, "vadd.i32 q0, q0, q1\n")
KERNEL(sub, "vsub.i32 q0, q0, q1\n")
KERNEL(squared_difference, "vsub.i32 q0, q0, q1\nvmul.i32 q0, q0, q0\n")

#else

void n6k_add(const n6k_sum_t *op)
{
    n6k_plain_add(op);
}

void n6k_sub(const n6k_sum_t *op)
{
    n6k_plain_sub(op);
}

void n6k_squared_difference(const n6k_sum_t *op)
{
    n6k_plain_squared_difference(op);
}

#endif
