/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ARITH, POOL and ACTIV.
 */
#include "n6virt_npu_model.h"

#include <string.h>

#define NO_SHIFT 16
#define COEFFICIENTS 512u

enum { AFFINE = 0, MINIMUM = 1, MAXIMUM = 2, PRODUCT = 7 };

/* Of ARITH's operand: bytes, then a shift with or without rounding. */
static int64_t operand(int32_t value, uint32_t shifter)
{
    unsigned bytes = bits(shifter, NPU_ARITH_INSHIFTER_FBYTESX_POS, NPU_ARITH_INSHIFTER_FBYTESX_BITS);
    int shift = (int)bits(shifter, NPU_ARITH_INSHIFTER_FSHIFTX_POS, NPU_ARITH_INSHIFTER_FSHIFTX_BITS) - NO_SHIFT;

    return shifted(sign_extended(value, bytes ? 8 * bytes : 24), shift,
                   bits(shifter, NPU_ARITH_INSHIFTER_FROUNDX_POS, NPU_ARITH_INSHIFTER_FROUNDX_BITS));
}

/* Of more bits than any configuration that was seen has: what is left of it, as of all arithmetic here. */
static int64_t wrapped_product(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left * (uint64_t)right);
}

static int32_t signed_field(uint32_t value, unsigned width)
{
    return sign_extended(value, width);
}

/* To the coefficient of the next element. */
static void advance(const N6Npu *npu, unsigned unit, ArithState *state)
{
    static const uint32_t resets[] = {NPU_ARITH_RSTCNT3, NPU_ARITH_RSTCNT2, NPU_ARITH_RSTCNT1};
    uint32_t control = reg(npu, unit, NPU_ARITH_CTRL), offsets = reg(npu, unit, NPU_ARITH_ADDROFFSET);

    state->element++;
    for (unsigned i = 0; i < 3; i++) {
        unsigned counter = 2 - i; /* CNT3 first */

        if (bits(control, NPU_ARITH_CTRL_CNT1_POS + counter, 1) && state->element % ((uint64_t)reg(npu, unit, resets[i]) + 1) == 0) {
            state->address += signed_field(bits(offsets, 9 * counter, 9), 9);
            return;
        }
    }
    if (state->element % ((uint64_t)reg(npu, unit, NPU_ARITH_INCCNT) + 1) == 0) {
        state->address += signed_field(FIELD(npu, unit, ARITH, INCOFFSET, VAL), 9);
    }
}

