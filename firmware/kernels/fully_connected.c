/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer, int8.
 */
#include <stddef.h>

#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_fully_connected(const n6k_fully_connected_t *op)
{
    const int8_t *row = op->input;
    int8_t *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++, row += op->inputs) {
        const int8_t *weight = op->weights;
        for (uint32_t o = 0; o < op->outputs; o++) {
            int32_t sum = op->bias[o];
            for (uint32_t i = 0; i < op->inputs; i++) {
                sum += row[i] * *weight++;
            }
            *output++ = n6k_to_output(n6k_scale_real(sum, op->scale[op->scales == 1 ? 0 : o]), op->range);
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The number of outputs whose sums are scaled together by vectors; a multiple of 6. */
#define BLOCK 192

/* The dot products of a row of inputs with the rows of weights of a block. */
typedef struct {
    const int8_t *x;
    uint32_t inputs;
    int32_t *next;      /* of the sums */
    uintptr_t to_bias;  /* from a sum to the bias that it starts with, in bytes */
    uint32_t excess;    /* distance of post-incremented pointers beyond `inputs`, since they advance in steps of 16 */
    const int32_t *end; /* of the sums that are computed six at a time */
    int32_t sums[BLOCK];
} dot_t;

_Static_assert(offsetof(dot_t, x) == 0 && offsetof(dot_t, inputs) == 4 && offsetof(dot_t, next) == 8 &&
                   offsetof(dot_t, to_bias) == 12 && offsetof(dot_t, excess) == 16 && offsetof(dot_t, end) == 20,
               "the assembly knows these offsets");

/* Compute six sums of a bias and a dot product at a time; there must be at least six. Return the weights after the last row used.
 * vmladava accumulates in even registers only. With seven pointers and lr for the loop no register is free, so the address of the
 * state is on the stack. */
static const int8_t *__attribute__((naked, noinline)) dot_sixes(dot_t *dot __attribute__((unused)),
                                                                const int8_t *weights __attribute__((unused)))
{
    __asm__ volatile("push {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "1:\n"
                     "ldr r3, [sp]\n"
                     "ldrd r12, r0, [r3, #8]\n" /* next, to_bias */
                     "add r0, r0, r12\n"
                     "ldm r0, {r0, r2, r4, r6, r8, r10}\n"
                     "ldrd r3, lr, [r3]\n" /* x, inputs */
                     "add r5, r1, lr\n"
                     "add r7, r5, lr\n"
                     "add r9, r7, lr\n"
                     "add r11, r9, lr\n"
                     "add r12, r11, lr\n"
                     "dlstp.8 lr, lr\n"
                     "2:\n"
                     "vldrb.8 q0, [r3], #16\n"
                     "vldrb.8 q1, [r1], #16\n"
                     "vmladava.s8 r0, q0, q1\n"
                     "vldrb.8 q2, [r5], #16\n"
                     "vmladava.s8 r2, q0, q2\n"
                     "vldrb.8 q1, [r7], #16\n"
                     "vmladava.s8 r4, q0, q1\n"
                     "vldrb.8 q2, [r9], #16\n"
                     "vmladava.s8 r6, q0, q2\n"
                     "vldrb.8 q1, [r11], #16\n"
                     "vmladava.s8 r8, q0, q1\n"
                     "vldrb.8 q2, [r12], #16\n"
                     "vmladava.s8 r10, q0, q2\n"
                     "letp lr, 2b\n"
                     "ldr r3, [sp]\n"
                     "ldr r5, [r3, #8]\n"        /* next */
                     "ldrd r7, r9, [r3, #16]\n" /* excess, end */
                     "sub r1, r12, r7\n"
                     "stm r5!, {r0, r2, r4, r6, r8, r10}\n"
                     "str r5, [r3, #8]\n"
                     "cmp r5, r9\n"
                     "bne 1b\n"
                     "mov r0, r1\n"
                     "pop {r1, r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* Compute two sums of a bias and the dot product of x with a row of weights. If the first row is the last, use it for both. */
static inline void dot_two(const int8_t *x, const int8_t *w0, uint32_t inputs, int last, const int32_t *bias, int32_t *sums)
{
    const int8_t *w1 = last ? w0 : w0 + inputs;
    int32_t a = bias[0];
    int32_t b = bias[!last];
    __asm__("dlstp.8 lr, %[inputs]\n"
            "1:\n"
            "vldrb.8 q0, [%[x]], #16\n"
            "vldrb.8 q1, [%[w0]], #16\n"
            "vmladava.s8 %[a], q0, q1\n"
            "vldrb.8 q2, [%[w1]], #16\n"
            "vmladava.s8 %[b], q0, q2\n"
            "letp lr, 1b\n"
            : [a] "+Te"(a), [b] "+Te"(b), [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1)
            : [inputs] "r"(inputs)
            : "lr", "q0", "q1", "q2", "memory");
    sums[0] = a;
    sums[1] = b; /* there is room for one more than are used */
}

/* Bits of fraction in the vectorised scaling, and the distance from a half, in units of the last bit, that requires doubles. */
#define FRACTION 21
#define NEAR 4

/* Scale `count` sums and store them. Return nonzero if a result was so near to a half that it must be computed in double
 * precision.
 *
 * z = (sum << left) * multiplier / 2^31 is sum * scale * 2^FRACTION, where `multiplier` is the scale's upper 31 bits: in
 * [2^30, 2^31), hence too small by less than 2^-30 of it. Either `left` is negative, which costs less than 1, or the shift is
 * exact, or it saturates: then |z| >= 2^30 - 1 and |sum * scale| >= 512, which any zero point leaves outside the range. For a
 * |sum * scale| below 512 the multiplier's error is less than 2^9 * 2^FRACTION * 2^-30 = 1 in z, and the high multiply rounds by
 * at most 1/2. So z is less than 3 from the exact product, and the reference's product is less than 2^-44 from it: rounding to
 * the nearest integer gives the same result unless z is within 3 of a half. */
static uint32_t __attribute__((noinline)) scale_and_store(const n6k_fully_connected_t *op, const int32_t *sums,
                                                          const double *scale, uint32_t count, int8_t *output)
{
    uint32_t nearest = UINT32_MAX;
    const uint32_t single = op->scales == 1;
    uint32_t known = 0; /* nonzero if q0 and q1 hold the shift and the multiplier of every lane */
    const uint32_t before = (uint32_t)(uintptr_t)scale - 32;
    const int32x4_t low = vdupq_n_s32(op->range.clamp_min);
    const int32x4_t high = vdupq_n_s32(op->range.clamp_max);
    register uint32x4_t addresses __asm__("q5") = vaddq_n_u32(vmulq_n_u32(vidupq_n_u32(0, 8), !single), before);
    __asm__ volatile("vmov.i32 q4, #-1\n"
                     "dlstp.32 lr, %[count]\n"
                     "1:\n"
                     "cbnz %[known], 2f\n"
                     "mov %[known], %[single]\n"
                     "vldrw.u32 q1, [q5, #32]!\n" /* lower words */
                     "vshr.u32 q1, q1, #22\n"
                     "vldrw.u32 q0, [q5, #4]\n" /* upper words */
                     "vsli.32 q1, q0, #10\n"
                     "vbic.i32 q1, #0xc0000000\n"
                     "vorr.i32 q1, #0x40000000\n"
                     "vshr.u32 q0, q0, #20\n"
                     "vsub.i32 q0, q0, %[bias]\n"
                     "vqmovnb.s32 q0, q0\n" /* a shift is the signed lowest byte of a lane */
                     "vqmovnb.s16 q0, q0\n"
                     "2:\n"
                     "vldrw.u32 q2, [%[sums]], #16\n"
                     "vqshl.s32 q2, q2, q0\n"
                     "vqrdmulh.s32 q2, q2, q1\n"
                     "vqadd.s32 q2, q2, %[half]\n"
                     "vshl.i32 q3, q2, %[whole]\n"
                     "vmin.u32 q4, q4, q3\n"
                     "vshr.s32 q2, q2, %[fraction]\n"
                     "vadd.i32 q2, q2, %[zero_point]\n"
                     "vmax.s32 q2, q2, %q[low]\n"
                     "vmin.s32 q2, q2, %q[high]\n"
                     "vstrb.32 q2, [%[output]], #4\n"
                     "letp lr, 1b\n"
                     "vminv.u32 %[nearest], q4\n"
                     : [sums] "+r"(sums), [output] "+l"(output), [nearest] "+r"(nearest), [known] "+l"(known),
                       "+w"(addresses)
                     : [count] "r"(count), [single] "r"(single), [bias] "r"(1022 - FRACTION), [half] "r"((1 << (FRACTION - 1)) + NEAR),
                       [zero_point] "r"((int32_t)op->range.zero_point), [whole] "i"(32 - FRACTION), [fraction] "i"(FRACTION),
                       [low] "w"(low), [high] "w"(high)
                     : "lr", "q0", "q1", "q2", "q3", "q4", "memory");
    return nearest <= (2 * NEAR) << (32 - FRACTION);
}

void n6k_fully_connected(const n6k_fully_connected_t *op)
{
    dot_t dot;
    dot.x = op->input;
    dot.inputs = op->inputs;
    dot.excess = -op->inputs & 15;
    int8_t *output = op->output;
    for (uint32_t batch = op->batches; batch > 0; batch--, dot.x += op->inputs) {
        const int8_t *weights = op->weights;
        uint32_t count;
        for (uint32_t begin = 0; begin < op->outputs; begin += count, output += count) {
            count = op->outputs - begin < BLOCK ? op->outputs - begin : BLOCK;
            const double *scale = op->scale + (op->scales == 1 ? 0 : begin);
            const int32_t *bias = op->bias + begin;
            uint32_t i = count - count % 6;
            if (i > 0) {
                dot.next = dot.sums;
                dot.to_bias = (uintptr_t)bias - (uintptr_t)dot.sums;
                dot.end = dot.sums + i;
                weights = dot_sixes(&dot, weights);
            }
            for (; i < count; i += 2, weights += 2 * op->inputs) {
                dot_two(dot.x, weights, op->inputs, i + 1 == count, bias + i, dot.sums + i);
            }
            if (scale_and_store(op, dot.sums, scale, count, output)) {
                for (i = 0; i < count; i++) {
                    output[i] = n6k_to_output(n6k_scale_real(dot.sums[i], scale[op->scales == 1 ? 0 : i]), op->range);
                }
            }
        }
    }
}

#else

void n6k_fully_connected(const n6k_fully_connected_t *op)
{
    n6k_plain_fully_connected(op);
}

#endif
