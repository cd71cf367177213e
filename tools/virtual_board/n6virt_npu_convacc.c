/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CONVACC: subtract, crop, frame, convolve, add accumulated sums, shift, saturate. Frames are height x width x batch, kernels
 * number x height x width x batch. In deep mode, for kernels of one pixel, groups of eight kernels are interleaved.
 */
#pragma GCC optimize("O3")
#include "n6virt_npu_model.h"

#include <string.h>

#define DEEP_GROUP 8u
#define NO_SHIFT 16

typedef struct {
    uint32_t width, height, batch; /* of a feature frame as it arrives */
    uint32_t kernel_width, kernel_height, kernels;
    uint32_t x_step, y_step;
    uint32_t left, right, top, bottom; /* added around the cropped frame */
    uint32_t first_x, end_x, first_y, end_y;
    bool deep;
    unsigned feature_bits, kernel_bits;
} Shape;

static unsigned port_of(unsigned index, unsigned port)
{
    return TO_CONVACC + CONVACC_PORTS * index + port;
}

static Shape shape_of(N6Npu *npu, unsigned index)
{
    unsigned unit = CONVACC + index;
    uint32_t simd = FIELD(npu, unit, CONVACC, CTRL, SIMD), batch = FIELD(npu, unit, CONVACC, KFORMAT, BTCDEPTH);
    Shape s = {
        .batch = batch ? batch : 256,
        .height = FIELD(npu, unit, CONVACC, FFORMAT, HEIGHT),
        .kernel_width = FIELD(npu, unit, CONVACC, KFORMAT, WIDTH),
        .kernel_height = FIELD(npu, unit, CONVACC, KFORMAT, HEIGHT),
        .kernels = FIELD(npu, unit, CONVACC, KFORMAT, NR),
        .x_step = FIELD(npu, unit, CONVACC, SAMPLE, HSTRD),
        .y_step = FIELD(npu, unit, CONVACC, SAMPLE, VSTRD),
        .deep = FIELD(npu, unit, CONVACC, CTRL, DEEPMODE),
    };
    uint32_t right, bottom;

    s.kernels = s.kernels ? s.kernels : 256;
    s.width = FIELD(npu, unit, CONVACC, FFORMAT, WIDTH) / s.batch;
    s.left = FIELD(npu, unit, CONVACC, SAMPLE, LPAD) + FIELD(npu, unit, CONVACC, ZFRAME, LEFT) / s.batch;
    s.right = FIELD(npu, unit, CONVACC, SAMPLE, RPAD) + FIELD(npu, unit, CONVACC, ZFRAME, RIGHT) / s.batch;
    s.top = FIELD(npu, unit, CONVACC, SAMPLE, TPAD) + FIELD(npu, unit, CONVACC, ZFRAME, TOP);
    s.bottom = FIELD(npu, unit, CONVACC, SAMPLE, BPAD) + FIELD(npu, unit, CONVACC, ZFRAME, BOTTOM);
    right = FIELD(npu, unit, CONVACC, FHCROP, RIGHT);
    bottom = FIELD(npu, unit, CONVACC, FVCROP, BOTTOM);
    s.first_x = FIELD(npu, unit, CONVACC, FHCROP, LEFT) / s.batch;
    /* A last column or line of 0, or behind the frame, crops nothing; both occur. */
    s.end_x = right && right / s.batch < s.width ? right / s.batch + 1 : s.width;
    s.first_y = FIELD(npu, unit, CONVACC, FVCROP, TOP);
    s.end_y = bottom && bottom < s.height ? bottom + 1 : s.height;
    s.feature_bits = simd == 1 ? 8 : 8 * FIELD(npu, unit, CONVACC, DFORMAT, FBYTES);
    s.kernel_bits = simd ? 8 : 16;
    if (!s.width || !s.height || !s.kernel_width || !s.kernel_height || !s.x_step || !s.y_step || !s.feature_bits) {
        npu_stop(npu, "%s is not configured (KFORMAT, SAMPLE, DFORMAT, FFORMAT)", n6npu_unit_name(unit));
    }
    if (simd == 3) {
        npu_stop(npu, "%s CTRL SIMD is 3: not modelled", n6npu_unit_name(unit));
    }
    if (FIELD(npu, unit, CONVACC, CTRL, KSETEN) == 1 || FIELD(npu, unit, CONVACC, CTRL, KSETEN) == 2) {
        npu_stop(npu, "%s CTRL KSETEN is %u: not modelled", n6npu_unit_name(unit), FIELD(npu, unit, CONVACC, CTRL, KSETEN));
    }
    if (s.first_x >= s.end_x || s.first_y >= s.end_y) {
        npu_stop(npu, "%s crops %u x %u to columns %u to %u, lines %u to %u (FHCROP, FVCROP)", n6npu_unit_name(unit), s.height, s.width,
                 s.first_x, s.end_x - 1, s.first_y, s.end_y - 1);
    }
    if (s.deep && (s.kernel_width != 1 || s.kernel_height != 1)) {
        npu_stop(npu, "%s has kernels of %u x %u in deep mode, only 1 x 1 is modelled", n6npu_unit_name(unit), s.kernel_height,
                 s.kernel_width);
    }
    return s;
}

