/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ARITH, POOL and ACTIV.
 */
#pragma GCC optimize("O3")
#include "n6virt_npu_model.h"

#include <string.h>

#define NO_SHIFT 16
#define COEFFICIENTS 512u
/* Number of elements that go through each step together. */
#define BLOCK 256u

enum { AFFINE = 0, MINIMUM = 1, MAXIMUM = 2, PRODUCT = 7, CLIP = 55 };
enum { X, Y };
enum { A, B, C, ABC };

/* Return a product, of which only 64 bits are kept, as in all arithmetic here. No configuration seen so far has more bits. */
static int64_t wrapped_product(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left * (uint64_t)right);
}

/* Return the bits of 32 that an operand of ARITH does not use. */
static unsigned unused_bits(uint32_t shifter)
{
    unsigned bytes = bits(shifter, NPU_ARITH_INSHIFTER_FBYTESX_POS, NPU_ARITH_INSHIFTER_FBYTESX_BITS);

    return 32 - (bytes ? 8 * bytes : 24);
}

/* Read an operand of ARITH: its bytes, then a shift with or without rounding. */
static void read_operand(const int32_t *from, size_t count, uint32_t shifter, int64_t *to)
{
    int shift = (int)bits(shifter, NPU_ARITH_INSHIFTER_FSHIFTX_POS, NPU_ARITH_INSHIFTER_FSHIFTX_BITS) - NO_SHIFT;
    bool round = bits(shifter, NPU_ARITH_INSHIFTER_FROUNDX_POS, NPU_ARITH_INSHIFTER_FROUNDX_BITS);
    unsigned unused = unused_bits(shifter);

    for (size_t i = 0; i < count; i++) {
        to[i] = (int32_t)((uint32_t)from[i] << unused) >> unused;
    }
    for (size_t i = 0; shift && i < count; i++) {
        to[i] = shifted(to[i], shift, round);
    }
}

/* Coefficients. If they are in memory, a running address selects them. After an element it moves by the offset of the first
 * counter that restarts there, in the order CNT3, CNT2, CNT1, INCCNT. */

typedef struct {
    uint32_t ends[ARITH_COUNTERS]; /* elements until each counter restarts; 0: it is off */
    int32_t offsets[ARITH_COUNTERS];
} Counters;

static Counters counters_of(const N6Npu *npu, unsigned unit)
{
    return (Counters){
        .ends =
            {
                FIELD(npu, unit, ARITH, CTRL, CNT3) ? reg(npu, unit, NPU_ARITH_RSTCNT3) + 1 : 0,
                FIELD(npu, unit, ARITH, CTRL, CNT2) ? reg(npu, unit, NPU_ARITH_RSTCNT2) + 1 : 0,
                FIELD(npu, unit, ARITH, CTRL, CNT1) ? reg(npu, unit, NPU_ARITH_RSTCNT1) + 1 : 0,
                reg(npu, unit, NPU_ARITH_INCCNT) + 1,
            },
        .offsets =
            {
                sign_extended(FIELD(npu, unit, ARITH, ADDROFFSET, OFFSET3), 9),
                sign_extended(FIELD(npu, unit, ARITH, ADDROFFSET, OFFSET2), 9),
                sign_extended(FIELD(npu, unit, ARITH, ADDROFFSET, OFFSET1), 9),
                sign_extended(FIELD(npu, unit, ARITH, INCOFFSET, VAL), 9),
            },
    };
}

static inline void advance(const Counters *counters, ArithState *state)
{
    int32_t offset = 0;
    bool found = false;

    for (unsigned i = 0; i < ARITH_COUNTERS; i++) {
        if (++state->counts[i] == counters->ends[i]) {
            state->counts[i] = 0;
            offset = found ? offset : counters->offsets[i];
            found = true;
        }
    }
    state->address += offset;
}

typedef struct {
    int32_t a[BLOCK], b[BLOCK], c[BLOCK];
    uint16_t channels[BLOCK]; /* numbers of the coefficients, from the first one's on */
} Coefficients;

