/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves of elements without change: by loops over any number of dimensions, or by tables of source positions.
 */
#include <string.h>

#include "helium.h"
#include "n6_kernels_plain.h"

#define OUTER_LOOPS 5

typedef void (*row_t)(int8_t *to, const int8_t *from, const n6k_step_t *loop, uint32_t bytes);

/* Run all loops but the innermost one, which is a row. */
static inline __attribute__((always_inline)) void move_rows(const n6k_move_t *op, row_t row)
{
    const n6k_step_t loops[OUTER_LOOPS] = {op->loop_0, op->loop_1, op->loop_2, op->loop_3, op->loop_4};
    uint32_t done[OUTER_LOOPS] = {0, 0, 0, 0, 0};
    const int8_t *from = (const int8_t *)op->input + op->in_offset;
    int8_t *to = (int8_t *)op->output + op->out_offset;
    for (;;) {
        row(to, from, &op->loop_5, op->bytes);
        int32_t level = OUTER_LOOPS - 1;
        while (level >= 0 && done[level] + 1 == loops[level].size) {
            from -= (int32_t)done[level] * loops[level].in_step;
            to -= (int32_t)done[level] * loops[level].out_step;
            done[level--] = 0;
        }
        if (level < 0) {
            return;
        }
        done[level]++;
        from += loops[level].in_step;
        to += loops[level].out_step;
    }
}

static void plain_row(int8_t *to, const int8_t *from, const n6k_step_t *loop, uint32_t bytes)
{
    for (int32_t i = 0; i < (int32_t)loop->size; i++) {
        memcpy(to + i * loop->out_step, from + i * loop->in_step, bytes);
    }
}

void n6k_plain_move(const n6k_move_t *op)
{
    move_rows(op, plain_row);
}

