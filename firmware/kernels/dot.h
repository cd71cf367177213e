/* SPDX-License-Identifier: Apache-2.0
 *
 * Dot products of a vector with up to four rows of a matrix, int8. Internal to the kernels.
 */
#ifndef N6K_DOT_H
#define N6K_DOT_H

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

/* Return `sum` plus the sum of x[i] * y[i]. */
static inline int32_t n6k_plain_dot(const int8_t *x, const int8_t *y, uint32_t count, int32_t sum)
{
    for (uint32_t i = 0; i < count; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

#if defined(__ARM_FEATURE_MVE)

static inline int32_t n6k_sum_of(const int8_t *from, uint32_t count)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < count; i += 16) {
        sum = vaddvaq_s8(sum, vldrbq_z_s8(from + i, vctp8q(count - i)));
    }
    return sum;
}

/* Add the dot product of x and a row to each of four sums. rows: 1 to 4 rows, `stride` bytes apart. Sums beyond the last row are
 * undefined. */
static inline void n6k_dot_rows(const int8_t *x, const int8_t *row, uint32_t stride, uint32_t rows, uint32_t count,
                                int32_t sums[4])
{
    const int8_t *r0 = row, *r1 = rows > 1 ? r0 + stride : r0, *r2 = rows > 2 ? r1 + stride : r1,
                 *r3 = rows > 3 ? r2 + stride : r2;
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    register uint32_t left __asm__("lr") = count; /* the loop counter: position independent code has no free register */
    __asm__("wlstp.8 lr, lr, 1f\n"
            "2:\n"
            "vldrb.8 q0, [%[x]], #16\n"
            "vldrb.8 q1, [%[r0]], #16\n"
            "vmladava.s8 %[s0], q1, q0\n"
            "vldrb.8 q2, [%[r1]], #16\n"
            "vmladava.s8 %[s1], q2, q0\n"
            "vldrb.8 q3, [%[r2]], #16\n"
            "vmladava.s8 %[s2], q3, q0\n"
            "vldrb.8 q1, [%[r3]], #16\n"
            "vmladava.s8 %[s3], q1, q0\n"
            "letp lr, 2b\n"
            "1:\n"
            : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [x] "+r"(x), [r0] "+r"(r0), [r1] "+r"(r1),
              [r2] "+r"(r2), [r3] "+r"(r3), "+r"(left)
            :
            : "q0", "q1", "q2", "q3", "memory");
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#endif
#endif
