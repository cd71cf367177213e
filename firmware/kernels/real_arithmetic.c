/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of int8 elements in float32, step by step: dequantise, combine, divide by the output's scale.
 */
#include "broadcast_rows.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

typedef enum { ADD, SUB, MUL, DIV, MAX, MIN } operation_t;

/* The task for a row. */
typedef struct {
    const n6k_real_binary_t *op;
    operation_t operation;
} task_t;

static inline float combined(operation_t operation, float x, float y)
{
    switch (operation) {
    case ADD:
        return x + y;
    case SUB:
        return x - y;
    case MUL:
        return x * y;
    case DIV:
        return x / y;
    case MAX:
        return x > y ? x : y;
    default:
        return x < y ? x : y;
    }
}

static void plain_row(const void *of, const int8_t *a, const int8_t *b, int8_t *output)
{
    const task_t *task = of;
    const n6k_real_binary_t *op = task->op;
    for (uint32_t i = 0; i < op->sizes.d3; i++) {
        const float x = (float)(a[i * op->a_strides.d3] - op->a_zero_point) * op->a_scale;
        const float y = (float)(b[i * op->b_strides.d3] - op->b_zero_point) * op->b_scale;
        output[i] = n6k_real_to_output(combined(task->operation, x, y) / op->output_scale, op->range);
    }
}

static void plain(const n6k_real_binary_t *op, operation_t operation)
{
    const task_t task = {op, operation};
    n6k_for_each_row(&task, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_row);
}

void n6k_plain_real_add(const n6k_real_binary_t *op)
{
    plain(op, ADD);
}

void n6k_plain_real_sub(const n6k_real_binary_t *op)
{
    plain(op, SUB);
}

void n6k_plain_real_mul(const n6k_real_binary_t *op)
{
    plain(op, MUL);
}

void n6k_plain_real_div(const n6k_real_binary_t *op)
{
    plain(op, DIV);
}

void n6k_plain_real_max(const n6k_real_binary_t *op)
{
    plain(op, MAX);
}

void n6k_plain_real_min(const n6k_real_binary_t *op)
{
    plain(op, MIN);
}

#if defined(__ARM_FEATURE_MVE)

static inline float32x4_t combined_x4(operation_t operation, float32x4_t x, float32x4_t y)
{
    switch (operation) {
    case ADD:
        return vaddq_f32(x, y);
    case SUB:
        return vsubq_f32(x, y);
    case MUL:
        return vmulq_f32(x, y);
    case DIV:
        return x / y; /* Helium has no division: four scalar ones */
    case MAX:
        return vmaxnmq_f32(x, y);
    default:
        return vminnmq_f32(x, y);
    }
}

/* Compute a row. An operand of stride 0 has one element for all. */
static void row(const void *of, const int8_t *a, const int8_t *b, int8_t *output)
{
    const task_t task = *(const task_t *)of;
    const n6k_real_binary_t local = *task.op; /* a copy, since stores through a byte pointer may alias it */
    const float32x4_t scale = vdupq_n_f32(local.output_scale);
    const float32x4_t one_a = vdupq_n_f32((float)(*a - local.a_zero_point) * local.a_scale);
    const float32x4_t one_b = vdupq_n_f32((float)(*b - local.b_zero_point) * local.b_scale);
    const uint32_t many_a = local.a_strides.d3, many_b = local.b_strides.d3;
    for (uint32_t i = 0; i < local.sizes.d3; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.sizes.d3 - i);
        const float32x4_t x = many_a ? n6k_load_reals_x4(a + i, local.a_zero_point, local.a_scale, lanes) : one_a;
        const float32x4_t y = many_b ? n6k_load_reals_x4(b + i, local.b_zero_point, local.b_scale, lanes) : one_b;
        n6k_store_reals_x4(output + i, combined_x4(task.operation, x, y) / scale, local.range, lanes);
    }
}

/* One function for all operations: a function per operation would need six times the code. */
static void __attribute__((noinline, noclone)) compute(const n6k_real_binary_t *op, operation_t operation)
{
    const task_t task = {op, operation};
    n6k_for_each_row(&task, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, row);
}

#else

static void compute(const n6k_real_binary_t *op, operation_t operation)
{
    plain(op, operation);
}

#endif

void n6k_real_add(const n6k_real_binary_t *op)
{
    compute(op, ADD);
}

void n6k_real_sub(const n6k_real_binary_t *op)
{
    compute(op, SUB);
}

void n6k_real_mul(const n6k_real_binary_t *op)
{
    compute(op, MUL);
}

void n6k_real_div(const n6k_real_binary_t *op)
{
    compute(op, DIV);
}

void n6k_real_max(const n6k_real_binary_t *op)
{
    compute(op, MAX);
}

void n6k_real_min(const n6k_real_binary_t *op)
{
    compute(op, MIN);
}
