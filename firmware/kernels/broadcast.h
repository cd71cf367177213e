/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk through two operands that broadcast, in pieces of contiguous elements. Internal to the kernels.
 */
#ifndef N6K_BROADCAST_H
#define N6K_BROADCAST_H

#include "n6_kernels.h"

#define N6K_LOOPS 5

/* A run. a, b: start of the run in each operand, counted in elements. The other members are internal to the walk. */
typedef struct {
    int32_t a;
    int32_t b;

    const n6k_broadcast_t *plan;
    uint32_t rounds[N6K_LOOPS];
} n6k_runs_t;

/* Start at the first run. */
void n6k_runs_start(n6k_runs_t *runs, const n6k_broadcast_t *plan);

/* Go to the next run. Return 0 if there is none. */
int n6k_runs_next(n6k_runs_t *runs);

/* The elements of a piece in which a constant operand is repeated. */
#define N6K_PIECE 64

/* Runs in pieces. a, b, output, elements: the piece, in which all three advance. Other members are internal to the walk. */
typedef struct {
    const int8_t *a;
    const int8_t *b;
    int8_t *output;
    uint32_t elements;

    n6k_runs_t runs;
    const int8_t *start_a;
    const int8_t *start_b;
    uint32_t left; /* of the run, this piece included */
    int8_t repeated[N6K_PIECE];
} n6k_walk_t;

/* Start at the first piece. */
void n6k_walk_start(n6k_walk_t *walk, const n6k_broadcast_t *plan, const int8_t *a, const int8_t *b, int8_t *output);

/* Go to the next piece. Return 0 if there is none. */
int n6k_walk_next(n6k_walk_t *walk);

#endif
