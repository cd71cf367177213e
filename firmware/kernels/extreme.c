/* SPDX-License-Identifier: Apache-2.0
 *
 * The larger or the smaller of two elements, int8.
 */
#include "broadcast.h"
#include "helium.h"
#include "n6_kernels_plain.h"

static void n6k_plain_extreme(const n6k_extreme_t *op, int larger)
{
    n6k_walk_t walk;
    n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);
    do {
        for (uint32_t i = 0; i < walk.elements; i++) {
            const int a_is_it = larger != 0 ? walk.a[i] >= walk.b[i] : walk.a[i] <= walk.b[i];
            walk.output[i] = a_is_it != 0 ? walk.a[i] : walk.b[i];
        }
    } while (n6k_walk_next(&walk));
}

void n6k_plain_maximum(const n6k_extreme_t *op)
{
    n6k_plain_extreme(op, 1);
}

void n6k_plain_minimum(const n6k_extreme_t *op)
{
    n6k_plain_extreme(op, 0);
}

#if defined(__ARM_FEATURE_MVE)

/* instruction: vmax or vmin. */
#define KERNEL(name, instruction)                                                                                      \
    void n6k_##name(const n6k_extreme_t *op)                                                                           \
    {                                                                                                                  \
        n6k_walk_t walk;                                                                                               \
        n6k_walk_start(&walk, &op->broadcast, op->a, op->b, op->output);                                               \
        do {                                                                                                           \
            const int8_t *a = walk.a;                                                                                  \
            const int8_t *b = walk.b;                                                                                  \
            int8_t *output = walk.output;                                                                              \
            __asm__ volatile("dlstp.8 lr, %[elements]\n"                                                               \
                             "1:\n"                                                                                    \
                             "vldrb.8 q0, [%[a]], #16\n"                                                               \
                             "vldrb.8 q1, [%[b]], #16\n" instruction ".s8 q0, q0, q1\n"                                \
                             "vstrb.8 q0, [%[output]], #16\n"                                                          \
                             "letp lr, 1b\n"                                                                           \
                             : [a] "+l"(a), [b] "+l"(b), [output] "+l"(output)                                         \
                             : [elements] "r"(walk.elements)                                                           \
                             : "lr", "q0", "q1", "memory");                                                            \
        } while (n6k_walk_next(&walk));                                                                                \
    }

KERNEL(maximum, "vmax")
KERNEL(minimum, "vmin")

#else

void n6k_maximum(const n6k_extreme_t *op)
{
    n6k_plain_maximum(op);
}

void n6k_minimum(const n6k_extreme_t *op)
{
    n6k_plain_minimum(op);
}

#endif
