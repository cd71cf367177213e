/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Streams between units, and the engines that read them from memory and write them to it. A stream is made frame by frame, on
 * request; loops close through the previous frame.
 */
#pragma GCC optimize("O3")
#include "n6virt_npu_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the elements of all streams of an epoch, in bytes: many times the size of a network's largest tensor. */
#define MOST_BYTES ((size_t)1 << 28)
/* Limit of the frames of all streams of an epoch, which bounds its time: a damaged LIMIT asks for four thousand million. */
#define MOST_FRAMES ((size_t)1 << 18)
#define LANES 3
/* POS0 to POS2: lane 0 first. */
#define IN_ORDER (0u | 1u << 2 | 2u << 4)

/* Elements that a stream keeps room for from one epoch to the next. */
#define KEPT_ELEMENTS ((size_t)1 << 20)

/* Limit of an epoch's steps: many times those of a large network, and about a second of the host's time. */
#define MOST_STEPS ((uint64_t)1 << 33)

void npu_stop(N6Npu *npu, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(npu->reason, sizeof(npu->reason), format, arguments);
    va_end(arguments);
    longjmp(npu->stop, 1);
}

void npu_count_steps(N6Npu *npu, uint64_t steps)
{
    if (steps > MOST_STEPS || npu->steps + steps > MOST_STEPS) {
        npu_stop(npu, "the epoch takes more than %llu steps of arithmetic", (unsigned long long)MOST_STEPS);
    }
    npu->steps += steps;
}

/* Account for bytes that are about to be used. */
static void take(N6Npu *npu, size_t count, size_t size)
{
    if (count > MOST_BYTES / size || npu->allocated + count * size > MOST_BYTES) {
        npu_stop(npu, "the epoch moves more than %zu bytes between units", MOST_BYTES);
    }
    npu->allocated += count * size;
}

static void *given(N6Npu *npu, void *memory, size_t bytes)
{
    if (!memory) {
        npu_stop(npu, "the host has no memory for %zu bytes", bytes);
    }
    return memory;
}

void *npu_scratch(N6Npu *npu, size_t count, size_t size)
{
    Scratch *scratch;

    take(npu, count, size);
    scratch = malloc(sizeof(*scratch) + count * size);
    npu->allocated -= scratch ? 0 : count * size;
    given(npu, scratch, count * size);
    *scratch = (Scratch){.below = npu->scratch, .bytes = count * size};
    npu->scratch = scratch;
    return scratch + 1;
}

void npu_release(N6Npu *npu, const Scratch *until)
{
    while (npu->scratch != until) {
        Scratch *below = npu->scratch->below;

        npu->allocated -= npu->scratch->bytes;
        free(npu->scratch);
        npu->scratch = below;
    }
}

static void *grown(N6Npu *npu, void *old, size_t *room, size_t wanted, size_t size)
{
    size_t more = wanted + wanted / 2 + 16;
    void *larger;

    take(npu, more - *room, size);
    larger = realloc(old, more * size);
    npu->allocated -= larger ? 0 : (more - *room) * size;
    given(npu, larger, more * size);
    *room = more;
    return larger;
}

int32_t *npu_append(N6Npu *npu, unsigned source, size_t count)
{
    Stream *stream = &npu->streams[source];

    if (++npu->frames > MOST_FRAMES) {
        npu_stop(npu, "the epoch moves more than %zu frames between units", MOST_FRAMES);
    }
    if (stream->count + count > stream->room) {
        stream->data = grown(npu, stream->data, &stream->room, stream->count + count, sizeof(*stream->data));
    }
    if (stream->frames == stream->frame_room) {
        stream->ends = grown(npu, stream->ends, &stream->frame_room, stream->frames + 1, sizeof(*stream->ends));
    }
    stream->count += count;
    stream->ends[stream->frames++] = stream->count;
    return stream->data + stream->count - count;
}

