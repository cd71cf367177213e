/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of real numbers in the order of ONNX Runtime.
 */
#include "real_sums.h"

float n6k_sum_one_by_one(const n6k_reals_t *reals, uint32_t begin, uint32_t end, float sum)
{
    for (uint32_t i = begin; i < end; i++) {
        sum += n6k_real_at(reals, i);
    }
    return sum;
}

static void add_vector(const n6k_reals_t *reals, uint32_t begin, float sums[N6K_LANES])
{
    for (uint32_t i = 0; i < N6K_LANES; i++) {
        sums[i] += n6k_real_at(reals, begin + i);
    }
}

float n6k_sum_in_vectors(const n6k_reals_t *reals, uint32_t count, uint32_t before)
{
    const uint32_t vectors = count < before ? 0 : (count - before) / N6K_LANES;
    if (vectors == 0) {
        return n6k_sum_one_by_one(reals, 1, count, n6k_real_at(reals, 0));
    }
    float even[N6K_LANES] = {0}, odd[N6K_LANES] = {0};
    const uint32_t paired = vectors - vectors % 2;
    for (uint32_t i = 0; i < paired; i++) {
        add_vector(reals, before + i * N6K_LANES, i % 2 ? odd : even);
    }
    for (uint32_t i = 0; i < N6K_LANES; i++) {
        even[i] += odd[i];
    }
    if (paired < vectors) {
        add_vector(reals, before + paired * N6K_LANES, even);
    }
    float sum = (even[0] + even[2]) + (even[1] + even[3]);
    sum = n6k_sum_one_by_one(reals, 0, before, sum);
    return n6k_sum_one_by_one(reals, before + vectors * N6K_LANES, count, sum);
}
