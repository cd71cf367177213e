/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, the largest elements, and linear resizing of float32, between quantised operators of ONNX models.
 */
#include <stddef.h>

#include "float_math.h"
#include "n6_kernels_plain.h"

static void softmax(const float *input, float *output, uint32_t depth, int logarithm)
{
    float largest = input[0], sum = 0;
    for (uint32_t i = 1; i < depth; i++) {
        largest = input[i] > largest ? input[i] : largest;
    }
    for (uint32_t i = 0; i < depth; i++) {
        const float less = input[i] - largest;
        float power = n6k_exp(less);
        N6K_SCALAR(power);
        sum += power;
        output[i] = logarithm ? less : power;
    }
    const float shift = logarithm ? n6k_log(sum) : 0.0f;
    for (uint32_t i = 0; i < depth; i++) {
        float x = output[i];
        N6K_SCALAR(x);
        output[i] = logarithm ? x - shift : x / sum;
    }
}

void n6k_plain_float_softmax(const n6k_float_softmax_t *op)
{
    for (uint32_t row = 0; row < op->rows; row++) {
        const size_t place = (size_t)row * op->depth;
        softmax(op->input + place, op->output + place, op->depth, op->logarithm);
    }
}

void n6k_float_softmax(const n6k_float_softmax_t *op)
{
    n6k_plain_float_softmax(op);
}

/* Return whether element i comes before element j: it is larger, or as large and nearer to the beginning. */
static inline int is_before(const float *row, float sign, uint32_t i, uint32_t j)
{
    float x = sign * row[i], y = sign * row[j];
    N6K_SCALAR(x);
    N6K_SCALAR(y);
    return x > y || (x == y && i < j);
}

/* Return the next element behind `last`, or the first one of all if there is no last. */
static uint32_t next_of(const n6k_float_top_k_t *op, const float *row, uint32_t last, int is_first)
{
    uint32_t found = op->depth;
    for (uint32_t i = 0; i < op->depth; i++) {
        if ((is_first || is_before(row, op->sign, last, i)) && (found == op->depth || is_before(row, op->sign, i, found))) {
            found = i;
        }
    }
    /* Only what is no number has no order. */
    return found == op->depth ? op->depth - 1 : found;
}

void n6k_plain_float_top_k(const n6k_float_top_k_t *op)
{
    for (uint32_t r = 0; r < op->rows; r++) {
        const float *row = op->input + (size_t)r * op->depth;
        uint32_t last = 0;
        for (uint32_t i = 0; i < op->count; i++) {
            last = next_of(op, row, last, i == 0);
            const size_t place = (size_t)r * op->count + i;
            if (op->places) {
                ((int64_t *)op->output)[place] = last;
            } else {
                ((float *)op->output)[place] = row[last];
            }
        }
    }
}

void n6k_float_top_k(const n6k_float_top_k_t *op)
{
    n6k_plain_float_top_k(op);
}

void n6k_plain_float_resize(const n6k_float_resize_t *op)
{
    const size_t line = (size_t)op->in.width * op->in.channels;
    float *output = op->output;
    for (uint32_t y = 0; y < op->out.height; y++) {
        const float *near = op->input + (size_t)op->rows[2 * y] * line, *far = op->input + (size_t)op->rows[2 * y + 1] * line;
        const float of_near = op->row_weights[2 * y], of_far = op->row_weights[2 * y + 1];
        for (uint32_t x = 0; x < op->out.width; x++) {
            const size_t left = (size_t)op->columns[2 * x] * op->in.channels, right = (size_t)op->columns[2 * x + 1] * op->in.channels;
            const float of_left = op->column_weights[2 * x], of_right = op->column_weights[2 * x + 1];
            for (uint32_t c = 0; c < op->out.channels; c++) {
                float sum = of_left * of_near * near[left + c] + of_right * of_near * near[right + c];
                N6K_SCALAR(sum);
                sum += of_left * of_far * far[left + c];
                sum += of_right * of_far * far[right + c];
                *output++ = sum;
            }
        }
    }
}

void n6k_float_resize(const n6k_float_resize_t *op)
{
    n6k_plain_float_resize(op);
}
