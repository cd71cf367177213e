/* SPDX-License-Identifier: Apache-2.0
 *
 * Boxes, points, classes and areas from the outputs of a network. The description of the decoder is generated
 * (n6_decoder.h); n6build decodes by the same description on the host. There is no state and no dynamic memory.
 */
#ifndef N6_POSTPROCESS_H
#define N6_POSTPROCESS_H

#include <stdint.h>

typedef enum { N6_POST_INT8, N6_POST_UINT8, N6_POST_FLOAT32 } n6_post_type_t;
typedef enum { N6_POST_NONE, N6_POST_SIGMOID, N6_POST_SOFTMAX } n6_post_activation_t;
/* How a row becomes a box: centre and size, the same in a grid, offsets to corners or centres of anchors, edges. The others have
 * no boxes: heat maps or coordinates of points, scores of classes, classes of pixels. */
typedef enum {
    N6_POST_CENTRE,
    N6_POST_GRID,
    N6_POST_CORNERS,
    N6_POST_OFFSET,
    N6_POST_EDGES,
    N6_POST_HEAT,
    N6_POST_POINTS,
    N6_POST_SCORES,
    N6_POST_AREAS
} n6_post_coding_t;

/* An output: real value = scale * (value - zero point). */
typedef struct {
    n6_post_type_t type;
    float scale;
    int32_t zero_point;
} n6_post_output_t;

/* Rows and columns in an output, in elements. */
typedef struct {
    uint32_t output, first, rows, columns, row_step, column_step;
} n6_post_table_t;

/* Candidates of one grid. objectness and others (anchors, or classes) have no rows if there are none; cells is 0 without a grid. */
typedef struct {
    n6_post_table_t boxes, scores, objectness, others;
    uint32_t cells, each;
    float anchor[2];
} n6_post_level_t;

typedef struct {
    n6_post_coding_t coding;
    n6_post_activation_t activation;
    const n6_post_output_t *outputs;
    const n6_post_level_t *levels;
    uint32_t level_count, points, most, width, height;
    float scale[2], least_score, most_overlap;
} n6_post_t;

/* A box, in shares of the input, with the row that it comes from. */
typedef struct {
    float score, left, top, right, bottom;
    uint32_t class, level, row;
} n6_post_box_t;

typedef struct {
    float x, y, score;
} n6_post_point_t;

typedef struct {
    float score;
    uint32_t class;
} n6_post_class_t;

/* Find boxes, the best one first. data: the outputs. boxes: room for `room` candidates, of which the best are compared with each
 * other; afterwards the found ones are in front. Return their number. */
uint32_t n6_post_boxes(const n6_post_t *op, const void *const *data, n6_post_box_t *boxes, uint32_t room);

/* Read the points of a box, op->points of them. */
void n6_post_points_of(const n6_post_t *op, const void *const *data, const n6_post_box_t *box, n6_post_point_t *points);

/* Find the points of a pose. Return their number: the columns of a heat map, or the rows of a list. */
uint32_t n6_post_pose(const n6_post_t *op, const void *const *data, n6_post_point_t *points);

/* Find the best class, and at most op->most in all that reach the least score. Return their number. */
uint32_t n6_post_classes(const n6_post_t *op, const void *const *data, n6_post_class_t *found);

/* Find the class of each pixel, op->width * op->height of them. */
void n6_post_areas(const n6_post_t *op, const void *const *data, uint8_t *classes);

#endif
