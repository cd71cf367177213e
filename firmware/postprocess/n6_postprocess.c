/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_postprocess.h"

#include <stddef.h>

#include "boxes.h"
#include "float_math.h"

#define X 0u
#define Y 1u
#define NUMBERS 4u

static float value(const n6_post_t *op, const void *const *data, const n6_post_table_t *table, uint32_t row, uint32_t column)
{
    const n6_post_output_t *output = &op->outputs[table->output];
    const size_t at = table->first + (size_t)row * table->row_step + (size_t)column * table->column_step;
    const void *values = data[table->output];
    switch (output->type) {
    case N6_POST_INT8:
        return (float)(((const int8_t *)values)[at] - output->zero_point) * output->scale;
    case N6_POST_UINT8:
        return (float)(((const uint8_t *)values)[at] - output->zero_point) * output->scale;
    default:
        return ((const float *)values)[at];
    }
}

/* Return the score of a class in a row. `best` is the largest value of the row. */
static float activated(const n6_post_t *op, const void *const *data, const n6_post_table_t *table, uint32_t row, float x,
                       float best)
{
    if (op->activation == N6_POST_SIGMOID) {
        return n6k_sigmoid(x);
    }
    if (op->activation == N6_POST_NONE) {
        return x;
    }
    float sum = 0.0f;
    for (uint32_t i = 0; i < table->columns; i++) {
        sum += n6k_exp(value(op, data, table, row, i) - best);
    }
    return n6k_exp(x - best) / sum;
}

/* Return the column with the largest value of a row; of equal ones, the first. */
static uint32_t best_column(const n6_post_t *op, const void *const *data, const n6_post_table_t *table, uint32_t row, float *best)
{
    uint32_t found = 0;
    *best = value(op, data, table, row, 0);
    for (uint32_t i = 1; i < table->columns; i++) {
        const float x = value(op, data, table, row, i);
        if (x > *best) {
            *best = x;
            found = i;
        }
    }
    return found;
}

/* Return the centre of the cell of a row. */
static float centre(const n6_post_level_t *level, uint32_t row, uint32_t axis, float inside)
{
    const uint32_t cell = row / level->each;
    const uint32_t place = axis == X ? cell % level->cells : cell / level->cells;
    return ((float)place + inside) * (1.0f / (float)level->cells);
}

/* Find the edges of a box along one axis. */
static void edges_of(const n6_post_t *op, const void *const *data, const n6_post_level_t *level, uint32_t row, uint32_t axis,
                     float *low, float *high)
{
    const n6_post_table_t *boxes = &level->boxes;
    if (op->coding == N6_POST_EDGES) {
        /* This operator has y first. */
        *low = value(op, data, boxes, row, 1u - axis);
        *high = value(op, data, boxes, row, 3u - axis);
        return;
    }
    const float first = value(op, data, boxes, row, axis), second = value(op, data, boxes, row, axis + 2u);
    if (op->coding == N6_POST_CORNERS) {
        const float begin = value(op, data, &level->others, row, axis), end = value(op, data, &level->others, row, axis + 2u);
        *low = first * (end - begin) + begin;
        *high = second * (end - begin) + end;
        return;
    }
    float middle = first * op->scale[axis], size = second * op->scale[axis];
    if (op->coding == N6_POST_GRID) {
        middle = centre(level, row, axis, n6k_sigmoid(first));
        size = level->anchor[axis] * n6k_exp(second);
    } else if (op->coding == N6_POST_OFFSET) {
        middle = middle + centre(level, row, axis, 0.5f);
    }
    *low = middle - size * 0.5f;
    *high = middle + size * 0.5f;
}

static uint32_t class_in(float x)
{
    return x > 0.0f && x < 65536.0f ? (uint32_t)(x + 0.5f) : 0u;
}

/* Put a box into a list of at most `room`, the best ones first. Return the length of the list. */
static uint32_t insert(n6_post_box_t *list, uint32_t length, uint32_t room, const n6_post_box_t *one)
{
    if (length == room && !(one->score > list[length - 1u].score)) {
        return length;
    }
    length += length < room ? 1u : 0u;
    uint32_t place = length - 1u;
    for (; place > 0u && one->score > list[place - 1u].score; place--) {
        list[place] = list[place - 1u];
    }
    list[place] = *one;
    return length;
}

static n6k_box_t area_of(const n6_post_box_t *box)
{
    return (n6k_box_t){box->top, box->left, box->bottom, box->right};
}