static uint32_t framed_width(const Shape *s)
{
    return s->end_x - s->first_x + s->left + s->right;
}

static uint32_t framed_height(const Shape *s)
{
    return s->end_y - s->first_y + s->top + s->bottom;
}

/* Return the number of values of a frame; *pixel: that of a pixel. In deep mode bytes arrive, either packed or with each pixel
 * on a new element of three bytes. */
static size_t features_wanted(N6Npu *npu, unsigned index, const Shape *s, uint32_t *pixel)
{
    bool packed = FIELD(npu, CONVACC + index, CONVACC, DFORMAT, FBYTES) == 3;

    *pixel = s->deep && !packed ? (s->batch + 2) / 3 * 3 : s->batch;
    return (size_t)s->width * s->height * *pixel;
}

/* Return the number of the feature frame of an output frame. Stationary features (FSTAT) meet FSTATCNT sets of kernels. */
static size_t feature_frame(N6Npu *npu, unsigned unit, const Shape *s, size_t number)
{
    uint32_t times = FIELD(npu, unit, CONVACC, SAMPLE, FSTATCNT);

    if (!FIELD(npu, unit, CONVACC, CTRL, FSTAT)) {
        if (times) {
            npu_stop(npu, "%s SAMPLE FSTATCNT is %u, and CTRL FSTAT is 0: not modelled", n6npu_unit_name(unit), times);
        }
        return number;
    }
    if (!times || s->deep || !FIELD(npu, unit, CONVACC, CTRL, NOSUM)) {
        npu_stop(npu, "%s CTRL FSTAT is 1 in deep mode, with sums, or with SAMPLE FSTATCNT 0: not modelled", n6npu_unit_name(unit));
    }
    return number / times;
}

static Part features_that_arrive(N6Npu *npu, unsigned index, const Shape *s, uint32_t *pixel)
{
    unsigned unit = CONVACC + index, port = port_of(index, FEATURES);
    size_t number = feature_frame(npu, unit, s, npu->streams[FROM_CONVACC + index].frames);
    size_t wanted = features_wanted(npu, index, s, pixel);
    Part part;

    if (!s->deep && takes_all(&npu->ports[port])) {
        return npu_port_elements(npu, port, number * wanted, wanted);
    }
    part = npu_port_frame(npu, port, number);
    if (part.count < wanted && s->deep && part.count >= (size_t)s->width * s->height * s->batch) {
        *pixel = s->batch;
    } else if (part.count < wanted) {
        npu_stop(npu, "%s expects frames of %zu elements, but gets %zu", n6npu_unit_name(unit), wanted, part.count);
    }
    return part;
}

/* Conversion of an element to a value, and the value around the cropped frame. Values of more than 16 bits are split: value =
 * high * 2^15 + low, each of 16 bits. */
#define LOW_BITS 15
enum { LOW, HIGH, PLANES };
typedef struct {
    uint32_t mask, sign; /* sign bit of an element; 0: unsigned */
    int32_t subtract, frame_value;
    bool is_split;
    uint32_t largest; /* largest amount of a value, or of a part */
} Values;

