/* SPDX-License-Identifier: Apache-2.0
 *
 * Boxes of detectors. Internal to the kernels and to firmware/postprocess.
 */
#ifndef N6K_BOXES_H
#define N6K_BOXES_H

typedef struct {
    float top;
    float left;
    float bottom;
    float right;
} n6k_box_t;

/* Return the share in common of two boxes: intersection over union, 0 for a box without an area. */
static inline float n6k_overlap(n6k_box_t a, n6k_box_t b)
{
    const float of_a = (a.bottom - a.top) * (a.right - a.left), of_b = (b.bottom - b.top) * (b.right - b.left);
    const float top = a.top > b.top ? a.top : b.top, bottom = a.bottom < b.bottom ? a.bottom : b.bottom;
    const float left = a.left > b.left ? a.left : b.left, right = a.right < b.right ? a.right : b.right;
    const float both = (bottom > top ? bottom - top : 0.0f) * (right > left ? right - left : 0.0f);
    return of_a <= 0.0f || of_b <= 0.0f ? 0.0f : both / (of_a + of_b - both);
}

#endif
