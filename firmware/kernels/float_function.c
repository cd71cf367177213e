/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of one float32 element, between quantised operators of ONNX models. Plain C only, without vectors.
 */
#include "float_math.h"
#include "n6_kernels_plain.h"
#include "real.h"

/* Return the value limited to low and high; no number stays none. */
static inline float limited(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static float result(const n6k_float_function_t *op, float x)
{
    const float alpha = op->alpha, beta = op->beta;
    switch (op->function) {
    case N6K_FLOAT_CLIP:
        return limited(x, alpha, beta);
    case N6K_FLOAT_EXP:
        return n6k_exp(x);
    case N6K_FLOAT_LOG:
        return n6k_log(x);
    case N6K_FLOAT_SQRT:
        return n6k_square_root(x);
    case N6K_FLOAT_RECIPROCAL:
        return 1.0f / x;
    case N6K_FLOAT_NEG:
        return -x;
    case N6K_FLOAT_ABS:
        return __builtin_fabsf(x);
    case N6K_FLOAT_SIGMOID:
        return n6k_sigmoid(x);
    case N6K_FLOAT_TANH:
        return n6k_tanh(x);
    case N6K_FLOAT_ERF:
        return n6k_erf(x);
    case N6K_FLOAT_FLOOR:
        return __builtin_floorf(x);
    case N6K_FLOAT_CEIL:
        return __builtin_ceilf(x);
    case N6K_FLOAT_ROUND:
        return __builtin_rintf(x);
    case N6K_FLOAT_SOFTPLUS:
        return n6k_softplus(x);
    case N6K_FLOAT_SOFTSIGN:
        return x / (1.0f + __builtin_fabsf(x));
    case N6K_FLOAT_HARD_SIGMOID:
        return limited(alpha * x + beta, 0.0f, 1.0f);
    case N6K_FLOAT_HARD_SWISH:
        return x * limited(alpha * x + beta, 0.0f, 1.0f);
    case N6K_FLOAT_LEAKY_RELU:
        return x >= 0.0f ? x : alpha * x;
    case N6K_FLOAT_ELU:
        return x >= 0.0f ? x : alpha * n6k_exp_less_1(x);
    case N6K_FLOAT_GELU:
        return 0.5f * x * (1.0f + n6k_erf(x * 0.70710678118654752f));
    case N6K_FLOAT_MISH:
        return x * n6k_tanh(n6k_softplus(x));
    default:
        return n6k_power(x, alpha);
    }
}

void n6k_plain_float_function(const n6k_float_function_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        float x = result(op, op->input[i]);
        N6K_SCALAR(x);
        /* What is no number has the same bits on every machine. */
        op->output[i] = x != x ? __builtin_nanf("") : x;
    }
}

void n6k_float_function(const n6k_float_function_t *op)
{
    n6k_plain_float_function(op);
}