static Values values_of(const N6Npu *npu, unsigned unit, const Shape *s)
{
    uint32_t mask = s->feature_bits == 8 ? 0xff : s->feature_bits == 16 ? 0xffff : 0xffffff;
    bool is_unsigned = FIELD(npu, unit, CONVACC, CTRL, FUNSIGNED);
    Values v = {
        .mask = mask,
        .sign = is_unsigned ? 0 : (mask >> 1) + 1,
        .subtract = sign_extended(FIELD(npu, unit, CONVACC, FSUB, FSUB), 24),
        .frame_value = sign_extended(FIELD(npu, unit, CONVACC, ZFBIAS, ZFBIAS), 16),
    };
    int32_t lowest = -(int32_t)v.sign - v.subtract, highest = (int32_t)(is_unsigned ? mask : mask >> 1) - v.subtract;

    lowest = v.frame_value < lowest ? v.frame_value : lowest;
    highest = v.frame_value > highest ? v.frame_value : highest;
    v.is_split = lowest < INT16_MIN || highest > INT16_MAX;
    v.largest = v.is_split ? 1u << LOW_BITS : (uint32_t)(-lowest > highest ? -lowest : highest);
    return v;
}

static int16_t part_of(int32_t value, const Values *v, unsigned plane)
{
    return plane == HIGH ? value >> LOW_BITS : v->is_split ? value & ((1 << LOW_BITS) - 1) : value;
}

/* Convert elements without gaps to values. */
static void read_values(const int32_t *from, size_t count, const Values *v, unsigned plane, int16_t *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = part_of((int32_t)((((uint32_t)from[i] & v->mask) ^ v->sign) - v->sign) - v->subtract, v, plane);
    }
}

/* Return the features after subtraction, crop and frame. */
static int16_t *framed_features(N6Npu *npu, const Shape *s, const Values *v, unsigned plane, const int32_t *from, uint32_t pixel)
{
    uint32_t width = framed_width(s), columns = s->end_x - s->first_x;
    size_t total = (size_t)width * framed_height(s) * s->batch;
    int16_t *features = npu_scratch(npu, total, sizeof(*features));

    if (s->left || s->right || s->top || s->bottom) {
        int16_t around = part_of(v->frame_value, v, plane);

        for (size_t i = 0; i < total; i++) {
            features[i] = around;
        }
    }
    for (uint32_t y = s->first_y; y < s->end_y; y++) {
        const int32_t *line = from + ((size_t)y * s->width + s->first_x) * pixel;
        int16_t *to = features + ((size_t)(y - s->first_y + s->top) * width + s->left) * s->batch;

        if (pixel == s->batch) {
            read_values(line, (size_t)columns * pixel, v, plane, to);
            continue;
        }
        for (uint32_t x = 0; x < columns; x++) {
            read_values(line + (size_t)x * pixel, s->batch, v, plane, to + (size_t)x * s->batch);
        }
    }
    return features;
}

/* Return the number of values of a set in the stream of kernels. */
static size_t set_values(const Shape *s)
{
    size_t values = (size_t)s->kernels * s->kernel_height * s->kernel_width * s->batch;

    return s->deep ? (values + 2) / 3 * 3 : values;
}