static void free_stream(N6Npu *npu, Stream *stream)
{
    npu->allocated -= stream->room * sizeof(*stream->data) + stream->frame_room * sizeof(*stream->ends);
    free(stream->data);
    free(stream->ends);
    *stream = (Stream){0};
}

void npu_empty_streams(N6Npu *npu)
{
    npu->frames = 0;
    for (unsigned source = 0; source < SOURCES; source++) {
        Stream *stream = &npu->streams[source];

        if (stream->room > KEPT_ELEMENTS || stream->frame_room > KEPT_ELEMENTS) {
            free_stream(npu, stream);
        }
        stream->count = stream->frames = 0;
        stream->busy = false;
    }
}

void npu_free_streams(N6Npu *npu)
{
    for (unsigned source = 0; source < SOURCES; source++) {
        free_stream(npu, &npu->streams[source]);
    }
}

static const struct {
    unsigned first, count, unit;
} sources[] = {
    {FROM_STRENG, ENGINES, STRENG}, {FROM_CONVACC, CONVACCS, CONVACC}, {FROM_DECUN, 2, DECUN},   {FROM_ACTIV, ACTIVS, ACTIV},
    {FROM_ARITH, ARITHS, ARITH},    {FROM_POOL, POOLS, POOL},          {FROM_RECBUF, 3, RECBUF},
};

unsigned npu_unit_of(unsigned source)
{
    for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (source - sources[i].first < sources[i].count) {
            return sources[i].unit + (sources[i].unit == RECBUF ? 0 : source - sources[i].first);
        }
    }
    return UNITS;
}

static void one_frame(N6Npu *npu, unsigned source)
{
    Stream *stream = &npu->streams[source];
    const Scratch *before = npu->scratch;
    size_t frames = stream->frames;

    for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        unsigned index = source - sources[i].first, unit = npu_unit_of(source);

        if (index >= sources[i].count) {
            continue;
        }
        if (!npu->frame_of[sources[i].unit]) {
            npu_stop(npu, "%s is used, but not modelled", n6npu_unit_name(unit));
        }
        if (!is_on(npu, unit)) {
            npu_stop(npu, "a stream comes from %s, which is off", n6npu_unit_name(unit));
        }
        if (stream->busy) {
            npu_stop(npu, "%s waits for its own output: units wait for each other in a circle", n6npu_unit_name(unit));
        }
        stream->busy = true;
        npu->frame_of[sources[i].unit](npu, index);
        stream->busy = false;
        npu_release(npu, before);
    }
    if (stream->frames == frames) {
        npu_stop(npu, "source %u of the stream switch does not exist", source);
    }
}

void npu_want_frames(N6Npu *npu, unsigned source, size_t frames)
{
    while (npu->streams[source].frames < frames) {
        one_frame(npu, source);
    }
}

void npu_want_elements(N6Npu *npu, unsigned source, size_t count)
{
    while (npu->streams[source].count < count) {
        size_t before = npu->streams[source].count;

        one_frame(npu, source);
        if (npu->streams[source].count == before) {
            npu_stop(npu, "source %u of the stream switch makes frames without elements", source);
        }
    }
}

static const Port *linked_port(N6Npu *npu, unsigned destination)
{
    const Port *port = &npu->ports[destination];

    if (!port->linked) {
        npu_stop(npu, "destination %u of the stream switch has no source (STRSWITCH +0x%02X)", destination, 8 + 4 * destination);
    }
    return port;
}

/* Return the number, in the source, of the frame that the port takes as its i-th. */
static size_t taken_frame(N6Npu *npu, unsigned destination, const Port *port, size_t frame)
{
    size_t total = (size_t)port->frames[0] + port->frames[1];
    size_t kept = (port->take[0] ? port->frames[0] : 0) + (port->take[1] ? port->frames[1] : 0), within;

    if (takes_all(port)) {
        return frame;
    }
    if (!kept) {
        npu_stop(npu, "destination %u of the stream switch drops every frame (STRSWITCH +0x%02X)", destination, 8 + 4 * destination);
    }
    within = frame % kept;
    if (!port->take[0] || within >= port->frames[0]) {
        within += port->take[0] ? 0 : port->frames[0];
    }
    return frame / kept * total + within;
}