static void read_coefficients(N6Npu *npu, unsigned index, const Counters *counters, size_t count, Coefficients *to)
{
    unsigned unit = ARITH + index;
    bool a_varies = FIELD(npu, unit, ARITH, CTRL, COEFFA), b_varies = FIELD(npu, unit, ARITH, CTRL, COEFFB);
    bool c_varies = FIELD(npu, unit, ARITH, CTRL, COEFFC), combined = FIELD(npu, unit, ARITH, CTRL, COMBINEBC);
    int16_t a = FIELD(npu, unit, ARITH, COEFFAC, A), b = FIELD(npu, unit, ARITH, COEFFB, B), c = FIELD(npu, unit, ARITH, COEFFAC, C);
    /* A copy, which the compiler can keep in registers. */
    ArithState state = npu->ariths[index];

    memset(to->channels, 0, sizeof(to->channels));
    for (size_t i = 0; i < count; i++) {
        if (a_varies || b_varies || c_varies) {
            to->channels[i] = (uint32_t)(state.address - state.first) % COEFFICIENTS;
            const uint32_t *entry = npu->coefficients[index] + 2 * ((uint32_t)state.address % COEFFICIENTS);

            a = a_varies ? (int16_t)entry[0] : a;
            b = b_varies ? (int16_t)(entry[0] >> 16) : b;
            c = c_varies ? (int16_t)entry[1] : c;
            advance(counters, &state);
        }
        to->a[i] = a;
        to->b[i] = combined ? 0 : b;
        to->c[i] = combined ? (int32_t)((uint32_t)(uint16_t)b << 16 | (uint16_t)c) : c;
    }
    npu->ariths[index] = state;
}

/* A X + B Y + C in 32 bits, which the host computes several at a time. `affine` and `finish` are the definition, and compute
 * everything else: a block goes here only if none of its steps can leave 32 bits. */

typedef struct {
    int ax, by, c, result;  /* shifts */
    int32_t x, y;           /* largest amounts of operands; 0: there is no such operand */
    int32_t half;           /* of the result's last bit; 0: truncates */
    bool round;
    int32_t clip_low, clip_high, floor, low, high;
    unsigned unused;        /* bits of 32 */
} Narrow;

/* Return whether the unit's settings allow 32 bits, for suitable coefficients. */
static bool narrow_of(const N6Npu *npu, unsigned unit, uint32_t shifter, bool dual, Narrow *to)
{
    unsigned x_bytes = bits(shifter, NPU_ARITH_INSHIFTER_FBYTESX_POS, NPU_ARITH_INSHIFTER_FBYTESX_BITS);
    unsigned y_bytes = bits(shifter >> 16, NPU_ARITH_INSHIFTER_FBYTESX_POS, NPU_ARITH_INSHIFTER_FBYTESX_BITS);
    unsigned x_shift = bits(shifter, NPU_ARITH_INSHIFTER_FSHIFTX_POS, NPU_ARITH_INSHIFTER_FSHIFTX_BITS);
    unsigned y_shift = bits(shifter >> 16, NPU_ARITH_INSHIFTER_FSHIFTX_POS, NPU_ARITH_INSHIFTER_FSHIFTX_BITS);
    unsigned bytes = FIELD(npu, unit, ARITH, CTRL, OBYTES);
    bool clip = FIELD(npu, unit, ARITH, CTRL, CLIPOUT), saturate = FIELD(npu, unit, ARITH, CTRL, SAT);
    int32_t limit = bytes ? (int32_t)1 << (8 * bytes - 1) : 0;

    *to = (Narrow){
        .ax = FIELD(npu, unit, ARITH, SHIFT, AX),
        .by = FIELD(npu, unit, ARITH, SHIFT, BY),
        .c = FIELD(npu, unit, ARITH, SHIFT, C),
        .result = FIELD(npu, unit, ARITH, SHIFT, RES),
        .round = FIELD(npu, unit, ARITH, CTRL, ROUND),
        .clip_low = clip ? (int16_t)FIELD(npu, unit, ARITH, CLIPRANGE, CLIPMIN) : INT32_MIN,
        .clip_high = clip ? (int16_t)FIELD(npu, unit, ARITH, CLIPRANGE, CLIPMAX) : INT32_MAX,
        .floor = FIELD(npu, unit, ARITH, CTRL, ORNDMODE) >> 1 ? 0 : INT32_MIN,
        .low = saturate ? -limit : INT32_MIN,
        .high = saturate ? limit - 1 : INT32_MAX,
        .unused = 32 - 8 * bytes,
    };
    if (FIELD(npu, unit, ARITH, CTRL, OP) != AFFINE || !x_bytes || x_bytes > 2 || x_shift != NO_SHIFT || !bytes || bytes > 3 ||
        (dual && (!y_bytes || y_bytes > 2 || y_shift != NO_SHIFT)) || to->ax > 30 || to->by > 30 || to->c > 30 || to->result > 30) {
        return false;
    }
    to->x = (int32_t)1 << (8 * x_bytes - 1);
    to->y = dual ? (int32_t)1 << (8 * y_bytes - 1) : 0;
    to->half = to->round && to->result ? (int32_t)1 << (to->result - 1) : 0;
    return true;
}