/* Unpack kernels from an index in their stream, whose elements hold element_bytes bytes each. */
static void unpack_kernels(const int32_t *from, size_t index, unsigned element_bytes, unsigned width, size_t count, int16_t *to)
{
    unsigned byte = index % element_bytes;

    from += index / element_bytes;
    if (element_bytes == 1) {
        unsigned unused = 32 - width;

        for (size_t i = 0; i < count; i++) {
            to[i] = (int32_t)((uint32_t)from[i] << unused) >> unused;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = sign_extended((uint32_t)*from >> 8 * byte & 0xff, width);
        if (++byte == element_bytes) {
            byte = 0;
            from++;
        }
    }
}

/* Unsigned kernels (KUNSIGNED) are the same as signed ones while no value has its highest bit. Real networks have no others. */
static void check_unsigned_kernels(N6Npu *npu, unsigned unit, const int16_t *kernels, size_t count)
{
    for (size_t i = 0; FIELD(npu, unit, CONVACC, CTRL, KUNSIGNED) && i < count; i++) {
        if (kernels[i] < 0) {
            npu_stop(npu, "%s CTRL KUNSIGNED is 1, and a value of its kernels has the highest bit: not modelled", n6npu_unit_name(unit));
        }
    }
}

/* Place kernels one after another, each padded. In deep mode groups of eight kernels are interleaved in the stream. */
static void place_kernels(const Shape *s, const int16_t *from, size_t taps, size_t padded, int16_t *to)
{
    memset(to, 0, s->kernels * padded * sizeof(*to));
    for (uint32_t first = 0; s->deep && first < s->kernels; first += DEEP_GROUP) {
        uint32_t size = s->kernels - first < DEEP_GROUP ? s->kernels - first : DEEP_GROUP;

        for (size_t tap = 0; tap < taps; tap++) {
            for (uint32_t i = 0; i < size; i++) {
                to[(first + i) * padded + tap] = *from++;
            }
        }
    }
    for (uint32_t kernel = 0; !s->deep && kernel < s->kernels; kernel++) {
        memcpy(to + kernel * padded, from + kernel * taps, taps * sizeof(*to));
    }
}

/* This unit's share of kernels, where several units share the stream: values of all units, and those before its own. */
typedef struct {
    size_t of_all, before;
} Share;

static Share share_of(N6Npu *npu, unsigned unit, const Shape *s, size_t values)
{
    uint32_t shared = FIELD(npu, unit, CONVACC, KFILT, TOT), first = FIELD(npu, unit, CONVACC, KFILT, FIRST);
    uint32_t last = FIELD(npu, unit, CONVACC, KFILT, LAST);

    if (shared <= 1) {
        return (Share){.of_all = values};
    }
    if (last + 1 != first + s->kernels || last >= shared || (s->deep && (shared % s->kernels || first % s->kernels))) {
        npu_stop(npu, "%s has %u kernels and takes %u to %u of %u (KFILT): not modelled", n6npu_unit_name(unit), s->kernels, first, last,
                 shared);
    }
    /* A set is padded in deep mode. */
    return s->deep ? (Share){.of_all = shared / s->kernels * values, .before = first / s->kernels * values}
                   : (Share){.of_all = values / s->kernels * shared, .before = values / s->kernels * first};
}

/* Return the set of kernels for the frame, as number x height x width x batch, each kernel with zeros behind it. */
static const int16_t *kernels_of(N6Npu *npu, unsigned index, const Shape *s, size_t taps, size_t padded)
{
    unsigned unit = CONVACC + index, port = port_of(index, KERNELS), bytes = 1;
    size_t number = npu->streams[FROM_CONVACC + index].frames, values = set_values(s), available, start, frames;
    const Port *link = &npu->ports[port];
    const Stream *stream;
    int16_t *unpacked, *kernels;
    Share share;

    if (!link->linked || link->source >= ENGINES) {
        npu_stop(npu, "%s has kernels that do not come from a stream engine", n6npu_unit_name(unit));
    }
    share = share_of(npu, unit, s, values);
    /* Make all kernels of the epoch; they repeat. */
    frames = npu_engine_frames(npu, link->source);
    npu_want_frames(npu, link->source, frames);
    stream = &npu->streams[link->source];
    if (s->deep && !FIELD(npu, STRENG + link->source, STRENG, CTRL, RAW_OUT)) {
        bytes = npu_engine_bytes(npu, link->source);
    }
    available = stream->ends[frames - 1] * bytes;
    available = available >= share.of_all ? available / share.of_all * share.of_all : share.of_all;
    start = number * share.of_all % available + share.before;
    if ((start + values + bytes - 1) / bytes > stream->count) {
        npu_stop(npu, "%s expects %zu kernel values, but %s has %zu", n6npu_unit_name(unit), values,
                 n6npu_unit_name(STRENG + link->source), stream->count * bytes);
    }
    unpacked = npu_scratch(npu, values, sizeof(*unpacked));
    kernels = npu_scratch(npu, s->kernels * padded, sizeof(*kernels));
    unpack_kernels(stream->data, start, bytes, s->kernel_bits, s->kernels * taps, unpacked);
    check_unsigned_kernels(npu, unit, unpacked, s->kernels * taps);
    place_kernels(s, unpacked, taps, padded, kernels);
    return kernels;
}

/* Return the bits of a sum that comes from a source. */
static unsigned sum_bits_of(N6Npu *npu, unsigned unit, unsigned source)
{
    if (source < ENGINES) {
        return 8 * npu_engine_bytes(npu, source);
    }
    if (source - FROM_CONVACC < CONVACCS) {
        return 8 * FIELD(npu, CONVACC + source - FROM_CONVACC, CONVACC, DFORMAT, OBYTES);
    }
    if (source - FROM_ARITH < ARITHS) {
        return 8 * FIELD(npu, ARITH + source - FROM_ARITH, ARITH, CTRL, OBYTES);
    }
    npu_stop(npu, "%s adds to sums of source %u of the stream switch: only those of engines, CONVACCs and ARITHs are modelled",
             n6npu_unit_name(unit), source);
}

/* Return the sums that are added to the frame. A part without a stream adds nothing. */
static Part sums_of(N6Npu *npu, unsigned index, size_t elements)
{
    unsigned unit = CONVACC + index, port = port_of(index, SUMS), source = npu->ports[port].source;
    size_t number = npu->streams[FROM_CONVACC + index].frames;
    const Stream *own = &npu->streams[FROM_CONVACC + index];
    Part part = {0};

    if (!npu_sums_frame(npu, unit, number)) {
        return part;
    }
    if (!npu->ports[port].linked) {
        npu_stop(npu, "%s adds to sums, but port %u of the stream switch has no source", n6npu_unit_name(unit), port);
    }
    if (source != FROM_CONVACC + index) {
        part = npu_port_frame(npu, port, number);
    } else if (!number) {
        npu_stop(npu, "%s adds its own frames to its first one (CTRL NO1SUM, GEN1SUM): it waits for ever", n6npu_unit_name(unit));
    } else {
        part = (Part){.stream = own, .start = number > 1 ? own->ends[number - 2] : 0};
        part.count = own->ends[number - 1] - part.start;
    }
    if (part.stream && part.count < elements) {
        npu_stop(npu, "%s adds frames of %zu sums to frames of %zu", n6npu_unit_name(unit), part.count, elements);
    }
    return part;
}

/* Products are summed in 32 bits, which is fast, as long as the sum cannot overflow. */
#define LANES 8u

static int32_t dot(const int16_t *a, const int16_t *b, size_t count)
{
    int32_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (int32_t)a[i] * b[i];
    }
    return sum;
}