Part npu_port_frame(N6Npu *npu, unsigned destination, size_t frame)
{
    const Port *port = linked_port(npu, destination);
    const Stream *stream = &npu->streams[port->source];
    size_t number = taken_frame(npu, destination, port, frame), start;

    npu_want_frames(npu, port->source, number + 1);
    start = number ? stream->ends[number - 1] : 0;
    return (Part){.stream = stream, .start = start, .count = stream->ends[number] - start};
}

Part npu_port_elements(N6Npu *npu, unsigned destination, size_t start, size_t count)
{
    const Port *port = linked_port(npu, destination);

    npu_want_elements(npu, port->source, start + count);
    return (Part){.stream = &npu->streams[port->source], .start = start, .count = count};
}

/* Engines */

static uint32_t lane_bits(const N6Npu *npu, unsigned unit, unsigned lane)
{
    return bits(reg(npu, unit, NPU_STRENG_CTRL), NPU_STRENG_CTRL_SIZE0_POS + 4 * lane, 4);
}

unsigned npu_engine_bytes(N6Npu *npu, unsigned engine)
{
    unsigned unit = STRENG + engine, count = 0;

    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t width = lane_bits(npu, unit, lane);

        if (width != 0 && width != 8) {
            npu_stop(npu, "%s CTRL SIZE%u is %u, only 0 and 8 bits are modelled", n6npu_unit_name(unit), lane, width);
        }
        count += width != 0;
    }
    if (!count) {
        npu_stop(npu, "%s moves elements of 0 bytes (CTRL SIZE0 to SIZE2)", n6npu_unit_name(unit));
    }
    return count;
}

uint32_t npu_engine_frames(const N6Npu *npu, unsigned engine)
{
    uint32_t frames = reg(npu, STRENG + engine, NPU_STRENG_LIMIT);

    return frames ? frames : 1;
}

static uint32_t frame_address(const N6Npu *npu, unsigned engine, uint32_t frame)
{
    unsigned unit = STRENG + engine;
    uint32_t repeat = reg(npu, unit, NPU_STRENG_FRAME_RPT), step = reg(npu, unit, NPU_STRENG_FOFFSET);

    return reg(npu, unit, NPU_STRENG_ADDR) +
           (repeat ? frame % repeat * step + frame / repeat * reg(npu, unit, NPU_STRENG_FRPTOFF) : frame * step);
}

/* Layout of a frame in memory. Without gaps between pixels, their elements are taken for pixels; without gaps between lines,
 * all is one line. */
typedef struct {
    uint32_t width, height, depth; /* pixels, lines, elements of a pixel */
    uint32_t pixel_step, line_step; /* bytes */
    unsigned bytes;                /* of an element */
    size_t elements;
} Frame;

static void check_size(N6Npu *npu, unsigned engine, Frame *frame)
{
    uint64_t pixels = (uint64_t)frame->width * frame->height;

    if (!frame->width || !frame->height || !frame->depth) {
        npu_stop(npu, "%s moves frames of %u x %u x %u elements", n6npu_unit_name(STRENG + engine), frame->height, frame->width,
                 frame->depth);
    }
    if (pixels > MOST_BYTES || pixels * frame->depth > MOST_BYTES) {
        npu_stop(npu, "%s moves a frame of %u x %u x %u elements", n6npu_unit_name(STRENG + engine), frame->height, frame->width,
                 frame->depth);
    }
    frame->elements = pixels * frame->depth;
}

