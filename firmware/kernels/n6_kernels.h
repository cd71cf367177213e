/* SPDX-License-Identifier: Apache-2.0
 *
 * int8 operators of the reference backend, for one batch, NHWC, bit-exact to the TensorFlow Lite reference resolver.
 *
 * Every operator takes one constant descriptor; it holds no pointer to anything that the operator keeps, allocates nothing
 * and touches no global. With Helium (__ARM_FEATURE_MVE) the fast path is used, otherwise plain C: the same sources run on
 * a host. Each fast path has a plain twin, n6k_plain_<operator>, with the same signature and the same results.
 *
 * Weights stay in the order of the .tflite file. Biases are folded by the compiler: bias - input_zero_point * sum(weights)
 * of that output channel; padding is therefore read as the input zero point. Requantisation of the int32 accumulator:
 * multiplier is Q31, shift > 0 is to the left (real scale = multiplier * 2^(shift - 31)).
 */
#ifndef N6_KERNELS_H
#define N6_KERNELS_H

#include <stdint.h>

typedef struct {
    uint16_t height;
    uint16_t width;
    uint16_t channels;
} n6k_shape_t;

/* How a window slides over its input; padding at the bottom and right follows from the output's shape. */
typedef struct {
    uint16_t height;
    uint16_t width;
    uint16_t stride_h;
    uint16_t stride_w;
    uint16_t dilation_h;
    uint16_t dilation_w;
    uint16_t pad_top;
    uint16_t pad_left;
} n6k_window_t;

typedef struct {
    int8_t zero_point;
    int8_t clamp_min;
    int8_t clamp_max;
} n6k_output_t;

/* weights [output channel][window height][window width][input channel]; bias, multiplier, shift: one per output channel.
 * scratch: N6K_CONV_2D_SCRATCH bytes, 16-byte aligned. Rounding: double (saturating doubling high multiply, then rounding
 * shift), as the reference resolver does for convolutions. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *shift;
    int8_t *scratch;
    n6k_shape_t in;
    n6k_shape_t out;
    n6k_window_t window;
    int8_t input_zero_point;
    n6k_output_t range;
} n6k_conv_2d_t;

/* Bytes of scratch: the window's column (height * width * input channels, rounded up to 16) of two neighbouring output
 * pixels, which are computed together. */
#define N6K_CONV_2D_SCRATCH(window_h, window_w, in_channels) (2 * ((((window_h) * (window_w) * (in_channels)) + 15) & ~15))

/* weights [window height][window width][output channel]; output channel c reads input channel c / depth_multiplier. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *shift;
    n6k_shape_t in;
    n6k_shape_t out;
    n6k_window_t window;
    uint16_t depth_multiplier;
    int8_t input_zero_point;
    n6k_output_t range;
} n6k_depthwise_conv_2d_t;

/* weights [outputs][inputs]; one scale per output: input scale * weight scale / output scale, computed in double from the
 * float32 scales. Unlike convolutions the reference scales in double precision here: one product, rounded to the nearest
 * integer, halves away from zero; fixed point cannot give the same bits near a half. batches: how many rows of `inputs`
 * elements are computed with the same weights. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    const int8_t *weights;
    const int32_t *bias;
    const double *scale;
    uint32_t batches;
    uint32_t inputs;
    uint32_t outputs;
    n6k_output_t range;
} n6k_fully_connected_t;

/* Each input: ((x - zero_point) << left_shift) scaled by its multiplier; the sum scaled to the output. Same shapes, or one
 * operand of a single element (elements_b == 1). Shifts here are <= 0 as TensorFlow Lite computes them. */
typedef struct {
    const int8_t *a;
    const int8_t *b;
    int8_t *output;
    uint32_t elements;
    uint32_t elements_b;
    int32_t left_shift;
    int32_t a_multiplier;
    int32_t a_shift;
    int32_t b_multiplier;
    int32_t b_shift;
    int32_t out_multiplier;
    int32_t out_shift;
    int8_t a_zero_point;
    int8_t b_zero_point;
    n6k_output_t range;
} n6k_add_t;

/* Pads NHWC with `value`; channels are padded too when the shapes say so. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    n6k_shape_t in;
    n6k_shape_t out;
    uint16_t pad_top;
    uint16_t pad_left;
    uint16_t pad_front; /* channels */
    int8_t value;
} n6k_pad_t;

/* Max and average pooling; padding takes no part in either. Average rounds half away from zero. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    n6k_shape_t in;
    n6k_shape_t out;
    n6k_window_t window;
    n6k_output_t range;
} n6k_pool_t;

/* Mean over all pixels of each channel. bias: -input zero point * pixels. multiplier, shift: of the scaling by
 * input scale / (output scale * pixels). Rounding: double. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    uint32_t pixels;
    uint32_t channels;
    int32_t bias;
    int32_t multiplier;
    int32_t shift;
    n6k_output_t range;
} n6k_mean_t;

/* int8 -> int8 (output scale 1/256, zero point -128) row by row, in the fixed point of the reference resolver, which ends the
 * program where a row's sum of exponentials reaches 512; here such a row becomes -128 throughout. */
typedef struct {
    const int8_t *input;
    int8_t *output;
    uint32_t rows;
    uint32_t depth;
    int32_t multiplier;
    int32_t left_shift;
    int32_t diff_min;
} n6k_softmax_t;

/* int8 or uint8 -> int8 or uint8 with another scale and zero point; rounding as for convolutions.
 * in_is_unsigned, out_is_unsigned: 0 or 1. */
typedef struct {
    const void *input;
    void *output;
    uint32_t elements;
    int32_t multiplier;
    int32_t shift;
    int32_t in_zero_point;
    int32_t out_zero_point;
    uint8_t in_is_unsigned;
    uint8_t out_is_unsigned;
} n6k_requantize_t;

/* float32 -> int8 or uint8: round half away from zero of x / scale, plus the zero point, saturated. */
typedef struct {
    const float *input;
    void *output;
    uint32_t elements;
    float scale;
    int32_t zero_point;
    uint8_t out_is_unsigned;
} n6k_quantize_t;

/* int8 or uint8 -> float32. */
typedef struct {
    const void *input;
    float *output;
    uint32_t elements;
    float scale;
    int32_t zero_point;
    uint8_t in_is_unsigned;
} n6k_dequantize_t;

/* bytes moved from one buffer to another: a RESHAPE whose input must outlive it, or that is itself a network's output. */
typedef struct {
    const void *input;
    void *output;
    uint32_t bytes;
} n6k_copy_t;

void n6k_conv_2d(const n6k_conv_2d_t *op);
void n6k_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op);
void n6k_fully_connected(const n6k_fully_connected_t *op);
void n6k_add(const n6k_add_t *op);
void n6k_pad(const n6k_pad_t *op);
void n6k_max_pool_2d(const n6k_pool_t *op);
void n6k_average_pool_2d(const n6k_pool_t *op);
void n6k_mean(const n6k_mean_t *op);
void n6k_softmax(const n6k_softmax_t *op);
void n6k_requantize(const n6k_requantize_t *op);
void n6k_quantize(const n6k_quantize_t *op);
void n6k_dequantize(const n6k_dequantize_t *op);
void n6k_copy(const n6k_copy_t *op);

#endif
