/* SPDX-License-Identifier: Apache-2.0
 *
 * Index of the first largest and of the first smallest element along a dimension, int8. The smallest element has the largest
 * complement.
 */
#include "helium.h"
#include "n6_kernels.h"
#include "n6_kernels_plain.h"

static inline void write_index(const n6k_arg_t *op, uint32_t place, uint32_t index)
{
    if (op->wide) {
        ((int64_t *)op->output)[place] = index;
    } else {
        ((int32_t *)op->output)[place] = (int32_t)index;
    }
}

static inline void plain_find(const n6k_arg_t *op, int32_t mask)
{
    for (uint32_t place = 0; place < op->outer * op->inner; place++) {
        const int8_t *input = op->input + place / op->inner * op->depth * op->inner + place % op->inner;
        uint32_t found = 0;
        for (uint32_t i = 1; i < op->depth; i++) {
            found = (input[i * op->inner] ^ mask) > (input[found * op->inner] ^ mask) ? i : found;
        }
        write_index(op, place, found);
    }
}

void n6k_plain_arg_max(const n6k_arg_t *op)
{
    plain_find(op, 0);
}

void n6k_plain_arg_min(const n6k_arg_t *op)
{
    plain_find(op, -1);
}

#if defined(__ARM_FEATURE_MVE)

/* Find the element in a row of contiguous elements. */
static uint32_t find_in_row(const int8_t *input, uint32_t depth, int8_t mask)
{
    int8_t largest = INT8_MIN;
    for (uint32_t i = 0; i < depth; i += 16) {
        const mve_pred16_t lanes = vctp8q(depth - i);
        const int8x16_t x = veorq_s8(vldrbq_z_s8(input + i, lanes), vdupq_n_s8(mask));
        largest = vmaxvq_p_s8(largest, x, lanes);
    }
    for (uint32_t i = 0; i < depth; i += 16) {
        const mve_pred16_t lanes = vctp8q(depth - i);
        const uint32_t equal = vcmpeqq_m_n_s8(vldrbq_z_s8(input + i, lanes), (int8_t)(largest ^ mask), lanes);
        if (equal != 0) {
            return i + (uint32_t)__builtin_ctz(equal);
        }
    }
    return 0;
}

/* Find the elements of up to four columns. */
static void find_in_columns(const n6k_arg_t *op, const int8_t *input, uint32_t place, uint32_t count, int32_t mask)
{
    const mve_pred16_t lanes = vctp32q(count);
    int32x4_t largest = vdupq_n_s32(INT32_MIN);
    uint32x4_t found = vdupq_n_u32(0);
    for (uint32_t i = 0; i < op->depth; i++, input += op->inner) {
        const int32x4_t x = veorq_s32(vldrbq_z_s32(input, lanes), vdupq_n_s32(mask));
        found = vdupq_m_n_u32(found, i, vcmpgtq_s32(x, largest));
        largest = vmaxq_s32(largest, x);
    }
    uint32_t indices[4];
    vst1q_u32(indices, found);
    for (uint32_t i = 0; i < count; i++) {
        write_index(op, place + i, indices[i]);
    }
}

static inline void find(const n6k_arg_t *op, int32_t mask)
{
    const int8_t *input = op->input;
    uint32_t place = 0;
    for (uint32_t outer = 0; outer < op->outer; outer++, input += op->depth * op->inner) {
        if (op->inner == 1) {
            write_index(op, place++, find_in_row(input, op->depth, (int8_t)mask));
            continue;
        }
        for (uint32_t inner = 0; inner < op->inner; inner += 4) {
            const uint32_t count = op->inner - inner < 4 ? op->inner - inner : 4;
            find_in_columns(op, input + inner, place, count, mask);
            place += count;
        }
    }
}

void n6k_arg_max(const n6k_arg_t *op)
{
    find(op, 0);
}

void n6k_arg_min(const n6k_arg_t *op)
{
    find(op, -1);
}

#else

void n6k_arg_max(const n6k_arg_t *op)
{
    n6k_plain_arg_max(op);
}

void n6k_arg_min(const n6k_arg_t *op)
{
    n6k_plain_arg_min(op);
}

#endif