static Frame frame_of(N6Npu *npu, unsigned engine)
{
    unsigned unit = STRENG + engine;
    uint32_t lanes = bits(reg(npu, unit, NPU_STRENG_POS), 0, 6);
    Frame frame = {.bytes = npu_engine_bytes(npu, engine)};

    if (FIELD(npu, unit, STRENG, CTRL, RAW)) {
        frame.width = reg(npu, unit, NPU_STRENG_FSIZE);
        frame.height = frame.depth = 1;
        frame.pixel_step = frame.bytes;
    } else {
        frame.width = FIELD(npu, unit, STRENG, FSIZE, WIDTH);
        frame.height = FIELD(npu, unit, STRENG, FSIZE, HEIGHT);
        frame.depth = FIELD(npu, unit, STRENG, DEPTH, SIZE);
        frame.pixel_step = FIELD(npu, unit, STRENG, DEPTH, OFFSET) | FIELD(npu, unit, STRENG, LIMITEN, DOFF_MSB) << 16;
        frame.line_step = FIELD(npu, unit, STRENG, STRD, LOFF) | FIELD(npu, unit, STRENG, CID_CACHE, LOFF_MSB) << 16;
    }
    /* Lanes have to be in order; all zeros, as after a reset, count as in order, too. */
    if (lanes != IN_ORDER && lanes) {
        npu_stop(npu, "%s POS swaps lanes, 0x%02X: not modelled", n6npu_unit_name(unit), lanes);
    }
    check_size(npu, engine, &frame);
    frame.line_step = frame.line_step ? frame.line_step : frame.width * frame.pixel_step;
    if (frame.pixel_step == frame.depth * frame.bytes) {
        frame.width *= frame.depth;
        frame.depth = 1;
        frame.pixel_step = frame.bytes;
    }
    if (frame.depth == 1 && frame.pixel_step == frame.bytes && frame.line_step == frame.width * frame.bytes) {
        frame.width *= frame.height;
        frame.height = 1;
    }
    return frame;
}

/* Return the bytes of a line in memory, gaps between its pixels included. */
static uint32_t line_bytes(N6Npu *npu, unsigned engine, const Frame *frame)
{
    uint64_t bytes = (uint64_t)(frame->width - 1) * frame->pixel_step + (uint64_t)frame->depth * frame->bytes;

    if (bytes > MOST_BYTES) {
        npu_stop(npu, "%s moves lines of %llu bytes", n6npu_unit_name(STRENG + engine), (unsigned long long)bytes);
    }
    return bytes;
}

static void note_addresses(N6NpuUnitWork *work, uint32_t address, uint32_t bytes)
{
    bool is_first = work->first == work->end;

    work->first = is_first || address < work->first ? address : work->first;
    work->end = is_first || address + bytes > work->end ? address + bytes : work->end;
}

/* Read memory for an engine. moved: bytes without those in gaps between pixels. */
static void read_memory(N6Npu *npu, unsigned engine, uint32_t address, void *to, uint32_t bytes, uint32_t moved)
{
    if (!npu->memory.read(npu->memory.opaque, address, to, bytes)) {
        npu_stop(npu, "%s cannot read %u bytes at 0x%08x", n6npu_unit_name(STRENG + engine), bytes, address);
    }
    npu->unit_work[STRENG + engine].reads += moved;
    note_addresses(&npu->unit_work[STRENG + engine], address, bytes);
}

static void write_memory(N6Npu *npu, unsigned engine, uint32_t address, const void *from, uint32_t bytes)
{
    if (!npu->memory.write(npu->memory.opaque, address, from, bytes)) {
        npu_stop(npu, "%s cannot write %u bytes at 0x%08x", n6npu_unit_name(STRENG + engine), bytes, address);
    }
    npu->unit_work[STRENG + engine].writes += bytes;
    note_addresses(&npu->unit_work[STRENG + engine], address, bytes);
}

/* Position of an element's bytes in a stream: in the lanes in use, or from the right. */
typedef struct {
    unsigned bytes;
    unsigned shifts[LANES]; /* of each byte, to the left */
    bool extends;           /* with the sign */
} Lanes;