/* Number of kernels that are computed together and share the values that are read. */
#define TOGETHER 4u

static void dots(const int16_t *values, const int16_t *kernels, size_t padded, int32_t sums[TOGETHER])
{
    const int16_t *second = kernels + padded, *third = second + padded, *fourth = third + padded;
    int32_t a = 0, b = 0, c = 0, d = 0;

    for (size_t i = 0; i < padded; i++) {
        a += (int32_t)values[i] * kernels[i];
        b += (int32_t)values[i] * second[i];
        c += (int32_t)values[i] * third[i];
        d += (int32_t)values[i] * fourth[i];
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}

static int64_t long_dot(const int16_t *a, const int16_t *b, size_t count, size_t most)
{
    int64_t sum = 0;

    for (size_t first = 0; first < count; first += most) {
        sum += dot(a + first, b + first, count - first < most ? count - first : most);
    }
    return sum;
}

typedef struct {
    size_t taps, padded; /* values of a kernel, and padded with zeros to a multiple of LANES */
    size_t most;         /* products that may be summed in 32 bits */
    const int16_t *kernels;
    int16_t *under; /* the values under a kernel, one after another */
} Convolution;

/* Add products, scaled, to a sum for each kernel. Return the address behind the sums. */
static int64_t *add_products(const Convolution *c, uint32_t kernels, int scale, int64_t *to)
{
    uint32_t kernel = 0;

    for (; kernel + TOGETHER <= kernels; kernel += TOGETHER) {
        int32_t sums[TOGETHER];

        dots(c->under, c->kernels + kernel * c->padded, c->padded, sums);
        for (unsigned i = 0; i < TOGETHER; i++) {
            *to++ += scale * (int64_t)sums[i];
        }
    }
    for (; kernel < kernels; kernel++) {
        *to++ += scale * (int64_t)dot(c->under, c->kernels + kernel * c->padded, c->padded);
    }
    return to;
}

/* Add a line of products, scaled, to sums of width x kernels. features: the first line under the kernel. */
static void convolve_line(const Shape *s, const Convolution *c, const int16_t *features, uint32_t out_width, int scale, int64_t *to)
{
    size_t row = (size_t)s->kernel_width * s->batch, line = (size_t)framed_width(s) * s->batch;

    for (uint32_t x = 0; x < out_width; x++, features += (size_t)s->x_step * s->batch) {
        for (uint32_t y = 0; y < s->kernel_height; y++) {
            memcpy(c->under + y * row, features + y * line, row * sizeof(*features));
        }
        if (c->padded <= c->most) {
            to = add_products(c, s->kernels, scale, to);
        } else {
            for (uint32_t kernel = 0; kernel < s->kernels; kernel++) {
                *to++ += scale * long_dot(c->under, c->kernels + kernel * c->padded, c->taps, c->most);
            }
        }
    }
}

/* Settings of the steps after the sums. */
typedef struct {
    int in_shift, out_shift;
    bool round, saturate, relu;
    unsigned sum_bits, out_bytes;
} Finish;

/* Return whether the format held all values. Afterwards `values` are those before they were narrowed. */
static bool finish_line(Finish f, int64_t *values, const int32_t *sums, size_t count, int32_t *to)
{
    int64_t differs = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t sum = values[i];

        if (sums) {
            sum = (int64_t)((uint64_t)sum + ((uint64_t)sign_extended(sums[i], f.sum_bits) << f.in_shift));
        }
        sum = shifted(sum, f.out_shift, f.round);
        values[i] = f.relu && sum < 0 ? 0 : sum;
        to[i] = narrowed(f.relu && sum < 0 ? 0 : sum, f.out_bytes, f.saturate);
        differs |= values[i] ^ to[i];
    }
    return !differs || !f.saturate;
}

