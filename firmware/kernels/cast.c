/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of numbers to another type. Scalar: networks only cast a few indices and classes at their ends.
 */
#include <string.h>

#include "n6_kernels_plain.h"

enum { SIGNED, UNSIGNED, FLOAT, BOOL };

static int64_t load_integer(const void *data, uint32_t i, uint8_t bytes, uint8_t kind)
{
    switch (bytes) {
    case 1:
        return kind == SIGNED ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    case 2:
        return ((const int16_t *)data)[i];
    case 4:
        return ((const int32_t *)data)[i];
    default:
        return ((const int64_t *)data)[i];
    }
}

/* Store an integer modulo 2^n: its low bytes, which come first in memory. */
static void store_integer(void *data, uint32_t i, uint8_t bytes, int64_t value)
{
    memcpy((uint8_t *)data + (size_t)i * bytes, &value, bytes);
}

/* Convert x to an integer, saturated. limit: the smallest power of two above the range of the signed type. */
static int64_t whole_of(float x, float limit)
{
    if (!(x < limit)) {
        return x >= limit ? (int64_t)((uint64_t)limit - 1) : 0;
    }
    return x <= -limit ? -(int64_t)((uint64_t)limit - 1) - 1 : (int64_t)x;
}

static int64_t from_float(float x, uint8_t bytes, uint8_t kind)
{
    if (kind == BOOL) {
        return x != 0.0f;
    }
    if (kind == UNSIGNED) {
        const int64_t whole = whole_of(x, 65536.0f);
        return whole < 0 ? 0 : (whole > 255 ? 255 : whole);
    }
    return whole_of(x, (float)((uint64_t)1 << (8 * bytes - 1)));
}

static inline void cast(const n6k_cast_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        if (op->in_kind == FLOAT && op->out_kind == FLOAT) {
            ((float *)op->output)[i] = ((const float *)op->input)[i];
        } else if (op->in_kind == FLOAT) {
            const int64_t value = from_float(((const float *)op->input)[i], op->out_bytes, op->out_kind);
            store_integer(op->output, i, op->out_bytes, value);
        } else {
            const int64_t value = load_integer(op->input, i, op->in_bytes, op->in_kind);
            if (op->out_kind == FLOAT) {
                ((float *)op->output)[i] = (float)value;
            } else {
                store_integer(op->output, i, op->out_bytes, op->out_kind == BOOL ? value != 0 : value);
            }
        }
    }
}

void n6k_plain_cast(const n6k_cast_t *op)
{
    cast(op);
}

void n6k_cast(const n6k_cast_t *op)
{
    cast(op);
}