static Lanes lanes_of(const N6Npu *npu, unsigned unit)
{
    bool from_the_right = FIELD(npu, unit, STRENG, CTRL, LSBMODE);
    Lanes lanes = {.extends = from_the_right && FIELD(npu, unit, STRENG, CTRL, SIGNEXT)};

    for (unsigned lane = 0; lane < LANES; lane++) {
        if (lane_bits(npu, unit, lane)) {
            lanes.shifts[lanes.bytes] = 8 * (from_the_right ? lanes.bytes : lane);
            lanes.bytes++;
        }
    }
    return lanes;
}

/* Read elements without gaps between them. */
static void read_elements(const uint8_t *from, size_t count, Lanes lanes, int32_t *to)
{
    if (lanes.bytes == 1) {
        if (lanes.extends) {
            for (size_t i = 0; i < count; i++) {
                to[i] = (int8_t)from[i];
            }
        } else {
            for (size_t i = 0; i < count; i++) {
                to[i] = (uint32_t)from[i] << lanes.shifts[0];
            }
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t value = 0;

        for (unsigned byte = 0; byte < lanes.bytes; byte++) {
            value |= (uint32_t)*from++ << lanes.shifts[byte];
        }
        to[i] = lanes.extends ? (int32_t)sign_extended(value, 8 * lanes.bytes) : (int32_t)value;
    }
}

void npu_engine_frame(N6Npu *npu, unsigned engine)
{
    unsigned unit = STRENG + engine;
    uint32_t frames = npu_engine_frames(npu, engine), number = npu->streams[engine].frames, bytes, address;
    /* The receiver takes bytes. */
    bool raw_out = FIELD(npu, unit, STRENG, CTRL, RAW_OUT);
    Lanes lanes = raw_out ? (Lanes){.bytes = 1} : lanes_of(npu, unit);
    Frame frame = frame_of(npu, engine);
    size_t per_pixel;
    uint8_t *line;
    int32_t *to;

    if (FIELD(npu, unit, STRENG, CTRL, DIR)) {
        npu_stop(npu, "a stream comes from %s, which writes to memory (CTRL DIR)", n6npu_unit_name(unit));
    }
    if (number >= frames && !FIELD(npu, unit, STRENG, CTRL, CONT)) {
        npu_stop(npu, "%s cannot give frame %u, since it has %u (LIMIT): its reader waits for ever", n6npu_unit_name(unit), number,
                 frames);
    }
    if (FIELD(npu, unit, STRENG, EVENT, FRMTRG_EN) && number) {
        uint32_t trigger = FIELD(npu, unit, STRENG, EVENT, FRMTRG_SRC);

        if (trigger >= ENGINES || !is_on(npu, STRENG + trigger)) {
            npu_stop(npu, "%s waits for engine %u, which is off (EVENT FRMTRG_SRC)", n6npu_unit_name(unit), trigger);
        }
        if (!FIELD(npu, STRENG + trigger, STRENG, CTRL, DIR)) {
            npu_stop(npu, "%s waits for engine %u, which does not write to memory (EVENT FRMTRG_SRC)", n6npu_unit_name(unit), trigger);
        }
        npu_write_up_to(npu, trigger, number - 1);
    }
    bytes = line_bytes(npu, engine, &frame);
    per_pixel = (size_t)frame.depth * (raw_out ? frame.bytes : 1);
    line = npu_scratch(npu, bytes, 1);
    to = npu_append(npu, engine, per_pixel * frame.width * frame.height);
    address = frame_address(npu, engine, number % frames);
    for (uint32_t y = 0; y < frame.height; y++) {
        read_memory(npu, engine, address + y * frame.line_step, line, bytes, frame.width * frame.depth * frame.bytes);
        if (frame.depth == 1 && frame.pixel_step == frame.bytes) {
            read_elements(line, per_pixel * frame.width, lanes, to);
            to += per_pixel * frame.width;
            continue;
        }
        for (uint32_t x = 0; x < frame.width; x++, to += per_pixel) {
            read_elements(line + (size_t)x * frame.pixel_step, per_pixel, lanes, to);
        }
    }
}

static void write_elements(const int32_t *from, size_t count, Lanes lanes, uint8_t *to)
{
    if (lanes.bytes == 1) {
        for (size_t i = 0; i < count; i++) {
            to[i] = (uint32_t)from[i] >> lanes.shifts[0];
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned byte = 0; byte < lanes.bytes; byte++) {
            *to++ = (uint32_t)from[i] >> lanes.shifts[byte];
        }
    }
}

static void write_frame(N6Npu *npu, unsigned engine, const Frame *frame, uint32_t address, const int32_t *from)
{
    Lanes lanes = lanes_of(npu, STRENG + engine);
    size_t per_line = (size_t)frame->width * frame->depth;
    uint32_t pixel = frame->depth * frame->bytes;
    uint8_t *line = npu_scratch(npu, per_line, frame->bytes);

    for (uint32_t y = 0; y < frame->height; y++, from += per_line) {
        write_elements(from, per_line, lanes, line);
        if (frame->pixel_step == pixel) {
            write_memory(npu, engine, address + y * frame->line_step, line, frame->width * pixel);
            continue;
        }
        for (uint32_t x = 0; x < frame->width; x++) {
            write_memory(npu, engine, address + y * frame->line_step + x * frame->pixel_step, line + (size_t)x * pixel, pixel);
        }
    }
}

static Part written_part(N6Npu *npu, unsigned engine, uint32_t number, size_t count)
{
    Part part;

    if (takes_all(&npu->ports[TO_STRENG + engine])) {
        return npu_port_elements(npu, TO_STRENG + engine, number * count, count);
    }
    part = npu_port_frame(npu, TO_STRENG + engine, number);
    if (part.count != count) {
        npu_stop(npu, "%s expects frames of %zu elements, but gets %zu", n6npu_unit_name(STRENG + engine), count, part.count);
    }
    return part;
}

void npu_write_up_to(N6Npu *npu, unsigned engine, uint32_t frame)
{
    uint32_t frames = npu_engine_frames(npu, engine);
    Frame shape = frame_of(npu, engine);

    while (npu->frames_written[engine] <= frame && npu->frames_written[engine] < frames) {
        uint32_t number = npu->frames_written[engine];
        Part part = written_part(npu, engine, number, shape.elements);
        const Scratch *before = npu->scratch;

        /* The frame may have been written meanwhile, for an engine that waits for it. */
        if (npu->frames_written[engine] == number) {
            npu->frames_written[engine]++;
            npu->unit_work[STRENG + engine].elements += shape.elements;
            write_frame(npu, engine, &shape, frame_address(npu, engine, number), npu_elements(part));
            npu_release(npu, before);
        }
    }
}

bool npu_sums_frame(N6Npu *npu, unsigned unit, size_t number)
{
    uint32_t mode = FIELD(npu, unit, CONVACC, CTRL, AFILTMODE), total, phase;

    if (FIELD(npu, unit, CONVACC, CTRL, NOSUM)) {
        return false;
    }
    if (mode != 0 && mode != FRAME_ZERO) {
        npu_stop(npu, "%s CTRL AFILTMODE is %u: not modelled", n6npu_unit_name(unit), mode);
    }
    /* The first frame has no sums (NO1SUM), or the unit itself makes zeros as sums (GEN1SUM). */
    if (number == 0 && (FIELD(npu, unit, CONVACC, CTRL, NO1SUM) || FIELD(npu, unit, CONVACC, CTRL, GEN1SUM))) {
        return false;
    }
    total = FIELD(npu, unit, CONVACC, AFILT, TOT);
    phase = number % (total ? total : 1);
    return mode == 0 || (phase >= FIELD(npu, unit, CONVACC, AFILT, FIRST) && phase <= FIELD(npu, unit, CONVACC, AFILT, LAST));
}
