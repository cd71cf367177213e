/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_postprocess.h"

#include <math.h>
#include <stddef.h>

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

#include "boxes.h"
#include "float_math.h"

#define X 0u
#define Y 1u
#define NUMBERS 4u
/* Rows that are scanned together. */
#define LANES 8u

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int16_t stored(n6_post_type_t type, const void *values, size_t at)
{
    return type == N6_POST_INT8 ? ((const int8_t *)values)[at] : ((const uint8_t *)values)[at];
}

static float real(const n6_post_output_t *output, int32_t stored_value)
{
    return (float)(stored_value - output->zero_point) * output->scale;
}

static float value(const n6_post_t *op, const void *const *data, const n6_post_table_t *table, uint32_t row, uint32_t column)
{
    const n6_post_output_t *output = &op->outputs[table->output];
    const size_t at = table->first + (size_t)row * table->row_step + (size_t)column * table->column_step;
    const void *values = data[table->output];
    return output->type == N6_POST_FLOAT32 ? ((const float *)values)[at] : real(output, stored(output->type, values, at));
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

/* The largest value of each row, as it is stored, and its column; of equal ones, the first column. */
typedef struct {
    int16_t value[LANES];
    uint16_t column[LANES];
} stored_t;

/* The same with real values. */
typedef struct {
    float value[LANES];
    uint32_t column[LANES];
} best_t;

/* Scan `count` rows of 8-bit values, at most LANES. */
static void plain_scan(n6_post_type_t type, const void *values, const n6_post_table_t *table, uint32_t row, uint32_t count,
                       stored_t *best)
{
    for (uint32_t lane = 0; lane < count; lane++) {
        size_t at = table->first + (size_t)(row + lane) * table->row_step;
        best->value[lane] = stored(type, values, at);
        best->column[lane] = 0;
        for (uint32_t i = 1; i < table->columns; i++) {
            at += table->column_step;
            const int16_t x = stored(type, values, at);
            if (x > best->value[lane]) {
                best->value[lane] = x;
                best->column[lane] = (uint16_t)i;
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Load the values of one column, a lane for each row. Adjacent rows need no gathering. */
static inline int16x8_t column_of_rows(n6_post_type_t type, const uint8_t *at, uint16x8_t offsets, int are_adjacent,
                                       mve_pred16_t rows)
{
    if (type == N6_POST_INT8) {
        const int8_t *from = (const int8_t *)at;
        return are_adjacent ? vldrbq_z_s16(from, rows) : vldrbq_gather_offset_z_s16(from, offsets, rows);
    }
    return vreinterpretq_s16_u16(are_adjacent ? vldrbq_z_u16(at, rows) : vldrbq_gather_offset_z_u16(at, offsets, rows));
}

static void scan(n6_post_type_t type, const void *values, const n6_post_table_t *table, uint32_t row, uint32_t count,
                 stored_t *best)
{
    if (table->row_step > UINT16_MAX / LANES) {
        /* An offset of the gathering has 16 bits. */
        plain_scan(type, values, table, row, count, best);
        return;
    }
    const mve_pred16_t rows = vctp16q(count);
    const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)table->row_step);
    const int are_adjacent = table->row_step == 1u;
    const uint8_t *at = (const uint8_t *)values + table->first + (size_t)row * table->row_step;
    int16x8_t largest = column_of_rows(type, at, offsets, are_adjacent, rows);
    uint16x8_t column = vdupq_n_u16(0);
    for (uint32_t i = 1; i < table->columns; i++) {
        at += table->column_step;
        const int16x8_t x = column_of_rows(type, at, offsets, are_adjacent, rows);
        const mve_pred16_t is_larger = vcmpgtq_s16(x, largest);
        largest = vpselq_s16(x, largest, is_larger);
        column = vpselq_u16(vdupq_n_u16((uint16_t)i), column, is_larger);
    }
    vst1q_s16(best->value, largest);
    vst1q_u16(best->column, column);
}

#else
#define scan plain_scan
#endif

/* Find the largest value of `count` rows, at most LANES. */
static void best_of_rows(const n6_post_t *op, const void *const *data, const n6_post_table_t *table, uint32_t row, uint32_t count,
                         best_t *best)
{
    const n6_post_output_t *output = &op->outputs[table->output];
    if (output->type != N6_POST_FLOAT32 && table->columns <= UINT16_MAX) {
        stored_t found;
        scan(output->type, data[table->output], table, row, count, &found);
        for (uint32_t lane = 0; lane < count; lane++) {
            best->value[lane] = real(output, found.value[lane]);
            best->column[lane] = found.column[lane];
        }
        return;
    }
    for (uint32_t lane = 0; lane < count; lane++) {
        best->column[lane] = 0;
        best->value[lane] = value(op, data, table, row + lane, 0);
        for (uint32_t i = 1; i < table->columns; i++) {
            const float x = value(op, data, table, row + lane, i);
            if (x > best->value[lane]) {
                best->value[lane] = x;
                best->column[lane] = i;
            }
        }
    }
}

/* Return a value below which no score reaches the least one. The score of a softmax depends on the whole row, and a search among
 * values of 32 bits would take longer than their scores. */
static float least_value(const n6_post_t *op, const n6_post_output_t *output)
{
    if (output->type == N6_POST_FLOAT32 || op->activation == N6_POST_SOFTMAX) {
        return -INFINITY;
    }
    const int32_t lowest = output->type == N6_POST_INT8 ? INT8_MIN : 0;
    int32_t least = lowest;
    while (least < lowest + UINT8_MAX) {
        const float x = real(output, least);
        if ((op->activation == N6_POST_SIGMOID ? n6k_sigmoid(x) : x) >= op->least_score) {
            break;
        }
        least++;
    }
    return real(output, least);
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

/* Put a box into a list if its score suffices. Its score is the value of its class. Return the length of the list. */
static uint32_t with_candidate(const n6_post_t *op, const void *const *data, n6_post_box_t box, n6_post_box_t *boxes,
                               uint32_t length, uint32_t room)
{
    const n6_post_level_t *level = &op->levels[box.level];
    box.score = activated(op, data, &level->scores, box.row, box.score, box.score);
    if (level->objectness.rows != 0u) {
        box.score *= n6k_sigmoid(value(op, data, &level->objectness, box.row, 0));
    }
    if (!(box.score >= op->least_score)) {
        return length;
    }
    if (op->coding == N6_POST_EDGES) {
        box.class = class_in(value(op, data, &level->others, box.row, 0));
    }
    edges_of(op, data, level, box.row, X, &box.left, &box.right);
    edges_of(op, data, level, box.row, Y, &box.top, &box.bottom);
    return insert(boxes, length, room, &box);
}

/* Find candidates with the least score. Return their number, at most `room`. */
static uint32_t candidates(const n6_post_t *op, const void *const *data, n6_post_box_t *boxes, uint32_t room)
{
    uint32_t length = 0;
    for (uint32_t number = 0; number < op->level_count; number++) {
        const n6_post_level_t *level = &op->levels[number];
        const float least = least_value(op, &op->outputs[level->scores.output]);
        for (uint32_t row = 0; row < level->boxes.rows; row += LANES) {
            const uint32_t count = least_of(level->boxes.rows - row, LANES);
            best_t best;
            best_of_rows(op, data, &level->scores, row, count, &best);
            for (uint32_t lane = 0; lane < count; lane++) {
                if (best.value[lane] >= least) {
                    const n6_post_box_t box = {
                        .score = best.value[lane], .class = best.column[lane], .level = number, .row = row + lane};
                    length = with_candidate(op, data, box, boxes, length, room);
                }
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
        /* The map of a point is a column. */
        n6_post_table_t map = *table;
        map.columns = table->rows;
        map.row_step = table->column_step;
        map.column_step = table->row_step;
        best_t best, of_row;
        best_of_rows(op, data, &map, i, 1, &best);
        const uint32_t place = best.column[0];
        points[i].x = ((float)(place % op->width) + 0.5f) / (float)op->width;
        points[i].y = ((float)(place / op->width) + 0.5f) / (float)op->height;
        best_of_rows(op, data, table, place, 1, &of_row);
        points[i].score = activated(op, data, table, place, best.value[0], of_row.value[0]);
    }
    return table->columns;
}

uint32_t n6_post_classes(const n6_post_t *op, const void *const *data, n6_post_class_t *found)
{
    const n6_post_table_t *table = &op->levels[0].scores;
    best_t best;
    best_of_rows(op, data, table, 0, 1, &best);
    float last = 0.0f;
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
        const float score = next == table->columns ? 0.0f : activated(op, data, table, 0, largest, best.value[0]);
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
    for (uint32_t row = 0; row < table->rows; row += LANES) {
        const uint32_t count = least_of(table->rows - row, LANES);
        best_t best;
        best_of_rows(op, data, table, row, count, &best);
        for (uint32_t lane = 0; lane < count; lane++) {
            const float x = best.value[lane];
            classes[row + lane] = (uint8_t)(table->columns == 1u ? activated(op, data, table, row + lane, x, x) >= op->least_score
                                                                 : best.column[lane]);
        }
    }
}
