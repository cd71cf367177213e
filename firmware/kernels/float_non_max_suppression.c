/* SPDX-License-Identifier: Apache-2.0
 *
 * NonMaxSuppression of ONNX: the best boxes of each class, without those that overlap a better one. Plain C only.
 */
#include <stddef.h>

#include "boxes.h"
#include "float_math.h"
#include "n6_kernels_plain.h"

#define NUMBERS_EACH 3u

static n6k_box_t __attribute__((noinline)) box_of(const float *at, int by_centre)
{
    const float a = at[0], b = at[1], c = at[2], d = at[3];
    if (by_centre) {
        return (n6k_box_t){b - d / 2, a - c / 2, b + d / 2, a + c / 2};
    }
    return (n6k_box_t){a < c ? a : c, b < d ? b : d, a < c ? c : a, b < d ? d : b};
}

/* Return the best box behind `last` in the order of scores, or `count` without one. Of equal scores, the first comes first. */
static uint32_t __attribute__((noinline)) next_of(const n6k_float_non_max_suppression_t *op, const float *scores, uint32_t last)
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
    for (uint32_t group = 0; group < op->batches * op->classes; group++) {
        const uint32_t batch = group / op->classes;
        const float *boxes = op->boxes + (size_t)batch * op->count * 4, *scores = op->scores + (size_t)group * op->count;
        const int64_t *const first = row;
        uint32_t i = op->count;
        for (uint32_t selected = 0; selected < op->most;) {
            i = next_of(op, scores, i);
            if (i == op->count) {
                break;
            }
            if (!is_suppressed(op, boxes, i, first, selected)) {
                row[0] = batch;
                row[1] = group % op->classes;
                row[2] = i;
                row += NUMBERS_EACH;
                selected++;
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
