/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk through two operands that broadcast, in pieces of contiguous elements. Internal to the kernels.
 */
#ifndef N6K_BROADCAST_H
#define N6K_BROADCAST_H

#include "n6_kernels.h"

/* Elements of a piece in which an operand that stays is repeated. */
#define N6K_PIECE 64

#define N6K_LOOPS 5

/* a, b, output, elements: the piece, in which all three advance. The rest is the walk's own. */
typedef struct {
    const int8_t *a;
    const int8_t *b;
    int8_t *output;
    uint32_t elements;

    const n6k_broadcast_t *plan;
    const int8_t *run_a;
    const int8_t *run_b;
    uint32_t left; /* of the run, this piece included */
    uint32_t rounds[N6K_LOOPS];
    int8_t repeated[N6K_PIECE];
} n6k_walk_t;

/* To the first piece. */
void n6k_walk_start(n6k_walk_t *walk, const n6k_broadcast_t *plan, const int8_t *a, const int8_t *b, int8_t *output);

/* To the next piece; 0 where there is none. */
int n6k_walk_next(n6k_walk_t *walk);

#endif
