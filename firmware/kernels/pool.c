/* SPDX-License-Identifier: Apache-2.0
 *
 * Max and average pooling, NHWC int8.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_max_pool_2d(const n6k_pool_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            for (int32_t c = 0; c < op->out.channels; c++) {
                int32_t largest = INT8_MIN;
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx;
                        if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                            const int32_t value = op->input[(y * op->in.width + x) * op->in.channels + c];
                            largest = value > largest ? value : largest;
                        }
                    }
                }
                *output++ = (int8_t)n6k_clamp(largest, op->range.clamp_min, op->range.clamp_max);
            }
        }
    }
}

void n6k_plain_average_pool_2d(const n6k_pool_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            for (int32_t c = 0; c < op->out.channels; c++) {
                int32_t sum = 0;
                int32_t count = 0;
                for (int32_t ky = 0; ky < window->height; ky++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + ky;
                    for (int32_t kx = 0; kx < window->width; kx++) {
                        const int32_t x = ox * window->stride_w - window->pad_left + kx;
                        if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                            sum += op->input[(y * op->in.width + x) * op->in.channels + c];
                            count++;
                        }
                    }
                }
                const int32_t average = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
                *output++ = (int8_t)n6k_clamp(average, op->range.clamp_min, op->range.clamp_max);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The part of a window that lies inside the input. */
typedef struct {
    const int8_t *start;
    int32_t rows;
    int32_t columns;
} part_t;

static inline part_t inside(const n6k_pool_t *op, int32_t top, int32_t left)
{
    const int32_t y = top < 0 ? 0 : top;
    const int32_t x = left < 0 ? 0 : left;
    const int32_t bottom = top + op->window.height;
    const int32_t right = left + op->window.width;
    return (part_t){
        .start = op->input + (y * op->in.width + x) * op->in.channels,
        .rows = (bottom < op->in.height ? bottom : op->in.height) - y,
        .columns = (right < op->in.width ? right : op->in.width) - x,
    };
}

static inline void max_of_part(const n6k_pool_t *op, part_t part, int8_t *output)
{
    const uint32_t channels = op->in.channels;
    const uint32_t row = op->in.width * channels;
    for (uint32_t c = 0; c < channels; c += 16) {
        const mve_pred16_t lanes = vctp8q(channels - c);
        int8x16_t largest = vdupq_n_s8(INT8_MIN);
        const int8_t *start = part.start + c;
        for (int32_t rows = part.rows; rows > 0; rows--, start += row) {
            const int8_t *from = start;
            for (int32_t columns = part.columns; columns > 0; columns--, from += channels) {
                largest = vmaxq_s8(largest, vldrbq_z_s8(from, lanes));
            }
        }
        largest = vmaxq_s8(largest, vdupq_n_s8(op->range.clamp_min));
        largest = vminq_s8(largest, vdupq_n_s8(op->range.clamp_max));
        vstrbq_p_s8(output + c, largest, lanes);
    }
}

static inline void average_of_part(const n6k_pool_t *op, part_t part, int8_t *output)
{
    const uint32_t channels = op->in.channels;
    const uint32_t row = op->in.width * channels;
    const int32_t count = part.rows * part.columns;
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        int32x4_t sum = vdupq_n_s32(0);
        const int8_t *start = part.start + c;
        for (int32_t rows = part.rows; rows > 0; rows--, start += row) {
            const int8_t *from = start;
            for (int32_t columns = part.columns; columns > 0; columns--, from += channels) {
                sum = vaddq_s32(sum, vldrbq_z_s32(from, lanes));
            }
        }
        int32_t sums[4];
        vst1q_s32(sums, sum);
        for (uint32_t i = 0; i < 4; i++) {
            sums[i] = (sums[i] > 0 ? sums[i] + count / 2 : sums[i] - count / 2) / count;
        }
        int32x4_t average = vmaxq_s32(vld1q_s32(sums), vdupq_n_s32(op->range.clamp_min));
        average = vminq_s32(average, vdupq_n_s32(op->range.clamp_max));
        vstrbq_p_s32(output + c, average, lanes);
    }
}

void n6k_max_pool_2d(const n6k_pool_t *op)
{
    int8_t *output = op->output;
    int32_t top = -op->window.pad_top;
    for (uint32_t oy = op->out.height; oy > 0; oy--, top += op->window.stride_h) {
        int32_t left = -op->window.pad_left;
        for (uint32_t ox = op->out.width; ox > 0; ox--, left += op->window.stride_w, output += op->out.channels) {
            max_of_part(op, inside(op, top, left), output);
        }
    }
}

void n6k_average_pool_2d(const n6k_pool_t *op)
{
    int8_t *output = op->output;
    int32_t top = -op->window.pad_top;
    for (uint32_t oy = op->out.height; oy > 0; oy--, top += op->window.stride_h) {
        int32_t left = -op->window.pad_left;
        for (uint32_t ox = op->out.width; ox > 0; ox--, left += op->window.stride_w, output += op->out.channels) {
            average_of_part(op, inside(op, top, left), output);
        }
    }
}

#else

void n6k_max_pool_2d(const n6k_pool_t *op)
{
    n6k_plain_max_pool_2d(op);
}

void n6k_average_pool_2d(const n6k_pool_t *op)
{
    n6k_plain_average_pool_2d(op);
}

#endif
