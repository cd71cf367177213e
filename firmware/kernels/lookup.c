/* SPDX-License-Identifier: Apache-2.0
 *
 * Any function of one int8 element, by a table.
 */
#include "helium.h"
#include "n6_kernels_plain.h"

void n6k_plain_lookup(const n6k_lookup_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = op->table[(uint8_t)op->input[i]];
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_lookup(const n6k_lookup_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    __asm__ volatile("wlstp.8 lr, %[elements], 1f\n"
                     "2:\n"
                     "vldrb.u8 q0, [%[input]], #16\n"
                     "vldrb.u8 q1, [%[table], q0]\n"
                     "vstrb.8 q1, [%[output]], #16\n"
                     "letp lr, 2b\n"
                     "1:\n"
                     : [input] "+l"(input), [output] "+l"(output)
                     : [elements] "r"(op->elements), [table] "r"(op->table)
                     : "lr", "q0", "q1", "memory");
}

#else

void n6k_lookup(const n6k_lookup_t *op)
{
    n6k_plain_lookup(op);
}

#endif