void npu_arith_frame(N6Npu *npu, unsigned index)
{
    unsigned unit = ARITH + index, port = 28 + 2 * index;
    uint32_t control = reg(npu, unit, NPU_ARITH_CTRL), operation = FIELD(npu, unit, ARITH, CTRL, OP);
    uint32_t shifter = reg(npu, unit, NPU_ARITH_INSHIFTER), clip = reg(npu, unit, NPU_ARITH_CLIPRANGE);
    bool dual = FIELD(npu, unit, ARITH, CTRL, DUALIN), combined = FIELD(npu, unit, ARITH, CTRL, COMBINEBC);
    bool from_memory[3] = {FIELD(npu, unit, ARITH, CTRL, COEFFA), FIELD(npu, unit, ARITH, CTRL, COEFFB),
                           FIELD(npu, unit, ARITH, CTRL, COEFFC)};
    int ax = FIELD(npu, unit, ARITH, SHIFT, AX), by = FIELD(npu, unit, ARITH, SHIFT, BY), c_shift = FIELD(npu, unit, ARITH, SHIFT, C);
    int result_shift = FIELD(npu, unit, ARITH, SHIFT, RES);
    unsigned out_bytes = FIELD(npu, unit, ARITH, CTRL, OBYTES), mode = FIELD(npu, unit, ARITH, CTRL, ORNDMODE);
    ArithState *state = &npu->ariths[index];
    size_t number = npu->streams[18 + index].frames, count;
    const int32_t *x = npu_port_frame(npu, port, number, &count), *y = NULL;
    int32_t *to, *result = npu_allocate(npu, count, sizeof(*result));

    if (dual) {
        y = npu_port_elements(npu, port + 1, state->position, count);
        x = npu_port_frame(npu, port, number, &count);
    }
    if (!out_bytes) {
        npu_stop(npu, "%s makes elements of 0 bytes (CTRL OBYTES)", npu_unit_name(unit));
    }
    if (operation != AFFINE && operation != MINIMUM && operation != MAXIMUM && operation != PRODUCT) {
        npu_stop(npu, "%s CTRL OP is 0x%02X: not modelled", npu_unit_name(unit), operation);
    }
    if ((operation == MINIMUM || operation == MAXIMUM) && !dual) {
        npu_stop(npu, "%s CTRL OP is 0x%02X without a second stream (DUALIN): not modelled", npu_unit_name(unit), operation);
    }
    if (!state->element) {
        state->address = FIELD(npu, unit, ARITH, COEFFADDR, ADDR);
    }
    to = result;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)state->address % COEFFICIENTS;
        uint32_t ab = npu->coefficients[index][2 * at], cc = npu->coefficients[index][2 * at + 1];
        int64_t a = sign_extended(from_memory[0] ? ab : FIELD(npu, unit, ARITH, COEFFAC, A), 16);
        int64_t b = sign_extended(from_memory[1] ? ab >> 16 : FIELD(npu, unit, ARITH, COEFFB, B), 16);
        int64_t c = sign_extended(from_memory[2] ? cc : FIELD(npu, unit, ARITH, COEFFAC, C), 16);
        int64_t left = operand(x[i], shifter), right = y ? operand(y[i], shifter >> 16) : 0, value;

        if (combined) {
            c = sign_extended((int64_t)((uint64_t)b << 16 | ((uint64_t)c & 0xffff)), 32);
            b = 0;
        }
        switch (operation) {
        case AFFINE:
            /* Whether the shifts of A x and B y round cannot be told from real outputs; they truncate here. */
            value = shifted(a * left, ax, false) + (int64_t)((uint64_t)c << c_shift) + (y ? shifted(b * right, by, false) : 0);
            break;
        case PRODUCT:
            value = wrapped_product(left, y ? right : a);
            break;
        case MINIMUM:
            value = left < right ? left : right;
            break;
        default:
            value = left > right ? left : right;
            break;
        }
        value = shifted(value, result_shift, FIELD(npu, unit, ARITH, CTRL, ROUND));
        if (FIELD(npu, unit, ARITH, CTRL, CLIPOUT)) {
            int64_t highest = sign_extended(clip & 0xffff, 16), lowest = sign_extended(clip >> 16, 16);

            value = value < lowest ? lowest : value > highest ? highest : value;
        }
        *to++ = narrowed(mode >> 1 && value < 0 ? 0 : value, out_bytes, control >> NPU_ARITH_CTRL_SAT_POS & 1);
        advance(npu, unit, state);
    }
    state->position += count;
    memcpy(npu_append(npu, 18 + index, count), result, count * sizeof(*result));
}

/* Pooling */

enum { POOL_MAX, POOL_MIN, POOL_AVERAGE, GLOBAL_MAX = 8, GLOBAL_MIN, GLOBAL_AVERAGE };

typedef struct {
    uint32_t width, height, batch;
    uint32_t first_x, end_x, first_y, end_y;
    uint32_t window_width, window_height, x_step, y_step;
} Window;

static Window window_of(N6Npu *npu, unsigned unit, uint32_t type)
{
    uint32_t batch = FIELD(npu, unit, POOL, PDIMS, BSIZE);
    Window w = {.batch = batch ? batch : 16, .height = FIELD(npu, unit, POOL, FDIMS, FEATY)};

    w.width = FIELD(npu, unit, POOL, FDIMS, FEATX) / w.batch;
    w.end_x = w.width;
    w.end_y = w.height;
    if (FIELD(npu, unit, POOL, CTRL, CROPEN)) {
        w.first_x = FIELD(npu, unit, POOL, XCROP, LCROP) / w.batch;
        w.end_x = FIELD(npu, unit, POOL, XCROP, RCROP) / w.batch + 1;
        w.first_y = FIELD(npu, unit, POOL, YCROP, TCROP);
        w.end_y = FIELD(npu, unit, POOL, YCROP, BCROP) + 1;
    }
    if (type >= GLOBAL_MAX) {
        w.window_width = w.end_x - w.first_x;
        w.window_height = w.end_y - w.first_y;
        w.x_step = w.y_step = 1;
    } else {
        w.window_width = FIELD(npu, unit, POOL, PDIMS, WINX);
        w.window_height = FIELD(npu, unit, POOL, PDIMS, WINY);
        w.x_step = FIELD(npu, unit, POOL, PDIMS, STRDX);
        w.y_step = FIELD(npu, unit, POOL, PDIMS, STRDY);
    }
    if (FIELD(npu, unit, POOL, PDIMS, TPAD) || FIELD(npu, unit, POOL, PDIMS, BPAD) || FIELD(npu, unit, POOL, PDIMS, LPAD) ||
        FIELD(npu, unit, POOL, PDIMS, RPAD)) {
        npu_stop(npu, "%s PDIMS pads by 0x%08x: not modelled", npu_unit_name(unit), reg(npu, unit, NPU_POOL_PDIMS));
    }
    if (w.first_x >= w.end_x || w.end_x > w.width || w.first_y >= w.end_y || w.end_y > w.height || !w.x_step || !w.y_step ||
        !w.window_width || !w.window_height || w.window_width > w.end_x - w.first_x || w.window_height > w.end_y - w.first_y) {
        npu_stop(npu, "%s has windows of %u x %u for frames of %u x %u", npu_unit_name(unit), w.window_height, w.window_width, w.height,
                 w.width);
    }
    return w;
}