static int64_t largest_amount(const int32_t *values, size_t count)
{
    int32_t low = 0, high = 0;

    for (size_t i = 0; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return -(int64_t)low > high ? -(int64_t)low : high;
}

/* Return whether no step of a block can leave 32 bits: the sum of the largest amounts does not. */
static bool fits(const Narrow *n, const Coefficients *k, size_t count)
{
    int64_t c = largest_amount(k->c, count) << n->c;
    int64_t ax = largest_amount(k->a, count) * n->x, by = n->y ? largest_amount(k->b, count) * n->y : 0;

    return ax <= INT32_MAX && by <= INT32_MAX && c <= INT32_MAX && ax + by + c + n->half + 2 <= INT32_MAX;
}

/* Read, combine and finish a block. y: NULL without a second stream. Return whether the format held all values; if not, `cut`
 * has those before they were narrowed. */
static bool narrow_block(const Narrow n, const int32_t *x, unsigned x_unused, const int32_t *y, unsigned y_unused, size_t count,
                         const Coefficients *k, int32_t *to, int64_t *cut)
{
    int32_t values[BLOCK], differs = 0;

    for (size_t i = 0; i < count; i++) {
        values[i] = (k->a[i] * ((int32_t)((uint32_t)x[i] << x_unused) >> x_unused) >> n.ax) + (int32_t)((uint32_t)k->c[i] << n.c);
    }
    for (size_t i = 0; y && i < count; i++) {
        values[i] += k->b[i] * ((int32_t)((uint32_t)y[i] << y_unused) >> y_unused) >> n.by;
    }
    for (size_t i = 0; i < count; i++) {
        /* Rounding is that of the amount: halves go away from zero. */
        int32_t value = values[i], sign = n.round ? value >> 31 : 0;

        value = ((((value ^ sign) - sign) + n.half) >> n.result ^ sign) - sign;
        value = value < n.clip_low ? n.clip_low : value > n.clip_high ? n.clip_high : value;
        value = value < n.floor ? n.floor : value;
        differs |= (value < n.low) | (value > n.high);
        values[i] = value;
        value = value < n.low ? n.low : value > n.high ? n.high : value;
        to[i] = (int32_t)((uint32_t)value << n.unused) >> n.unused;
    }
    for (size_t i = 0; differs && i < count; i++) {
        cut[i] = values[i];
    }
    return !differs;
}

static void affine(const N6Npu *npu, unsigned unit, const int64_t *x, const int64_t *y, size_t count, const Coefficients *k,
                   int64_t *to)
{
    int ax = FIELD(npu, unit, ARITH, SHIFT, AX), by = FIELD(npu, unit, ARITH, SHIFT, BY), c_shift = FIELD(npu, unit, ARITH, SHIFT, C);

    /* Real outputs do not show whether the shifts of A x and B y round; they truncate here. */
    for (size_t i = 0; i < count; i++) {
        to[i] = ((int64_t)k->a[i] * x[i] >> ax) + (int64_t)((uint64_t)(int64_t)k->c[i] << c_shift);
    }
    for (size_t i = 0; y && i < count; i++) {
        to[i] += (int64_t)k->b[i] * y[i] >> by;
    }
}

static void combine(const N6Npu *npu, unsigned unit, const int64_t *x, const int64_t *y, size_t count, const Coefficients *k,
                    int64_t *to)
{
    uint32_t operation = FIELD(npu, unit, ARITH, CTRL, OP);

    switch (operation) {
    case AFFINE:
        affine(npu, unit, x, y, count, k, to);
        break;
    case PRODUCT:
        for (size_t i = 0; i < count; i++) {
            to[i] = wrapped_product(x[i], y ? y[i] : k->a[i]);
        }
        break;
    case CLIP:
        for (size_t i = 0; i < count; i++) {
            to[i] = x[i] < k->a[i] ? k->a[i] : x[i] > k->c[i] ? k->c[i] : x[i];
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            to[i] = (operation == MINIMUM) == (x[i] < y[i]) ? x[i] : y[i];
        }
    }
}

/* Return whether the format held all values. Afterwards `values` are those before they were narrowed. */
static bool finish(const N6Npu *npu, unsigned unit, int64_t *values, size_t count, int32_t *to)
{
    int shift = FIELD(npu, unit, ARITH, SHIFT, RES);
    bool round = FIELD(npu, unit, ARITH, CTRL, ROUND), saturate = FIELD(npu, unit, ARITH, CTRL, SAT);
    bool clip = FIELD(npu, unit, ARITH, CTRL, CLIPOUT), relu = FIELD(npu, unit, ARITH, CTRL, ORNDMODE) >> 1;
    int16_t highest = FIELD(npu, unit, ARITH, CLIPRANGE, CLIPMAX), lowest = FIELD(npu, unit, ARITH, CLIPRANGE, CLIPMIN);
    unsigned bytes = FIELD(npu, unit, ARITH, CTRL, OBYTES);
    int64_t differs = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t value = shifted(values[i], shift, round);

        if (clip) {
            value = value < lowest ? lowest : value > highest ? highest : value;
        }
        values[i] = relu && value < 0 ? 0 : value;
        to[i] = narrowed(values[i], bytes, saturate);
        differs |= values[i] ^ to[i];
    }
    return !differs || !saturate;
}