void n6k_plain_gather(const n6k_gather_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t block = 0; block < op->blocks; block++, input += op->block_bytes) {
        for (uint32_t row = 0; row < op->rows; row++) {
            for (uint32_t column = 0; column < op->columns; column++, output += op->bytes) {
                memcpy(output, input + op->row_offsets[row] + op->column_offsets[column], op->bytes);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The largest distance of elements that are gathered eight at a time, with offsets of 16 bits. */
#define LARGEST_SHORT_STEP (UINT16_MAX / 7)

/* Return nonzero if a lane of a vector can hold `bytes`. position: all addresses and steps combined by or, multiples of bytes. */
static inline int is_lane(uint32_t bytes, uintptr_t position)
{
    return (bytes == 1 || bytes == 2 || bytes == 4) && (position & (bytes - 1)) == 0;
}

static inline uint32x4_t multiples_x4(int32_t step)
{
    return vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
}

/* Copy four elements to adjacent ones. Offsets are modulo 2^32, so they may be negative. */
static inline __attribute__((always_inline)) void collect_x4(int8_t *to, const int8_t *from, uint32x4_t offsets,
                                                             uint32_t bytes, mve_pred16_t lanes)
{
    if (bytes == 1) {
        vstrbq_p_s32(to, vldrbq_gather_offset_z_s32(from, offsets, lanes), lanes);
    } else if (bytes == 2) {
        vstrhq_p_s32((int16_t *)(void *)to,
                     vldrhq_gather_offset_z_s32((const int16_t *)(const void *)from, offsets, lanes), lanes);
    } else {
        vstrwq_p_s32((int32_t *)(void *)to,
                     vldrwq_gather_offset_z_s32((const int32_t *)(const void *)from, offsets, lanes), lanes);
    }
}

/* Do the same as collect_x4, to elements at `out_offsets`. */
static inline __attribute__((always_inline)) void scatter_x4(int8_t *to, uint32x4_t out_offsets, const int8_t *from,
                                                             uint32x4_t offsets, uint32_t bytes, mve_pred16_t lanes)
{
    if (bytes == 1) {
        vstrbq_scatter_offset_p_s32(to, out_offsets, vldrbq_gather_offset_z_s32(from, offsets, lanes), lanes);
    } else if (bytes == 2) {
        vstrhq_scatter_offset_p_s32((int16_t *)(void *)to, out_offsets,
                                    vldrhq_gather_offset_z_s32((const int16_t *)(const void *)from, offsets, lanes),
                                    lanes);
    } else {
        vstrwq_scatter_offset_p_s32((int32_t *)(void *)to, out_offsets,
                                    vldrwq_gather_offset_z_s32((const int32_t *)(const void *)from, offsets, lanes),
                                    lanes);
    }
}

static inline __attribute__((always_inline)) void collect(int8_t *to, const int8_t *from, uint32_t size,
                                                          int32_t in_step, uint32_t bytes)
{
    const uint32x4_t offsets = multiples_x4(in_step);
    for (; size >= 4; size -= 4, from += 4 * in_step, to += 4 * bytes) {
        collect_x4(to, from, offsets, bytes, 0xFFFF);
    }
    collect_x4(to, from, offsets, bytes, vctp32q(size));
}

static void collect_bytes(int8_t *to, const int8_t *from, uint32_t size, int32_t in_step)
{
    if (in_step >= 0 && in_step <= LARGEST_SHORT_STEP) {
        const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)in_step);
        for (; size >= 8; size -= 8, from += 8 * in_step, to += 8) {
            vstrbq_s16(to, vldrbq_gather_offset_s16(from, offsets));
        }
    }
    collect(to, from, size, in_step, 1);
}

static inline __attribute__((always_inline)) void scatter(int8_t *to, const int8_t *from, uint32_t size,
                                                          int32_t in_step, int32_t out_step, uint32_t bytes)
{
    const uint32x4_t offsets = multiples_x4(in_step), out_offsets = multiples_x4(out_step);
    for (; size >= 4; size -= 4, from += 4 * in_step, to += 4 * out_step) {
        scatter_x4(to, out_offsets, from, offsets, bytes, 0xFFFF);
    }
    scatter_x4(to, out_offsets, from, offsets, bytes, vctp32q(size));
}

static void row(int8_t *to, const int8_t *from, const n6k_step_t *loop, uint32_t bytes)
{
    uint32_t size = loop->size;
    const int32_t in_step = loop->in_step, out_step = loop->out_step;
    const uintptr_t position = (uintptr_t)to | (uintptr_t)from | (uintptr_t)in_step | (uintptr_t)out_step;
    const int adjacent = out_step == (int32_t)bytes;
    if (size == 1 || !is_lane(bytes, position)) {
        for (; size > 0; size--, from += in_step, to += out_step) {
            n6k_copy_bytes(to, from, bytes);
        }
    } else if (adjacent && bytes == 1) {
        collect_bytes(to, from, size, in_step);
    } else if (adjacent && bytes == 2) {
        collect(to, from, size, in_step, 2);
    } else if (adjacent) {
        collect(to, from, size, in_step, 4);
    } else {
        scatter(to, from, size, in_step, out_step, bytes);
    }
}

void n6k_move(const n6k_move_t *op)
{
    move_rows(op, row);
}

void n6k_gather(const n6k_gather_t *op)
{
    const n6k_gather_t local = *op;
    const int8_t *input = local.input;
    int8_t *output = local.output;
    for (uint32_t block = local.blocks; block > 0; block--, input += local.block_bytes) {
        for (uint32_t row = 0; row < local.rows; row++) {
            const int8_t *const from = input + local.row_offsets[row];
            if (is_lane(local.bytes, (uintptr_t)from | (uintptr_t)output)) {
                for (uint32_t i = 0; i < local.columns; i += 4) {
                    const mve_pred16_t lanes = vctp32q(local.columns - i);
                    const uint32x4_t offsets = vldrwq_z_u32(local.column_offsets + i, lanes);
                    collect_x4(output + i * local.bytes, from, offsets, local.bytes, lanes);
                }
                output += local.columns * local.bytes;
            } else {
                for (uint32_t i = 0; i < local.columns; i++) {
                    output = n6k_copy_bytes(output, from + local.column_offsets[i], local.bytes);
                }
            }
        }
    }
}

#else

void n6k_move(const n6k_move_t *op)
{
    n6k_plain_move(op);
}

void n6k_gather(const n6k_gather_t *op)
{
    n6k_plain_gather(op);
}

#endif