static int64_t pooled(const Window *w, const int32_t *from, unsigned width, uint32_t type)
{
    int64_t result = type == POOL_MAX || type == GLOBAL_MAX ? INT64_MIN : type == POOL_MIN || type == GLOBAL_MIN ? INT64_MAX : 0;

    for (uint32_t y = 0; y < w->window_height; y++) {
        for (uint32_t x = 0; x < w->window_width; x++) {
            int64_t value = sign_extended(from[((size_t)y * w->width + x) * w->batch], width);

            switch (type) {
            case POOL_MAX:
            case GLOBAL_MAX:
                result = value > result ? value : result;
                break;
            case POOL_MIN:
            case GLOBAL_MIN:
                result = value < result ? value : result;
                break;
            default:
                result += value;
            }
        }
    }
    return result;
}

void npu_pool_frame(N6Npu *npu, unsigned index)
{
    unsigned unit = POOL + index, port = 36 + index, width;
    uint32_t type = FIELD(npu, unit, POOL, CTRL, TYPE), out_width, out_height;
    bool average = type == POOL_AVERAGE || type == GLOBAL_AVERAGE;
    size_t number = npu->streams[22 + index].frames, wanted, count;
    const int32_t *from;
    int32_t *result, *to;
    Window w;

    if (type > POOL_AVERAGE && (type < GLOBAL_MAX || type > GLOBAL_AVERAGE)) {
        npu_stop(npu, "%s CTRL TYPE is %u: not modelled", npu_unit_name(unit), type);
    }
    if (FIELD(npu, unit, POOL, CTRL, FSHIFT) && FIELD(npu, unit, POOL, CTRL, FSHIFT) != NO_SHIFT) {
        npu_stop(npu, "%s CTRL FSHIFT is %u: only 16, no shift, is modelled", npu_unit_name(unit), FIELD(npu, unit, POOL, CTRL, FSHIFT));
    }
    if (average && !FIELD(npu, unit, POOL, RNDCTRL, OBYTES)) {
        npu_stop(npu, "%s makes elements of 0 bytes (RNDCTRL OBYTES)", npu_unit_name(unit));
    }
    w = window_of(npu, unit, type);
    wanted = (size_t)w.width * w.height * w.batch;
    if (takes_all(&npu->ports[port])) {
        from = npu_port_elements(npu, port, number * wanted, wanted);
    } else {
        from = npu_port_frame(npu, port, number, &count);
        if (count < wanted) {
            npu_stop(npu, "%s wants frames of %zu elements, and gets %zu", npu_unit_name(unit), wanted, count);
        }
    }
    width = FIELD(npu, unit, POOL, CTRL, FBYTES) ? 8 * FIELD(npu, unit, POOL, CTRL, FBYTES) : 24;
    out_width = (w.end_x - w.first_x - w.window_width) / w.x_step + 1;
    out_height = (w.end_y - w.first_y - w.window_height) / w.y_step + 1;
    count = (size_t)out_width * out_height * w.batch;
    result = to = npu_allocate(npu, count, sizeof(*result));
    for (uint32_t y = 0; y < out_height; y++) {
        for (uint32_t x = 0; x < out_width; x++) {
            for (uint32_t channel = 0; channel < w.batch; channel++) {
                size_t at = ((size_t)(w.first_y + y * w.y_step) * w.width + w.first_x + x * w.x_step) * w.batch + channel;
                int64_t value = pooled(&w, from + at, width, type);

                if (average) {
                    value = shifted(value * FIELD(npu, unit, POOL, MULVAL, MULVAL), FIELD(npu, unit, POOL, CTRL, OUTSHIFT),
                                    FIELD(npu, unit, POOL, CTRL, ROUND));
                    value = narrowed(value, FIELD(npu, unit, POOL, RNDCTRL, OBYTES), FIELD(npu, unit, POOL, CTRL, SAT));
                }
                *to++ = value;
            }
        }
    }
    memcpy(npu_append(npu, 22 + index, count), result, count * sizeof(*result));
}