/* A clip of one stream to constants, without shifts, is known from real networks; anything else about it is not. */
static void check_clip(N6Npu *npu, unsigned unit)
{
    bool varies = FIELD(npu, unit, ARITH, CTRL, COEFFA) || FIELD(npu, unit, ARITH, CTRL, COEFFB) || FIELD(npu, unit, ARITH, CTRL, COEFFC);
    int16_t lowest = FIELD(npu, unit, ARITH, COEFFAC, A), highest = FIELD(npu, unit, ARITH, COEFFAC, C);

    if (varies || FIELD(npu, unit, ARITH, CTRL, DUALIN) || FIELD(npu, unit, ARITH, CTRL, COMBINEBC)) {
        npu_stop(npu, "%s CTRL OP is 0x37 (clip) with two streams or coefficients from memory: not modelled", n6npu_unit_name(unit));
    }
    if (reg(npu, unit, NPU_ARITH_SHIFT) || FIELD(npu, unit, ARITH, CTRL, CLIPOUT) || lowest > highest) {
        npu_stop(npu, "%s CTRL OP is 0x37 (clip) from %d to %d (COEFFAC) with SHIFT 0x%05x: only ascending limits without "
                 "shift and CLIPOUT are modelled", n6npu_unit_name(unit), lowest, highest, reg(npu, unit, NPU_ARITH_SHIFT));
    }
}