/* Return the first channel of a frame: that of its first kernel among all that the units share. Frames that are summed are of
 * one channel, and so are all frames that the unit filters by AFILT together. */
static uint32_t first_channel(N6Npu *npu, unsigned unit, const Shape *s, size_t number)
{
    uint32_t shared = FIELD(npu, unit, CONVACC, KFILT, TOT), first = FIELD(npu, unit, CONVACC, KFILT, FIRST);
    uint32_t summed = FIELD(npu, unit, CONVACC, AFILT, TOT);

    if (!FIELD(npu, unit, CONVACC, CTRL, NOSUM) && FIELD(npu, unit, CONVACC, CTRL, AFILTMODE) != FRAME_ZERO) {
        number = 0;
    }
    return number / (summed ? summed : 1) * (shared > 1 ? shared : s->kernels) + (shared > 1 ? first : 0);
}

static Finish finish_of(N6Npu *npu, unsigned unit)
{
    uint32_t feature_shift = FIELD(npu, unit, CONVACC, DFORMAT, FSHIFT);
    Finish f = {
        .in_shift = FIELD(npu, unit, CONVACC, DFORMAT, INSHIFT),
        .out_shift = FIELD(npu, unit, CONVACC, DFORMAT, OUTSHIFT),
        .round = FIELD(npu, unit, CONVACC, DFORMAT, ROUND),
        .saturate = FIELD(npu, unit, CONVACC, DFORMAT, SAT),
        .relu = FIELD(npu, unit, CONVACC, DFORMAT, ORNDMODE) >> 1,
        .out_bytes = FIELD(npu, unit, CONVACC, DFORMAT, OBYTES),
    };

    if (feature_shift && feature_shift != NO_SHIFT) {
        npu_stop(npu, "%s DFORMAT FSHIFT is %u: only 16, no shift, is modelled", n6npu_unit_name(unit), feature_shift);
    }
    if (!f.out_bytes) {
        npu_stop(npu, "%s makes elements of 0 bytes (DFORMAT OBYTES)", n6npu_unit_name(unit));
    }
    return f;
}

