/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators of float32. Every single operation is rounded by the rules of IEEE 754. Plain C only, without vectors: these would
 * treat subnormal numbers as 0.
 */
#include "broadcast.h"
#include "n6_kernels_plain.h"

#if defined(__ARM_FEATURE_MVE)
/* Keep the surrounding loop scalar. */
#define SCALAR(x) __asm__("" : "+t"(x))
#else
#define SCALAR(x) (void)(x)
#endif

/* Return the square root, without the C library's function, which would set errno. */
static inline float square_root(float x)
{
#if defined(__ARM_FEATURE_MVE)
    __asm__("vsqrt.f32 %0, %0" : "+t"(x));
    return x;
#else
    return __builtin_sqrtf(x);
#endif
}

static inline float result(const n6k_arithmetic_float32_t *op, float a, float b)
{
    switch (op->operation) {
    case N6K_FLOAT32_ADD:
        return a + b;
    case N6K_FLOAT32_SUB:
        return a - b;
    case N6K_FLOAT32_MUL:
        return a * b;
    case N6K_FLOAT32_DIV:
        return a / b;
    case N6K_FLOAT32_MAXIMUM:
        return a > b ? a : b;
    case N6K_FLOAT32_MINIMUM:
        return a < b ? a : b;
    case N6K_FLOAT32_SQUARED_DIFFERENCE:
        return (a - b) * (a - b);
    default:
        return (float)__builtin_floor((double)a / (double)b); /* as the reference resolver divides here */
    }
}

void n6k_plain_arithmetic_float32(const n6k_arithmetic_float32_t *op)
{
    float *output = op->output;
    n6k_runs_t runs;
    n6k_runs_start(&runs, &op->broadcast);
    do {
        const float *const a = op->a + runs.a;
        const float *const b = op->b + runs.b;
        for (uint32_t i = 0; i < op->broadcast.run; i++) {
            float x = result(op, a[op->broadcast.a_step * i], b[op->broadcast.b_step * i]);
            SCALAR(x);
            x = x < op->clamp_min ? op->clamp_min : x;
            *output++ = x > op->clamp_max ? op->clamp_max : x;
        }
    } while (n6k_runs_next(&runs));
}

void n6k_arithmetic_float32(const n6k_arithmetic_float32_t *op)
{
    n6k_plain_arithmetic_float32(op);
}

static inline float value(uint8_t function, float x)
{
    switch (function) {
    case N6K_FLOAT32_SQRT:
        return square_root(x);
    case N6K_FLOAT32_RSQRT:
        return 1.0f / square_root(x);
    case N6K_FLOAT32_ABS:
        return __builtin_fabsf(x);
    case N6K_FLOAT32_SQUARE:
        return x * x;
    case N6K_FLOAT32_FLOOR:
        return __builtin_floorf(x);
    case N6K_FLOAT32_RELU:
        return x < 0.0f ? 0.0f : x;
    default:
        return x > 6.0f ? 6.0f : (x < 0.0f ? 0.0f : x);
    }
}

void n6k_plain_function_float32(const n6k_function_float32_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        float x = value(op->function, op->input[i]);
        SCALAR(x);
        op->output[i] = x;
    }
}

void n6k_function_float32(const n6k_function_float32_t *op)
{
    n6k_plain_function_float32(op);
}

void n6k_plain_arg_float32(const n6k_arg_float32_t *op)
{
    const float *input = op->input;
    uint32_t place = 0;
    for (uint32_t outer = 0; outer < op->outer; outer++, input += op->depth * op->inner) {
        for (uint32_t inner = 0; inner < op->inner; inner++, place++) {
            uint32_t found = 0;
            for (uint32_t i = 1; i < op->depth; i++) {
                float x = op->sign * input[i * op->inner + inner];
                SCALAR(x);
                found = x > op->sign * input[found * op->inner + inner] ? i : found;
            }
            if (op->wide) {
                ((int64_t *)op->output)[place] = found;
            } else {
                ((int32_t *)op->output)[place] = (int32_t)found;
            }
        }
    }
}

void n6k_arg_float32(const n6k_arg_float32_t *op)
{
    n6k_plain_arg_float32(op);
}
