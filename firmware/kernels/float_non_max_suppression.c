/* SPDX-License-Identifier: Apache-2.0
 *
 * NonMaxSuppression of ONNX: the best boxes of each class, without those that overlap a better one. Plain C only.
 */
#include <stddef.h>

#include "boxes.h"
#include "float_math.h"
#include "n6_kernels_plain.h"

#define NUMBERS_EACH 3u

static n6k_box_t box_of(const float *at, int by_centre)
{
    if (by_centre) {
        const float width = at[2] / 2, height = at[3] / 2;
        return (n6k_box_t){at[1] - height, at[0] - width, at[1] + height, at[0] + width};
    }
    const int is_up = at[0] > at[2], is_left = at[1] > at[3];
    return (n6k_box_t){at[is_up ? 2 : 0], at[is_left ? 3 : 1], at[is_up ? 0 : 2], at[is_left ? 1 : 3]};
}

/* Return the best box behind `last` in the order of scores, or `count` without one. Of equal scores, the first comes first. */
static uint32_t next_of(const n6k_float_non_max_suppression_t *op, const float *scores, uint32_t last)
{
    uint32_t next = op->count;
    for (uint32_t i = 0; i < op->count; i++) {
        float x = scores[i];
        N6K_SCALAR(x);
        /* A score that is not a number has no place in the order. */
        const int is_candidate = op->limited ? x > op->least_score : x == x;
        const int is_left = last == op->count || x < scores[last] || (x == scores[last] && i > last);
        next = is_candidate && is_left && (next == op->count || x > scores[next]) ? i : next;
    }
    return next;
}

/* Return whether a box overlaps one of the selected rows. */
static int is_suppressed(
    const n6k_float_non_max_suppression_t *op, const float *boxes, uint32_t i, const int64_t *rows, uint32_t count
)
{
    const n6k_box_t box = box_of(boxes + (size_t)i * 4, op->by_centre);
    for (uint32_t r = 0; r < count; r++) {
        const float *other = boxes + (size_t)rows[r * NUMBERS_EACH + 2] * 4;
        if (n6k_overlap(box, box_of(other, op->by_centre)) > op->most_overlap) {
            return 1;
        }
    }
    return 0;
}

void n6k_plain_float_non_max_suppression(const n6k_float_non_max_suppression_t *op)
{
    int64_t *row = op->output, *const end = row + (size_t)op->batches * op->classes * op->most * NUMBERS_EACH;
    for (uint32_t batch = 0; batch < op->batches; batch++) {
        const float *boxes = op->boxes + (size_t)batch * op->count * 4;
        for (uint32_t class = 0; class < op->classes; class++) {
            const float *scores = op->scores + ((size_t)batch * op->classes + class) * op->count;
            const int64_t *const first = row;
            uint32_t selected = 0, i = next_of(op, scores, op->count);
            for (; i < op->count && selected < op->most; i = next_of(op, scores, i)) {
                if (!is_suppressed(op, boxes, i, first, selected)) {
                    row[0] = batch;
                    row[1] = class;
                    row[2] = i;
                    row += NUMBERS_EACH;
                    selected++;
                }
            }
        }
    }
    while (row < end) {
        *row++ = -1;
    }
}

void n6k_float_non_max_suppression(const n6k_float_non_max_suppression_t *op)
{
    n6k_plain_float_non_max_suppression(op);
}
