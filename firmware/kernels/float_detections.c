/* SPDX-License-Identifier: Apache-2.0
 *
 * Boxes of a detector, from their distances to anchors, without those that overlap a better one. Plain C only.
 */
#include <stddef.h>

#include "boxes.h"
#include "float_math.h"
#include "n6_kernels_plain.h"

/* A detection: the number of a box, its class and its score. */
typedef struct {
    float score;
    uint32_t box;
    uint32_t class;
} found_t;

static n6k_box_t box_of(const n6k_float_detections_t *op, uint32_t i)
{
    const float *at = op->boxes + (size_t)i * op->box_size, *anchor = op->anchors + (size_t)i * 4;
    const float y = at[0] / op->y_scale * anchor[2] + anchor[0], x = at[1] / op->x_scale * anchor[3] + anchor[1];
    const float height = 0.5f * n6k_exp(at[2] / op->h_scale) * anchor[2], width = 0.5f * n6k_exp(at[3] / op->w_scale) * anchor[3];
    return (n6k_box_t){y - height, x - width, y + height, x + width};
}

/* Return the class with the place `rank` in the order of a box's scores; of equal scores, the first class comes first. */
static uint32_t class_of(const n6k_float_detections_t *op, uint32_t box, uint32_t rank)
{
    const float *scores = op->scores + (size_t)box * op->columns + op->background;
    uint32_t best = 0, last = 0;
    for (uint32_t i = 0; i <= rank; i++, last = best) {
        best = op->classes;
        for (uint32_t c = 0; c < op->classes; c++) {
            float x = scores[c];
            N6K_SCALAR(x);
            const int is_left = i == 0 || x < scores[last] || (x == scores[last] && c > last);
            best = is_left && (best == op->classes || x > scores[best]) ? c : best;
        }
        best = best == op->classes ? last : best;
    }
    return best;
}

/* Return the score of a box in a class, or in its best one. */
static float score_of(const n6k_float_detections_t *op, uint32_t box, uint32_t class)
{
    const float *scores = op->scores + (size_t)box * op->columns + op->background;
    return scores[class < op->classes ? class : class_of(op, box, 0)];
}

/* Find at most `most` boxes of a class, or of any if there is no such class. Return their number. */
static uint32_t select(const n6k_float_detections_t *op, const float *scores, uint32_t class, found_t *found, uint32_t most)
{
    uint32_t count = 0, last = op->count;
    while (count < most) {
        uint32_t next = op->count;
        for (uint32_t i = 0; i < op->count; i++) {
            float x = scores[i];
            N6K_SCALAR(x);
            const int is_left = last == op->count || x < scores[last] || (x == scores[last] && i > last);
            if (x >= op->least_score && is_left && (next == op->count || x > scores[next])) {
                next = i;
            }
        }
        if (next == op->count) {
            break;
        }
        const n6k_box_t box = box_of(op, next);
        uint32_t other = 0;
        while (other < count && !(n6k_overlap(box_of(op, found[other].box), box) > op->most_overlap)) {
            other++;
        }
        if (other == count) {
            found[count++] = (found_t){scores[next], next, class};
        }
        last = next;
    }
    return count;
}

/* Put a detection into a list of at most `most`, the best ones first. Return the length of the list. */
static uint32_t insert(found_t *list, uint32_t length, uint32_t most, found_t one)
{
    if (length == most && (most == 0 || !(one.score > list[length - 1].score))) {
        return length;
    }
    length += length < most ? 1 : 0;
    uint32_t place = length - 1;
    for (; place > 0 && one.score > list[place - 1].score; place--) {
        list[place] = list[place - 1];
    }
    list[place] = one;
    return length;
}

static void store(const n6k_float_detections_t *op, uint32_t place, found_t one)
{
    const n6k_box_t box = box_of(op, one.box);
    float *const boxes = op->output, *const classes = boxes + (size_t)op->places * 4, *const scores = classes + op->places;
    boxes[4 * place] = box.top;
    boxes[4 * place + 1] = box.left;
    boxes[4 * place + 2] = box.bottom;
    boxes[4 * place + 3] = box.right;
    classes[place] = (float)one.class;
    scores[place] = one.score;
}

void n6k_plain_float_detections(const n6k_float_detections_t *op)
{
    float *const of_boxes = (float *)(void *)op->scratch;
    found_t *const list = (found_t *)(void *)(op->scratch + sizeof(float) * op->count), *const own = list + op->places;
    uint32_t length = 0;
    for (uint32_t i = 0; i < op->places * 6 + 1; i++) {
        op->output[i] = 0.0f;
    }
    for (uint32_t class = 0; class < (op->by_class ? op->classes : 1); class++) {
        const uint32_t of = op->by_class ? class : op->classes;
        for (uint32_t i = 0; i < op->count; i++) {
            of_boxes[i] = score_of(op, i, of);
        }
        const uint32_t count = select(op, of_boxes, of, own, op->by_class ? op->of_class : op->places / op->each);
        for (uint32_t i = 0; i < count; i++) {
            length = insert(list, length, op->places / op->each, own[i]);
        }
    }
    uint32_t stored = 0;
    for (uint32_t i = 0; i < length; i++) {
        for (uint32_t rank = 0; rank < op->each; rank++, stored++) {
            found_t one = list[i];
            if (!op->by_class) {
                one.class = class_of(op, one.box, rank);
                one.score = score_of(op, one.box, one.class);
            }
            store(op, stored, one);
        }
    }
    op->output[op->places * 6] = (float)length;
}

void n6k_float_detections(const n6k_float_detections_t *op)
{
    n6k_plain_float_detections(op);
}
