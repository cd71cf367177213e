/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels' descriptors, computed by CMSIS-NN: for tools/bench.py kernels, which does not count what begins with bench_.
 */
#include <string.h>

#include "arm_nnfunctions.h"
#include "n6_kernels.h"

#define MOST_CHANNELS 1024

static int8_t scratch[96 * 1024] __attribute__((aligned(16)));
static int32_t bias[MOST_CHANNELS];

/* CMSIS-NN adds the zero point itself: what was folded into the biases is taken out again. first, step: of a channel's weights. */
static void __attribute__((noinline)) bench_biases(const int32_t *folded, const int8_t *weights, uint32_t channels,
                                                   uint32_t taps, uint32_t first, uint32_t step, int32_t zero_point)
{
    for (uint32_t c = 0; c < channels; c++) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < taps; i++) {
            sum += weights[c * first + i * step];
        }
        bias[c] = folded[c] + zero_point * sum;
    }
}

static cmsis_nn_dims bench_dims(int32_t n, n6k_shape_t shape)
{
    return (cmsis_nn_dims){n, shape.height, shape.width, shape.channels};
}

void bench_conv_2d(const n6k_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    const cmsis_nn_conv_params params = {
        -op->input_zero_point, op->range.zero_point,           {window->stride_w, window->stride_h},
        {window->pad_left, window->pad_top},                   {window->dilation_w, window->dilation_h},
        {op->range.clamp_min, op->range.clamp_max},
    };
    const cmsis_nn_per_channel_quant_params quant = {(int32_t *)op->multiplier, (int32_t *)op->shift};
    const cmsis_nn_dims in = bench_dims(1, op->in), out = bench_dims(1, op->out);
    const cmsis_nn_dims filter = {op->out.channels, window->height, window->width, op->in.channels};
    const cmsis_nn_dims bias_dims = {1, 1, 1, op->out.channels};
    const cmsis_nn_context context = {scratch, sizeof scratch};
    const uint32_t taps = (uint32_t)window->height * window->width * op->in.channels;
    bench_biases(op->bias, op->weights, op->out.channels, taps, taps, 1, op->input_zero_point);
    arm_convolve_wrapper_s8(&context, &params, &quant, &in, op->input, &filter, op->weights, &bias_dims, bias, &out,
                            op->output);
}

void bench_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op)
{
    const n6k_window_t *window = &op->window;
    const cmsis_nn_dw_conv_params params = {
        -op->input_zero_point,
        op->range.zero_point,
        op->depth_multiplier,
        {window->stride_w, window->stride_h},
        {window->pad_left, window->pad_top},
        {window->dilation_w, window->dilation_h},
        {op->range.clamp_min, op->range.clamp_max},
    };
    const cmsis_nn_per_channel_quant_params quant = {(int32_t *)op->multiplier, (int32_t *)op->shift};
    const cmsis_nn_dims in = bench_dims(1, op->in), out = bench_dims(1, op->out);
    const cmsis_nn_dims filter = {1, window->height, window->width, op->out.channels};
    const cmsis_nn_dims bias_dims = {1, 1, 1, op->out.channels};
    const cmsis_nn_context context = {scratch, sizeof scratch};
    bench_biases(op->bias, op->weights, op->out.channels, (uint32_t)window->height * window->width, 1, op->out.channels,
                 op->input_zero_point);
    arm_depthwise_conv_wrapper_s8(&context, &params, &quant, &in, op->input, &filter, op->weights, &bias_dims, bias, &out,
                                  op->output);
}

/* Takes the biases, with what the zero point contributes, from its context, as they are prepared once. */
void bench_fully_connected(const n6k_fully_connected_t *op)
{
    uint64_t bits;
    memcpy(&bits, op->scale, sizeof bits);
    const int32_t multiplier = (int32_t)((bits >> 22 & 0x3FFFFFFF) | 0x40000000);
    const int32_t shift = (int32_t)(bits >> 52) - 1022;
    const cmsis_nn_fc_params params = {0, 0, op->range.zero_point, {op->range.clamp_min, op->range.clamp_max}};
    const cmsis_nn_per_tensor_quant_params quant = {multiplier, shift};
    const cmsis_nn_dims in = {(int32_t)op->batches, 1, 1, (int32_t)op->inputs};
    const cmsis_nn_dims out = {(int32_t)op->batches, 1, 1, (int32_t)op->outputs};
    const cmsis_nn_dims filter = {(int32_t)op->inputs, 1, 1, (int32_t)op->outputs};
    const cmsis_nn_dims bias_dims = {1, 1, 1, (int32_t)op->outputs};
    const cmsis_nn_context context = {scratch, sizeof scratch};
    memcpy(scratch, op->bias, op->outputs * sizeof *op->bias);
    arm_fully_connected_s8(&context, &params, &quant, &in, op->input, &filter, op->weights, &bias_dims, op->bias, &out,
                           op->output);
}

typedef arm_cmsis_nn_status pool_t(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *,
                                   const int8_t *, const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *);

static void __attribute__((noinline)) bench_pool(const n6k_pool_t *op, pool_t *pool)
{
    const n6k_window_t *window = &op->window;
    const cmsis_nn_pool_params params = {
        {window->stride_w, window->stride_h},
        {window->pad_left, window->pad_top},
        {op->range.clamp_min, op->range.clamp_max},
    };
    const cmsis_nn_dims in = bench_dims(1, op->in), out = bench_dims(1, op->out);
    const cmsis_nn_dims filter = {1, window->height, window->width, 1};
    const cmsis_nn_context context = {scratch, sizeof scratch};
    pool(&context, &params, &in, op->input, &filter, &out, op->output);
}

void bench_max_pool_2d(const n6k_pool_t *op)
{
    bench_pool(op, arm_max_pool_s8);
}

void bench_average_pool_2d(const n6k_pool_t *op)
{
    bench_pool(op, arm_avgpool_s8);
}

void bench_add(const n6k_add_t *op)
{
    arm_elementwise_add_s8(op->a, op->b, -op->a_zero_point, op->a_multiplier, op->a_shift, -op->b_zero_point,
                           op->b_multiplier, op->b_shift, op->left_shift, op->output, op->range.zero_point,
                           op->out_multiplier, op->out_shift, op->range.clamp_min, op->range.clamp_max,
                           (int32_t)op->elements);
}

void bench_softmax(const n6k_softmax_t *op)
{
    arm_softmax_s8(op->input, (int32_t)op->rows, (int32_t)op->depth, op->multiplier, op->left_shift, op->diff_min,
                   op->output);
}
