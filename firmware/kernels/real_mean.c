/* SPDX-License-Identifier: Apache-2.0
 *
 * Means and sums of int8 in float32, in the order of ONNX Runtime.
 */
#include "n6_kernels_plain.h"
#include "real.h"

/* Sums of a vector that are kept side by side, and vectors of them. */
#define LANES 4

static inline float real_of(const n6k_real_mean_t *op, const int8_t *from, uint32_t i)
{
    return (float)(from[i * op->step] - op->input_zero_point) * op->input_scale;
}

/* Of the elements from `begin` to `end`, added to `sum`. */
static float sum_one_by_one(const n6k_real_mean_t *op, const int8_t *from, uint32_t begin, uint32_t end, float sum)
{
    for (uint32_t i = begin; i < end; i++) {
        sum += real_of(op, from, i);
    }
    return sum;
}

static void add_vector(const n6k_real_mean_t *op, const int8_t *from, uint32_t begin, float sums[LANES])
{
    for (uint32_t i = 0; i < LANES; i++) {
        sums[i] += real_of(op, from, begin + i);
    }
}

/* before: elements in front of the first vector, which begins where an address is a multiple of its size in ONNX Runtime. */
static float sum_in_vectors(const n6k_real_mean_t *op, const int8_t *from, uint32_t before)
{
    const uint32_t vectors = op->count < before ? 0 : (op->count - before) / LANES;
    if (vectors == 0) {
        return sum_one_by_one(op, from, 1, op->count, real_of(op, from, 0));
    }
    float even[LANES] = {0}, odd[LANES] = {0};
    const uint32_t paired = vectors - vectors % 2;
    for (uint32_t i = 0; i < paired; i++) {
        add_vector(op, from, before + i * LANES, i % 2 ? odd : even);
    }
    for (uint32_t i = 0; i < LANES; i++) {
        even[i] += odd[i];
    }
    if (paired < vectors) {
        add_vector(op, from, before + paired * LANES, even);
    }
    float sum = (even[0] + even[2]) + (even[1] + even[3]);
    sum = sum_one_by_one(op, from, 0, before, sum);
    return sum_one_by_one(op, from, before + vectors * LANES, op->count, sum);
}

static void mean(const n6k_real_mean_t *op)
{
    const int8_t *from = op->input;
    uint32_t before = 0;
    for (uint32_t row = 0; row < op->rows; row++, from += op->row_step) {
        const float sum = op->in_vectors ? sum_in_vectors(op, from, before)
                                         : sum_one_by_one(op, from, 1, op->count, real_of(op, from, 0));
        op->output[row] = n6k_real_to_output(sum / op->divisor / op->output_scale, op->range);
        before = (before + LANES - op->count % LANES) % LANES;
    }
}

void n6k_plain_real_mean(const n6k_real_mean_t *op)
{
    mean(op);
}

void n6k_real_mean(const n6k_real_mean_t *op)
{
    mean(op);
}
