/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk through two operands that broadcast.
 */
#include "broadcast.h"

#include "helium.h"

/* Advance a loop by one round. Return 0 after its last round. */
static int advance(n6k_runs_t *runs, uint32_t *round, const n6k_loop_t *loop)
{
    if (*round == loop->count) {
        *round = 1;
        return 0;
    }
    (*round)++;
    runs->a += loop->a_step;
    runs->b += loop->b_step;
    return 1;
}

void n6k_runs_start(n6k_runs_t *runs, const n6k_broadcast_t *plan)
{
    runs->a = 0;
    runs->b = 0;
    runs->plan = plan;
    for (uint32_t i = 0; i < N6K_LOOPS; i++) {
        runs->rounds[i] = 1;
    }
}

int n6k_runs_next(n6k_runs_t *runs)
{
    const n6k_broadcast_t *const plan = runs->plan;
    uint32_t *const rounds = runs->rounds;
    return advance(runs, &rounds[0], &plan->loop_1) || advance(runs, &rounds[1], &plan->loop_2) ||
           advance(runs, &rounds[2], &plan->loop_3) || advance(runs, &rounds[3], &plan->loop_4) ||
           advance(runs, &rounds[4], &plan->loop_5);
}

static void repeat(int8_t *to, int8_t value, uint32_t count)
{
#if defined(__ARM_FEATURE_MVE)
    n6k_fill_bytes(to, value, count);
#else
    for (uint32_t i = 0; i < count; i++) {
        to[i] = value;
    }
#endif
}

static void begin_run(n6k_walk_t *walk)
{
    const n6k_broadcast_t *const plan = walk->runs.plan;
    walk->a = walk->start_a + walk->runs.a;
    walk->b = walk->start_b + walk->runs.b;
    walk->left = plan->run;
    walk->elements = plan->run;
    if (plan->a_step != 0 && plan->b_step != 0) {
        return;
    }
    if (walk->elements > N6K_PIECE) {
        walk->elements = N6K_PIECE;
    }
    repeat(walk->repeated, plan->a_step == 0 ? *walk->a : *walk->b, walk->elements);
    if (plan->a_step == 0) {
        walk->a = walk->repeated;
    } else {
        walk->b = walk->repeated;
    }
}

void n6k_walk_start(n6k_walk_t *walk, const n6k_broadcast_t *plan, const int8_t *a, const int8_t *b, int8_t *output)
{
    n6k_runs_start(&walk->runs, plan);
    walk->start_a = a;
    walk->start_b = b;
    walk->output = output;
    begin_run(walk);
}

int n6k_walk_next(n6k_walk_t *walk)
{
    const n6k_broadcast_t *const plan = walk->runs.plan;
    walk->output += walk->elements;
    walk->left -= walk->elements;
    if (walk->left > 0) {
        walk->a += plan->a_step != 0 ? walk->elements : 0;
        walk->b += plan->b_step != 0 ? walk->elements : 0;
        if (walk->elements > walk->left) {
            walk->elements = walk->left;
        }
        return 1;
    }
    if (n6k_runs_next(&walk->runs) == 0) {
        return 0;
    }
    begin_run(walk);
    return 1;
}
