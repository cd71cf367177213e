/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators of two int32 operands. Plain C only: they compute a few positions.
 */
#include "broadcast.h"
#include "n6_kernels_plain.h"

typedef enum { ADD, SUB, MUL, MAXIMUM, MINIMUM, DIV, FLOOR_DIV, FLOOR_MOD } operation_t;

/* Return the quotient rounded down, or its remainder. b is not 0. The quotient is one less than the truncated one if something
 * remains whose sign differs from that of b. */
static int32_t floored(int64_t a, int64_t b, operation_t operation)
{
    const int64_t rest = a % b;
    const int down = rest != 0 && (rest < 0) != (b < 0);
    return (int32_t)(operation == FLOOR_DIV ? a / b - (down ? 1 : 0) : rest + (down ? b : 0));
}

static inline int32_t result(int32_t a, int32_t b, operation_t operation)
{
    switch (operation) {
    case ADD:
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case SUB:
        return (int32_t)((uint32_t)a - (uint32_t)b);
    case MUL:
        return (int32_t)((uint32_t)a * (uint32_t)b);
    case MAXIMUM:
        return a > b ? a : b;
    case MINIMUM:
        return a < b ? a : b;
    case DIV:
        return b == 0 ? 0 : (int32_t)((int64_t)a / b);
    default:
        return b == 0 ? 0 : floored(a, b, operation);
    }
}

static void __attribute__((noinline)) plain(const n6k_integers_t *op, operation_t operation)
{
    int32_t *output = op->output;
    n6k_runs_t runs;
    n6k_runs_start(&runs, &op->broadcast);
    do {
        const int32_t *const a = op->a + runs.a;
        const int32_t *const b = op->b + runs.b;
        for (uint32_t i = 0; i < op->broadcast.run; i++) {
            *output++ = result(a[op->broadcast.a_step * i], b[op->broadcast.b_step * i], operation);
        }
    } while (n6k_runs_next(&runs));
}

#define KERNEL(name, operation)                                                                                        \
    void n6k_plain_##name(const n6k_integers_t *op)                                                                    \
    {                                                                                                                  \
        plain(op, operation);                                                                                          \
    }                                                                                                                  \
    void n6k_##name(const n6k_integers_t *op)                                                                          \
    {                                                                                                                  \
        plain(op, operation);                                                                                          \
    }

KERNEL(add_int32, ADD)
KERNEL(sub_int32, SUB)
KERNEL(mul_int32, MUL)
KERNEL(maximum_int32, MAXIMUM)
KERNEL(minimum_int32, MINIMUM)
KERNEL(div_int32, DIV)
KERNEL(floor_div_int32, FLOOR_DIV)
KERNEL(floor_mod_int32, FLOOR_MOD)
