/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, int8 to int8, with a table of exponentials like ONNX Runtime's QLinearSoftmax.
 */
#include "n6_kernels_plain.h"
#include "real.h"

static int32_t largest_of(const int8_t *row, uint32_t depth)
{
    int32_t largest = INT8_MIN;
    for (uint32_t i = 0; i < depth; i++) {
        largest = row[i] > largest ? row[i] : largest;
    }
    return largest;
}

static void softmax(const n6k_qlinear_softmax_t *op)
{
    const int8_t *row = op->input;
    int8_t *output = op->output;
    for (uint32_t r = 0; r < op->rows; r++, row += op->depth, output += op->depth) {
        /* The last entry of the table belongs to the row's largest element. */
        const int32_t last = 255 - largest_of(row, op->depth);
        float sum = 0;
        for (uint32_t i = 0; i < op->depth; i++) {
            sum += op->table[last + row[i]];
        }
        for (uint32_t i = 0; i < op->depth; i++) {
            output[i] = n6k_real_to_output(op->table[last + row[i]] * op->factor / sum, op->range);
        }
    }
}

void n6k_plain_qlinear_softmax(const n6k_qlinear_softmax_t *op)
{
    softmax(op);
}

void n6k_qlinear_softmax(const n6k_qlinear_softmax_t *op)
{
    softmax(op);
}
