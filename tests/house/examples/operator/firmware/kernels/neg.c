/* SPDX-License-Identifier: Apache-2.0
 *
 * NEG, int8. In plain C only; a Helium path belongs behind `#if defined(__ARM_FEATURE_MVE)`, as in add.c.
 */
#include "n6_kernels_plain.h"

void n6k_plain_neg(const n6k_neg_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = (int8_t)(0U - (uint32_t)op->input[i]);
    }
}

void n6k_neg(const n6k_neg_t *op)
{
    n6k_plain_neg(op);
}
