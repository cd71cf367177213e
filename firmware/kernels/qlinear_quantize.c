/* SPDX-License-Identifier: Apache-2.0
 *
 * float32 to int8, halves to even.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

void n6k_plain_qlinear_quantize(const n6k_qlinear_quantize_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = n6k_real_to_output(op->input[i] / op->scale, op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_qlinear_quantize(const n6k_qlinear_quantize_t *op)
{
    const n6k_qlinear_quantize_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        /* Helium has no division: four scalar ones. */
        const float32x4_t steps = vldrwq_z_f32(local.input + i, lanes) / vdupq_n_f32(local.scale);
        n6k_store_reals_x4(local.output + i, steps, local.range, lanes);
    }
}

#else

void n6k_qlinear_quantize(const n6k_qlinear_quantize_t *op)
{
    n6k_plain_qlinear_quantize(op);
}

#endif