/* Functions by tables: segments of segments, a parabola each. */

#define FUNCTION 3u
#define ROM0 0x400u
#define ROM1 0x800u
#define PARABOLAS 64u

void npu_activ_frame(N6Npu *npu, unsigned index)
{
    unsigned unit = ACTIV + index, port = 26 + index, bytes = FIELD(npu, unit, ACTIV, CTRL, FBYTES);
    bool is_signed = FIELD(npu, unit, ACTIV, FUNC, SIGNEDOP);
    unsigned outer_bits = FIELD(npu, unit, ACTIV, FUNC, BWIDTH), out_bytes = FIELD(npu, unit, ACTIV, CTRL, OBYTES);
    int64_t subtract = sign_extended(FIELD(npu, unit, ACTIV, FSUB, FSUB), 24);
    int shift = (int)FIELD(npu, unit, ACTIV, CTRL, FSHIFT) - NO_SHIFT;
    size_t number = npu->streams[16 + index].frames, count;
    const int32_t *from = npu_port_frame(npu, port, number, &count);
    int32_t *result = npu_allocate(npu, count, sizeof(*result));

    if (FIELD(npu, unit, ACTIV, CTRL, TYPE) != FUNCTION) {
        npu_stop(npu, "%s CTRL TYPE is %u: only 3, a function, is modelled", npu_unit_name(unit), FIELD(npu, unit, ACTIV, CTRL, TYPE));
    }
    if (!bytes || !out_bytes || outer_bits > 5) {
        npu_stop(npu, "%s is not configured (CTRL FBYTES, OBYTES, FUNC BWIDTH)", npu_unit_name(unit));
    }
    for (size_t i = 0; i < count; i++) {
        int64_t x = is_signed ? sign_extended(from[i], 8 * bytes) : (int64_t)((uint32_t)from[i] & (uint32_t)((1ull << 8 * bytes) - 1));
        uint32_t u, entry, inner, at, ab;
        int64_t value;

        x = shifted(x - subtract, shift, FIELD(npu, unit, ACTIV, CTRL, FROUND));
        u = (uint32_t)(((uint64_t)x << FIELD(npu, unit, ACTIV, ACTIVPARAM, FUNC)) + (is_signed ? 0x8000 : 0)) & 0xffff;
        entry = reg(npu, unit, ROM0 + 4 * (outer_bits ? u >> (16 - outer_bits) : 0));
        inner = entry >> 6 & 3;
        inner = inner ? (u << outer_bits & 0xffff) >> (16 - inner) : 0;
        at = ((entry & 63) + inner) % PARABOLAS;
        ab = reg(npu, unit, ROM1 + 8 * at);
        value = (int64_t)((uint64_t)wrapped_product(wrapped_product(sign_extended(ab & 0xffff, 16), x), x) +
                          ((uint64_t)wrapped_product(sign_extended(ab >> 16, 16), x) << FIELD(npu, unit, ACTIV, FUNC, BSHIFT)) +
                          ((uint64_t)sign_extended(reg(npu, unit, ROM1 + 8 * at + 4) & 0xffff, 16)
                           << FIELD(npu, unit, ACTIV, FUNC, CSHIFT)));
        value = shifted(value, FIELD(npu, unit, ACTIV, FUNC, OUTSHIFT), FIELD(npu, unit, ACTIV, CTRL, ROUND));
        result[i] = narrowed(value, out_bytes, FIELD(npu, unit, ACTIV, CTRL, SAT));
    }
    memcpy(npu_append(npu, 16 + index, count), result, count * sizeof(*result));
}