static void check_arith(N6Npu *npu, unsigned unit)
{
    uint32_t operation = FIELD(npu, unit, ARITH, CTRL, OP);

    if (!FIELD(npu, unit, ARITH, CTRL, OBYTES)) {
        npu_stop(npu, "%s makes elements of 0 bytes (CTRL OBYTES)", n6npu_unit_name(unit));
    }
    if (operation != AFFINE && operation != MINIMUM && operation != MAXIMUM && operation != PRODUCT &&
        operation != CLIP) {
        npu_stop(npu, "%s CTRL OP is 0x%02X: not modelled", n6npu_unit_name(unit), operation);
    }
    if (operation == CLIP) {
        check_clip(npu, unit);
    }
    if ((operation == MINIMUM || operation == MAXIMUM) && !FIELD(npu, unit, ARITH, CTRL, DUALIN)) {
        npu_stop(npu, "%s CTRL OP is 0x%02X without a second stream (DUALIN): not modelled", n6npu_unit_name(unit), operation);
    }
}

void npu_arith_frame(N6Npu *npu, unsigned index)
{
    unsigned unit = ARITH + index, port = TO_ARITH + ARITH_PORTS * index;
    uint32_t shifter = reg(npu, unit, NPU_ARITH_INSHIFTER);
    bool dual = FIELD(npu, unit, ARITH, CTRL, DUALIN);
    ArithState *state = &npu->ariths[index];
    Counters counters = counters_of(npu, unit);
    Part inputs[ARITH_PORTS];
    Coefficients coefficients;
    int64_t x[BLOCK], y[BLOCK], values[BLOCK];
    Narrow narrow;
    bool is_narrow = narrow_of(npu, unit, shifter, dual, &narrow);
    int32_t *to;

    inputs[X] = npu_port_frame(npu, port + X, npu->streams[FROM_ARITH + index].frames);
    inputs[Y] = dual ? npu_port_elements(npu, port + Y, state->position, inputs[X].count) : inputs[X];
    check_arith(npu, unit);
    if (!state->position) {
        state->first = state->address = FIELD(npu, unit, ARITH, COEFFADDR, ADDR);
    }
    to = npu_append(npu, FROM_ARITH + index, inputs[X].count);
    for (size_t done = 0; done < inputs[X].count; done += BLOCK) {
        size_t count = inputs[X].count - done < BLOCK ? inputs[X].count - done : BLOCK;
        bool holds;

        read_coefficients(npu, index, &counters, count, &coefficients);
        if (is_narrow && fits(&narrow, &coefficients, count)) {
            holds = narrow_block(narrow, npu_elements(inputs[X]) + done, unused_bits(shifter),
                                 dual ? npu_elements(inputs[Y]) + done : NULL, unused_bits(shifter >> 16), count, &coefficients,
                                 to + done, values);
        } else {
            read_operand(npu_elements(inputs[X]) + done, count, shifter, x);
            if (dual) {
                read_operand(npu_elements(inputs[Y]) + done, count, shifter >> 16, y);
            }
            combine(npu, unit, x, dual ? y : NULL, count, &coefficients, values);
            holds = finish(npu, unit, values, count, to + done);
        }
        if (!holds) {
            npu_count_saturated(npu, unit,
                                &(NpuNarrowed){.values = values,
                                               .to = to + done,
                                               .count = count,
                                               .place = state->position + done,
                                               .bytes = FIELD(npu, unit, ARITH, CTRL, OBYTES),
                                               .numbers = coefficients.channels});
        }
    }
    state->position += inputs[X].count;
}