static float clipped(float x)
{
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

/* Find candidates with the least score. Return their number, at most `room`. */
static uint32_t candidates(const n6_post_t *op, const void *const *data, n6_post_box_t *boxes, uint32_t room)
{
    uint32_t length = 0;
    for (uint32_t number = 0; number < op->level_count; number++) {
        const n6_post_level_t *level = &op->levels[number];
        for (uint32_t row = 0; row < level->boxes.rows; row++) {
            n6_post_box_t box = {.level = number, .row = row};
            float best;
            box.class = best_column(op, data, &level->scores, row, &best);
            box.score = activated(op, data, &level->scores, row, best, best);
            if (level->objectness.rows != 0u) {
                box.score *= n6k_sigmoid(value(op, data, &level->objectness, row, 0));
            }
            if (box.score >= op->least_score) {
                if (op->coding == N6_POST_EDGES) {
                    box.class = class_in(value(op, data, &level->others, row, 0));
                }
                edges_of(op, data, level, row, X, &box.left, &box.right);
                edges_of(op, data, level, row, Y, &box.top, &box.bottom);
                length = insert(boxes, length, room, &box);
            }
        }
    }
    return length;
}

uint32_t n6_post_boxes(const n6_post_t *op, const void *const *data, n6_post_box_t *boxes, uint32_t room)
{
    const uint32_t length = room == 0u ? 0u : candidates(op, data, boxes, room);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < length && kept < op->most; i++) {
        uint32_t other = 0;
        while (other < kept && !(boxes[other].class == boxes[i].class &&
                                 n6k_overlap(area_of(&boxes[other]), area_of(&boxes[i])) > op->most_overlap)) {
            other++;
        }
        if (other == kept) {
            boxes[kept++] = boxes[i];
        }
    }
    for (uint32_t i = 0; i < kept; i++) {
        n6_post_box_t *box = &boxes[i];
        box->left = clipped(box->left);
        box->top = clipped(box->top);
        box->right = clipped(box->right);
        box->bottom = clipped(box->bottom);
    }
    return kept;
}

void n6_post_points_of(const n6_post_t *op, const void *const *data, const n6_post_box_t *box, n6_post_point_t *points)
{
    const n6_post_level_t *level = &op->levels[box->level];
    for (uint32_t i = 0; i < op->points; i++) {
        const float x = value(op, data, &level->boxes, box->row, NUMBERS + 2u * i);
        const float y = value(op, data, &level->boxes, box->row, NUMBERS + 2u * i + 1u);
        points[i].x = x * op->scale[X] + centre(level, box->row, X, 0.5f);
        points[i].y = y * op->scale[Y] + centre(level, box->row, Y, 0.5f);
        points[i].score = 1.0f;
    }
}

uint32_t n6_post_pose(const n6_post_t *op, const void *const *data, n6_post_point_t *points)
{
    const n6_post_table_t *table = &op->levels[0].scores;
    if (op->coding == N6_POST_POINTS) {
        for (uint32_t i = 0; i < table->rows; i++) {
            points[i] = (n6_post_point_t){value(op, data, table, i, 1), value(op, data, table, i, 0), value(op, data, table, i, 2)};
        }
        return table->rows;
    }
    for (uint32_t i = 0; i < table->columns; i++) {
        uint32_t place = 0;
        float best = value(op, data, table, 0, i);
        for (uint32_t row = 1; row < table->rows; row++) {
            const float x = value(op, data, table, row, i);
            if (x > best) {
                best = x;
                place = row;
            }
        }
        points[i].x = ((float)(place % op->width) + 0.5f) / (float)op->width;
        points[i].y = ((float)(place / op->width) + 0.5f) / (float)op->height;
        float of_row;
        (void)best_column(op, data, table, place, &of_row);
        points[i].score = activated(op, data, table, place, best, of_row);
    }
    return table->columns;
}

uint32_t n6_post_classes(const n6_post_t *op, const void *const *data, n6_post_class_t *found)
{
    const n6_post_table_t *table = &op->levels[0].scores;
    float best, last = 0.0f;
    (void)best_column(op, data, table, 0, &best);
    uint32_t count = 0;
    while (count < op->most && count < table->columns) {
        uint32_t next = table->columns;
        float largest = 0.0f;
        for (uint32_t i = 0; i < table->columns; i++) {
            const float x = value(op, data, table, 0, i);
            const int is_left = count == 0u || x < last || (x == last && i > found[count - 1u].class);
            if (is_left && (next == table->columns || x > largest)) {
                next = i;
                largest = x;
            }
        }
        const float score = next == table->columns ? 0.0f : activated(op, data, table, 0, largest, best);
        if (next == table->columns || (count > 0u && !(score >= op->least_score))) {
            break;
        }
        found[count++] = (n6_post_class_t){score, next};
        last = largest;
    }
    return count;
}

void n6_post_areas(const n6_post_t *op, const void *const *data, uint8_t *classes)
{
    const n6_post_table_t *table = &op->levels[0].scores;
    for (uint32_t row = 0; row < table->rows; row++) {
        float best;
        const uint32_t number = best_column(op, data, table, row, &best);
        const float score = table->columns == 1u ? activated(op, data, table, row, best, best) : 0.0f;
        classes[row] = (uint8_t)(table->columns == 1u ? score >= op->least_score : number);
    }
}
