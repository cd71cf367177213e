/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer, int8.
 */
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
            *output++ = n6k_to_output(n6k_scale_real(sum, op->scale[o]), op->range);
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Adds the dot products of x with four rows of weights to the sums. */
static inline void dot_1x4(const int8_t *x, const int8_t *const rows[4], uint32_t inputs, int32_t sums[4])
{
    const int8_t *w0 = rows[0], *w1 = rows[1], *w2 = rows[2], *w3 = rows[3];
    int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
    __asm__("dlstp.8 lr, %[inputs]\n"
            "1:\n"
            "vldrb.8 q0, [%[x]], #16\n"
            "vldrb.8 q1, [%[w0]], #16\n"
            "vmladava.s8 %[a], q0, q1\n"
            "vldrb.8 q2, [%[w1]], #16\n"
            "vmladava.s8 %[b], q0, q2\n"
            "vldrb.8 q1, [%[w2]], #16\n"
            "vmladava.s8 %[c], q0, q1\n"
            "vldrb.8 q2, [%[w3]], #16\n"
            "vmladava.s8 %[d], q0, q2\n"
            "letp lr, 1b\n"
            : [a] "+Te"(a), [b] "+Te"(b), [c] "+Te"(c), [d] "+Te"(d), [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1),
              [w2] "+r"(w2), [w3] "+r"(w3)
            : [inputs] "r"(inputs)
            : "lr", "q0", "q1", "q2", "memory");
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}

void n6k_fully_connected(const n6k_fully_connected_t *op)
{
    const int8_t *x = op->input;
    int8_t *output = op->output;
    for (uint32_t batch = op->batches; batch > 0; batch--, x += op->inputs) {
        for (uint32_t o = 0; o < op->outputs; o += 4) {
            const uint32_t count = op->outputs - o < 4 ? op->outputs - o : 4;
            const int8_t *rows[4];
            int32_t sums[4];
            for (uint32_t i = 0; i < 4; i++) { /* beyond the last output: its row again, to no effect */
                const uint32_t row = o + (i < count ? i : count - 1);
                rows[i] = op->weights + row * op->inputs;
                sums[i] = op->bias[row];
            }
            dot_1x4(x, rows, op->inputs, sums);
            for (uint32_t i = 0; i < count; i++) {
                *output++ = n6k_to_output(n6k_scale_real(sums[i], op->scale[o + i]), op->range);
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