static void check_kernel(N6Npu *npu, unsigned unit, const Shape *s)
{
    if (framed_width(s) < s->kernel_width || framed_height(s) < s->kernel_height) {
        npu_stop(npu, "%s has kernels of %u x %u for frames of %u x %u", n6npu_unit_name(unit), s->kernel_height, s->kernel_width,
                 framed_height(s), framed_width(s));
    }
}

static Convolution convolution_of(N6Npu *npu, unsigned index, const Shape *s, const Values *v)
{
    size_t taps = (size_t)s->kernel_height * s->kernel_width * s->batch;
    Convolution c = {.taps = taps, .padded = (taps + LANES - 1) / LANES * LANES};

    c.most = INT32_MAX / ((uint64_t)(v->largest ? v->largest : 1) << (s->kernel_bits - 1));
    c.most = c.most ? c.most : 1;
    c.kernels = kernels_of(npu, index, s, taps, c.padded);
    c.under = npu_scratch(npu, c.padded, sizeof(*c.under));
    memset(c.under, 0, c.padded * sizeof(*c.under));
    return c;
}

void npu_convacc_frame(N6Npu *npu, unsigned index)
{
    unsigned unit = CONVACC + index;
    Shape s = shape_of(npu, index);
    Values v = values_of(npu, unit, &s);
    Finish f = finish_of(npu, unit);
    uint32_t pixel, out_width, out_height;
    int16_t *planes[PLANES] = {0};
    Convolution c;
    Part features, sums;
    NpuNarrowed narrowed;
    size_t per_line;
    int64_t *line;
    int32_t *to;

    check_kernel(npu, unit, &s);
    out_width = (framed_width(&s) - s.kernel_width) / s.x_step + 1;
    out_height = (framed_height(&s) - s.kernel_height) / s.y_step + 1;
    per_line = (size_t)out_width * s.kernels;
    npu_count_steps(npu, (uint64_t)per_line * out_height * s.kernel_height * s.kernel_width * s.batch);
    features = features_that_arrive(npu, index, &s, &pixel);
    for (unsigned plane = LOW; plane <= (v.is_split ? HIGH : LOW); plane++) {
        planes[plane] = framed_features(npu, &s, &v, plane, npu_elements(features), pixel);
    }
    c = convolution_of(npu, index, &s, &v);
    sums = sums_of(npu, index, per_line * out_height);
    f.sum_bits = sums.stream ? sum_bits_of(npu, CONVACC + index, npu->ports[port_of(index, SUMS)].source) : 0;
    line = npu_scratch(npu, per_line, sizeof(*line));
    narrowed = (NpuNarrowed){
        .values = line,
        .count = per_line,
        .place = npu->streams[FROM_CONVACC + index].count,
        .bytes = f.out_bytes,
        .first = first_channel(npu, unit, &s, npu->streams[FROM_CONVACC + index].frames),
        .period = s.kernels,
    };
    to = npu_append(npu, FROM_CONVACC + index, per_line * out_height);
    for (uint32_t y = 0; y < out_height; y++, to += per_line, narrowed.place += per_line) {
        size_t at = (size_t)y * s.y_step * framed_width(&s) * s.batch;

        memset(line, 0, per_line * sizeof(*line));
        for (unsigned plane = LOW; plane < PLANES && planes[plane]; plane++) {
            convolve_line(&s, &c, planes[plane] + at, out_width, plane == HIGH ? 1 << LOW_BITS : 1, line);
        }
        if (!finish_line(f, line, sums.stream ? npu_elements(sums) + y * per_line : NULL, per_line, to)) {
            narrowed.to = to;
            npu_count_saturated(npu, unit, &narrowed);
        }
    }
    npu->work.macs += (uint64_t)per_line * out_height * c.taps;
    npu->unit_work[unit].macs += (uint64_t)per_line * out_height * c.taps;
}
