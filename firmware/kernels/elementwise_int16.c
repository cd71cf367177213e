/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum, difference and product of int16 tensors whose shapes broadcast.
 */
#include "broadcast.h"
#include "columns.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

void n6k_plain_sum_int16(const n6k_sum_int16_t *op)
{
    int16_t *output = op->output;
    n6k_runs_t runs;
    n6k_runs_start(&runs, &op->broadcast);
    do {
        for (uint32_t i = 0; i < op->broadcast.run; i++) {
            const int32_t first = op->a[runs.a + (int32_t)(op->broadcast.a_step * i)];
            const int32_t second = op->b[runs.b + (int32_t)(op->broadcast.b_step * i)];
            const int32_t a = n6k_scale_double(first * (1 << op->left_shift), op->a_multiplier, op->a_shift);
            const int32_t b = n6k_scale_double(second * (1 << op->left_shift), op->b_multiplier, op->b_shift);
            const int32_t sum = op->b_sign < 0 ? a - b : a + b;
            *output++ = n6k_to_int16(n6k_scale_double(sum, op->out_multiplier, op->out_shift), op->range);
        }
    } while (n6k_runs_next(&runs));
}

void n6k_plain_mul_int16(const n6k_mul_int16_t *op)
{
    int16_t *output = op->output;
    n6k_runs_t runs;
    n6k_runs_start(&runs, &op->broadcast);
    do {
        for (uint32_t i = 0; i < op->broadcast.run; i++) {
            const int32_t product = op->a[runs.a + (int32_t)(op->broadcast.a_step * i)] *
                                    op->b[runs.b + (int32_t)(op->broadcast.b_step * i)];
            *output++ = n6k_to_int16(n6k_scale_double(product, op->multiplier, op->shift), op->range);
        }
    } while (n6k_runs_next(&runs));
}

#if defined(__ARM_FEATURE_MVE)

/* Load four elements of an operand, or four copies of a constant operand. both: nonzero if both operands advance. */
static inline int32x4_t four_of(const int16_t *from, uint32_t i, uint8_t step, int both, mve_pred16_t lanes)
{
    return both || step != 0 ? vldrhq_z_s32(from + i, lanes) : vdupq_n_s32(*from);
}

static inline int32x4_t clamped(int32x4_t x, n6k_output_int16_t range)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(range.clamp_min)), vdupq_n_s32(range.clamp_max));
}

static inline int32x4_t scaled(int32x4_t x, int32_t multiplier, int32_t shift)
{
    return n6k_scale_double_x4(x, vdupq_n_s32(multiplier), vdupq_n_s32(shift));
}

static inline __attribute__((always_inline)) void sum_run(const n6k_sum_int16_t *op, const int16_t *from_a,
                                                          const int16_t *from_b, int16_t *output, int both)
{
    const n6k_sum_int16_t local = *op;
    for (uint32_t i = 0; i < local.broadcast.run; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.broadcast.run - i);
        int32x4_t a = four_of(from_a, i, local.broadcast.a_step, both, lanes);
        int32x4_t b = four_of(from_b, i, local.broadcast.b_step, both, lanes);
        a = scaled(vshlq_r_s32(a, local.left_shift), local.a_multiplier, local.a_shift);
        b = scaled(vshlq_r_s32(b, local.left_shift), local.b_multiplier, local.b_shift);
        const int32x4_t sum = local.b_sign < 0 ? vsubq_s32(a, b) : vaddq_s32(a, b);
        vstrhq_p_s32(output + i, clamped(scaled(sum, local.out_multiplier, local.out_shift), local.range), lanes);
    }
}

static inline __attribute__((always_inline)) void mul_run(const n6k_mul_int16_t *op, const int16_t *from_a,
                                                          const int16_t *from_b, int16_t *output, int both)
{
    const n6k_mul_int16_t local = *op;
    for (uint32_t i = 0; i < local.broadcast.run; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.broadcast.run - i);
        const int32x4_t product = vmulq_s32(four_of(from_a, i, local.broadcast.a_step, both, lanes),
                                            four_of(from_b, i, local.broadcast.b_step, both, lanes));
        vstrhq_p_s32(output + i, clamped(scaled(product, local.multiplier, local.shift), local.range), lanes);
    }
}

#define EACH_RUN(op, compute)                                                                                          \
    int16_t *output = op->output;                                                                                      \
    n6k_runs_t runs;                                                                                                   \
    n6k_runs_start(&runs, &op->broadcast);                                                                             \
    do {                                                                                                               \
        if (op->broadcast.a_step != 0 && op->broadcast.b_step != 0) {                                                  \
            compute(op, op->a + runs.a, op->b + runs.b, output, 1);                                                    \
        } else {                                                                                                       \
            compute(op, op->a + runs.a, op->b + runs.b, output, 0);                                                    \
        }                                                                                                              \
        output += op->broadcast.run;                                                                                   \
    } while (n6k_runs_next(&runs))

void n6k_sum_int16(const n6k_sum_int16_t *op)
{
    EACH_RUN(op, sum_run);
}

void n6k_mul_int16(const n6k_mul_int16_t *op)
{
    EACH_RUN(op, mul_run);
}

#else

void n6k_sum_int16(const n6k_sum_int16_t *op)
{
    n6k_plain_sum_int16(op);
}

void n6k_mul_int16(const n6k_mul_int16_t *op)
{
    n6k_plain_mul_int16(op);
}

#endif