/* Narrow a value and count it if it saturates. place: in the unit's stream. */
static int32_t narrowed_alone(N6Npu *npu, unsigned unit, int64_t value, unsigned bytes, bool saturate, size_t place, uint32_t channel)
{
    int32_t to = narrowed(value, bytes, saturate);

    if (saturate && to != value) {
        npu_count_saturated(npu, unit,
                            &(NpuNarrowed){.values = &value, .to = &to, .count = 1, .place = place, .bytes = bytes, .first = channel});
    }
    return to;
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
        npu_stop(npu, "%s PDIMS pads by 0x%08x: not modelled", n6npu_unit_name(unit), reg(npu, unit, NPU_POOL_PDIMS));
    }
    if (w.first_x >= w.end_x || w.end_x > w.width || w.first_y >= w.end_y || w.end_y > w.height || !w.x_step || !w.y_step ||
        !w.window_width || !w.window_height || w.window_width > w.end_x - w.first_x || w.window_height > w.end_y - w.first_y) {
        npu_stop(npu, "%s has windows of %u x %u for frames of %u x %u", n6npu_unit_name(unit), w.window_height, w.window_width, w.height,
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
    unsigned unit = POOL + index, port = TO_POOL + index, width;
    uint32_t type = FIELD(npu, unit, POOL, CTRL, TYPE), out_width, out_height, first;
    bool average = type == POOL_AVERAGE || type == GLOBAL_AVERAGE;
    size_t number = npu->streams[FROM_POOL + index].frames, wanted;
    const int32_t *from;
    int32_t *to;
    Part input;
    Window w;

    if (type > POOL_AVERAGE && (type < GLOBAL_MAX || type > GLOBAL_AVERAGE)) {
        npu_stop(npu, "%s CTRL TYPE is %u: not modelled", n6npu_unit_name(unit), type);
    }
    if (FIELD(npu, unit, POOL, CTRL, FSHIFT) && FIELD(npu, unit, POOL, CTRL, FSHIFT) != NO_SHIFT) {
        npu_stop(npu, "%s CTRL FSHIFT is %u: only 16, no shift, is modelled", n6npu_unit_name(unit), FIELD(npu, unit, POOL, CTRL, FSHIFT));
    }
    if (average && !FIELD(npu, unit, POOL, RNDCTRL, OBYTES)) {
        npu_stop(npu, "%s makes elements of 0 bytes (RNDCTRL OBYTES)", n6npu_unit_name(unit));
    }
    w = window_of(npu, unit, type);
    wanted = (size_t)w.width * w.height * w.batch;
    if (takes_all(&npu->ports[port])) {
        input = npu_port_elements(npu, port, number * wanted, wanted);
    } else {
        input = npu_port_frame(npu, port, number);
        if (input.count < wanted) {
            npu_stop(npu, "%s expects frames of %zu elements, but gets %zu", n6npu_unit_name(unit), wanted, input.count);
        }
    }
    width = FIELD(npu, unit, POOL, CTRL, FBYTES) ? 8 * FIELD(npu, unit, POOL, CTRL, FBYTES) : 24;
    out_width = (w.end_x - w.first_x - w.window_width) / w.x_step + 1;
    out_height = (w.end_y - w.first_y - w.window_height) / w.y_step + 1;
    npu_count_steps(npu, (uint64_t)out_width * out_height * w.batch * w.window_width * w.window_height);
    to = npu_append(npu, FROM_POOL + index, (size_t)out_width * out_height * w.batch);
    from = npu_elements(input);
    first = number * w.batch;
    for (uint32_t y = 0; y < out_height; y++) {
        for (uint32_t x = 0; x < out_width; x++) {
            for (uint32_t channel = 0; channel < w.batch; channel++) {
                size_t at = ((size_t)(w.first_y + y * w.y_step) * w.width + w.first_x + x * w.x_step) * w.batch + channel;
                int64_t value = pooled(&w, from + at, width, type);

                if (average) {
                    value = shifted(value * FIELD(npu, unit, POOL, MULVAL, MULVAL), FIELD(npu, unit, POOL, CTRL, OUTSHIFT),
                                    FIELD(npu, unit, POOL, CTRL, ROUND));
                    value = narrowed_alone(npu, unit, value, FIELD(npu, unit, POOL, RNDCTRL, OBYTES),
                                           FIELD(npu, unit, POOL, CTRL, SAT), to - npu->streams[FROM_POOL + index].data, first + channel);
                }
                *to++ = value;
            }
        }
    }
}

/* Functions by tables: segments that are divided into segments, each with a parabola. A thresholded ReLU is known only with the
 * lowest value as its threshold and as the value below it: no element changes. */

#define TRELU 2u
#define FUNCTION 3u
#define ROM0 0x400u
#define ROM1 0x800u
#define PARABOLAS 64u

static void trelu_frame(N6Npu *npu, unsigned index, Part input)
{
    unsigned unit = ACTIV + index;
    uint32_t shift = FIELD(npu, unit, ACTIV, CTRL, FSHIFT);
    int16_t threshold = FIELD(npu, unit, ACTIV, ACTIVPARAM, PARAM), below = FIELD(npu, unit, ACTIV, ACTIVPARAM2, PARAM2);
    const int32_t *from;
    int32_t *to;

    if (threshold != INT8_MIN || below != INT8_MIN || FIELD(npu, unit, ACTIV, CTRL, FBYTES) != 1 ||
        FIELD(npu, unit, ACTIV, CTRL, OBYTES) != 1 || !FIELD(npu, unit, ACTIV, FUNC, SIGNEDOP)) {
        npu_stop(npu, "%s CTRL TYPE is 2 with PARAM %d and PARAM2 %d: only -128 and signed bytes are modelled", n6npu_unit_name(unit),
                 threshold, below);
    }
    if (FIELD(npu, unit, ACTIV, FSUB, FSUB) || (shift && shift != NO_SHIFT) || FIELD(npu, unit, ACTIV, FUNC, OUTSHIFT)) {
        npu_stop(npu, "%s CTRL TYPE is 2 with FSUB, FSHIFT or OUTSHIFT: not modelled", n6npu_unit_name(unit));
    }
    to = npu_append(npu, FROM_ACTIV + index, input.count);
    from = npu_elements(input);
    for (size_t i = 0; i < input.count; i++) {
        to[i] = (int32_t)sign_extended(from[i], 8);
    }
}

void npu_activ_frame(N6Npu *npu, unsigned index)
{
    unsigned unit = ACTIV + index, bytes = FIELD(npu, unit, ACTIV, CTRL, FBYTES);
    bool is_signed = FIELD(npu, unit, ACTIV, FUNC, SIGNEDOP);
    unsigned outer_bits = FIELD(npu, unit, ACTIV, FUNC, BWIDTH), out_bytes = FIELD(npu, unit, ACTIV, CTRL, OBYTES);
    int64_t subtract = sign_extended(FIELD(npu, unit, ACTIV, FSUB, FSUB), 24);
    int shift = (int)FIELD(npu, unit, ACTIV, CTRL, FSHIFT) - NO_SHIFT;
    Part input = npu_port_frame(npu, TO_ACTIV + index, npu->streams[FROM_ACTIV + index].frames);
    const int32_t *from;
    int32_t *to;

    if (FIELD(npu, unit, ACTIV, CTRL, TYPE) == TRELU) {
        trelu_frame(npu, index, input);
        return;
    }
    if (FIELD(npu, unit, ACTIV, CTRL, TYPE) != FUNCTION) {
        npu_stop(npu, "%s CTRL TYPE is %u: only 2 and 3 are modelled", n6npu_unit_name(unit), FIELD(npu, unit, ACTIV, CTRL, TYPE));
    }
    if (!bytes || !out_bytes || outer_bits > 5) {
        npu_stop(npu, "%s is not configured (CTRL FBYTES, OBYTES, FUNC BWIDTH)", n6npu_unit_name(unit));
    }
    to = npu_append(npu, FROM_ACTIV + index, input.count);
    from = npu_elements(input);
    for (size_t i = 0; i < input.count; i++) {
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
        to[i] = narrowed_alone(npu, unit, value, out_bytes, FIELD(npu, unit, ACTIV, CTRL, SAT),
                               to + i - npu->streams[FROM_ACTIV + index].data, 0);
    }
}
