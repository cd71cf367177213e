/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Streams between units, and the engines that read them from memory and write them to it. A stream is made frame by frame, when
 * somebody asks for a frame of it; loops close through the frame before.
 */
#include "n6virt_npu_model.h"

#include <stdlib.h>
#include <string.h>

/* Elements of all streams of an epoch, in bytes: many times what a network's largest tensor takes. */
#define MOST_BYTES ((size_t)1 << 29)
#define LANES 3
/* POS0 to POS2: lane 0 first. */
#define IN_ORDER (0u | 1u << 2 | 2u << 4)

void *npu_allocate(N6Npu *npu, size_t count, size_t size)
{
    Allocation *allocation;
    size_t bytes;

    if (count > MOST_BYTES / size || npu->allocated + count * size > MOST_BYTES) {
        npu_stop(npu, "the epoch moves more than %zu bytes between units", MOST_BYTES);
    }
    bytes = count * size;
    allocation = calloc(1, sizeof(*allocation) + bytes);
    if (!allocation) {
        npu_stop(npu, "the host has no memory for %zu bytes", bytes);
    }
    allocation->next = npu->allocations;
    allocation->bytes = bytes;
    npu->allocations = allocation;
    npu->allocated += bytes;
    return allocation + 1;
}

/* A copy of twice the size; the old one stays until the end of the epoch, since somebody may hold it. */
static void *grown(N6Npu *npu, const void *old, size_t used, size_t room, size_t size)
{
    void *larger = npu_allocate(npu, room, size);

    if (used) {
        memcpy(larger, old, used * size);
    }
    return larger;
}

int32_t *npu_append(N6Npu *npu, unsigned source, size_t count)
{
    Stream *stream = &npu->streams[source];

    if (stream->count + count > stream->room) {
        stream->room = 2 * (stream->count + count);
        stream->data = grown(npu, stream->data, stream->count, stream->room, sizeof(*stream->data));
    }
    if (stream->frames == stream->frame_room) {
        stream->frame_room = 2 * stream->frames + 16;
        stream->ends = grown(npu, stream->ends, stream->frames, stream->frame_room, sizeof(*stream->ends));
    }
    stream->count += count;
    stream->ends[stream->frames++] = stream->count;
    return stream->data + stream->count - count;
}

static const struct {
    unsigned first, count, unit;
    void (*frame)(N6Npu *npu, unsigned index);
} sources[] = {
    {0, ENGINES, STRENG, npu_engine_frame},
    {10, CONVACCS, CONVACC, npu_convacc_frame},
    {14, 2, DECUN, NULL},
    {16, ACTIVS, ACTIV, npu_activ_frame},
    {18, ARITHS, ARITH, npu_arith_frame},
    {22, POOLS, POOL, npu_pool_frame},
    {24, 3, RECBUF, NULL},
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
    size_t frames = stream->frames;

    for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        unsigned index = source - sources[i].first, unit = npu_unit_of(source);

        if (index >= sources[i].count) {
            continue;
        }
        if (!sources[i].frame) {
            npu_stop(npu, "%s is used, which is not modelled", n6npu_unit_name(unit));
        }
        if (!is_on(npu, unit)) {
            npu_stop(npu, "a stream comes from %s, which is off", n6npu_unit_name(unit));
        }
        if (stream->busy) {
            npu_stop(npu, "%s waits for its own output: units wait for each other in a circle", n6npu_unit_name(unit));
        }
        stream->busy = true;
        sources[i].frame(npu, index);
        stream->busy = false;
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

/* Number, in its source, of the frame that the port takes as its i-th. */
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

const int32_t *npu_port_frame(N6Npu *npu, unsigned destination, size_t frame, size_t *count)
{
    const Port *port = linked_port(npu, destination);
    const Stream *stream = &npu->streams[port->source];
    size_t number = taken_frame(npu, destination, port, frame), start;

    npu_want_frames(npu, port->source, number + 1);
    start = number ? stream->ends[number - 1] : 0;
    *count = stream->ends[number] - start;
    return stream->data + start;
}

const int32_t *npu_port_elements(N6Npu *npu, unsigned destination, size_t start, size_t count)
{
    const Port *port = linked_port(npu, destination);

    npu_want_elements(npu, port->source, start + count);
    return npu->streams[port->source].data + start;
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
        npu_stop(npu, "%s moves elements without bytes (CTRL SIZE0 to SIZE2)", n6npu_unit_name(unit));
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

/* How a frame lies in memory. A raw one is a line. */
typedef struct {
    uint32_t width, height, depth; /* pixels, lines, elements of a pixel */
    uint32_t pixel_step, line_step; /* bytes */
    unsigned bytes;                /* of an element */
} Frame;

static Frame frame_of(N6Npu *npu, unsigned engine)
{
    unsigned unit = STRENG + engine;
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
    frame.line_step = frame.line_step ? frame.line_step : frame.width * frame.pixel_step;
    /* Lanes in their order; all zeros, as after a reset, are taken for that, too. */
    if (bits(reg(npu, unit, NPU_STRENG_POS), 0, 6) != IN_ORDER && bits(reg(npu, unit, NPU_STRENG_POS), 0, 6)) {
        npu_stop(npu, "%s POS swaps lanes, 0x%02X: not modelled", n6npu_unit_name(unit), bits(reg(npu, unit, NPU_STRENG_POS), 0, 6));
    }
    if (!frame.width || !frame.height || !frame.depth) {
        npu_stop(npu, "%s moves frames of %u x %u x %u elements", n6npu_unit_name(unit), frame.height, frame.width, frame.depth);
    }
    return frame;
}

static size_t elements_of(N6Npu *npu, unsigned engine, const Frame *frame)
{
    uint64_t count = (uint64_t)frame->width * frame->height;

    if (count > MOST_BYTES || count * frame->depth > MOST_BYTES) {
        npu_stop(npu, "%s moves a frame of %u x %u x %u elements", n6npu_unit_name(STRENG + engine), frame->height, frame->width,
                 frame->depth);
    }
    return count * frame->depth;
}

/* From the first byte of a line to behind its last one. */
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

/* moved: of these bytes, those that are not gaps between pixels. */
static void read_memory(N6Npu *npu, unsigned engine, uint32_t address, void *to, uint32_t bytes, uint32_t moved)
{
    if (!npu->memory.read(npu->memory.opaque, address, to, bytes)) {
        npu_stop(npu, "%s reads %u bytes at 0x%08x, where it cannot", n6npu_unit_name(STRENG + engine), bytes, address);
    }
    npu->unit_work[STRENG + engine].reads += moved;
    note_addresses(&npu->unit_work[STRENG + engine], address, bytes);
}

static void write_memory(N6Npu *npu, unsigned engine, uint32_t address, const void *from, uint32_t bytes)
{
    if (!npu->memory.write(npu->memory.opaque, address, from, bytes)) {
        npu_stop(npu, "%s writes %u bytes at 0x%08x, where it cannot", n6npu_unit_name(STRENG + engine), bytes, address);
    }
    npu->unit_work[STRENG + engine].writes += bytes;
    note_addresses(&npu->unit_work[STRENG + engine], address, bytes);
}

/* Where the bytes of an element go in the 24 bits of a stream: the lanes in use, or from the right. */
static unsigned lane_shifts(const N6Npu *npu, unsigned unit, unsigned shifts[LANES])
{
    unsigned count = 0;

    for (unsigned lane = 0; lane < LANES; lane++) {
        if (lane_bits(npu, unit, lane)) {
            shifts[count] = 8 * (FIELD(npu, unit, STRENG, CTRL, LSBMODE) ? count : lane);
            count++;
        }
    }
    return count;
}

static void read_line(const uint8_t *line, const Frame *frame, const unsigned shifts[LANES], bool extend, int32_t *to)
{
    for (uint32_t x = 0; x < frame->width; x++) {
        const uint8_t *from = line + (size_t)x * frame->pixel_step;

        for (uint32_t element = 0; element < frame->depth; element++, from += frame->bytes) {
            uint32_t value = 0;

            for (unsigned byte = 0; byte < frame->bytes; byte++) {
                value |= (uint32_t)from[byte] << shifts[byte];
            }
            *to++ = extend ? (int32_t)sign_extended(value, 8 * frame->bytes) : (int32_t)value;
        }
    }
}

/* To a receiver of bytes. */
static void read_bytes(const uint8_t *line, const Frame *frame, int32_t *to)
{
    for (uint32_t x = 0; x < frame->width; x++) {
        for (uint32_t byte = 0; byte < frame->depth * frame->bytes; byte++) {
            *to++ = line[(size_t)x * frame->pixel_step + byte];
        }
    }
}

void npu_engine_frame(N6Npu *npu, unsigned engine)
{
    unsigned unit = STRENG + engine, shifts[LANES];
    uint32_t frames = npu_engine_frames(npu, engine), number = npu->streams[engine].frames, bytes, address;
    bool raw_out = FIELD(npu, unit, STRENG, CTRL, RAW_OUT);
    bool extend = FIELD(npu, unit, STRENG, CTRL, LSBMODE) && FIELD(npu, unit, STRENG, CTRL, SIGNEXT);
    Frame frame = frame_of(npu, engine);
    size_t per_line;
    uint8_t *line;
    int32_t *to;

    if (FIELD(npu, unit, STRENG, CTRL, DIR)) {
        npu_stop(npu, "a stream comes from %s, which writes to memory (CTRL DIR)", n6npu_unit_name(unit));
    }
    if (number >= frames && !FIELD(npu, unit, STRENG, CTRL, CONT)) {
        npu_stop(npu, "%s is asked for frame %u, and has %u (LIMIT): whoever waits for it waits for ever", n6npu_unit_name(unit), number,
                 frames);
    }
    if (FIELD(npu, unit, STRENG, EVENT, FRMTRG_EN) && number) {
        uint32_t trigger = FIELD(npu, unit, STRENG, EVENT, FRMTRG_SRC);

        if (trigger >= ENGINES || !is_on(npu, STRENG + trigger)) {
            npu_stop(npu, "%s waits for engine %u, which is off (EVENT FRMTRG_SRC)", n6npu_unit_name(unit), trigger);
        }
        npu_write_up_to(npu, trigger, number - 1);
    }
    lane_shifts(npu, unit, shifts);
    bytes = line_bytes(npu, engine, &frame);
    per_line = (size_t)frame.width * frame.depth * (raw_out ? frame.bytes : 1);
    elements_of(npu, engine, &frame);
    line = npu_allocate(npu, bytes, 1);
    to = npu_append(npu, engine, per_line * frame.height);
    address = frame_address(npu, engine, number % frames);
    for (uint32_t y = 0; y < frame.height; y++, to += per_line) {
        read_memory(npu, engine, address + y * frame.line_step, line, bytes, frame.width * frame.depth * frame.bytes);
        if (raw_out) {
            read_bytes(line, &frame, to);
        } else {
            read_line(line, &frame, shifts, extend, to);
        }
    }
}

static void write_frame(N6Npu *npu, unsigned engine, const Frame *frame, uint32_t address, const int32_t *from)
{
    unsigned shifts[LANES];
    uint32_t pixel = frame->depth * frame->bytes;
    uint8_t *line;

    lane_shifts(npu, STRENG + engine, shifts);
    line = npu_allocate(npu, (size_t)frame->width * pixel, 1);
    for (uint32_t y = 0; y < frame->height; y++) {
        uint8_t *to = line;

        for (size_t element = 0; element < (size_t)frame->width * frame->depth; element++, from++) {
            for (unsigned byte = 0; byte < frame->bytes; byte++) {
                *to++ = (uint32_t)*from >> shifts[byte];
            }
        }
        if (frame->pixel_step == pixel) {
            write_memory(npu, engine, address + y * frame->line_step, line, frame->width * pixel);
        } else {
            for (uint32_t x = 0; x < frame->width; x++) {
                write_memory(npu, engine, address + y * frame->line_step + x * frame->pixel_step, line + (size_t)x * pixel, pixel);
            }
        }
    }
}

void npu_write_up_to(N6Npu *npu, unsigned engine, uint32_t frame)
{
    uint32_t frames = npu_engine_frames(npu, engine);
    Frame shape = frame_of(npu, engine);
    size_t count = elements_of(npu, engine, &shape);

    while (npu->frames_written[engine] <= frame && npu->frames_written[engine] < frames) {
        uint32_t number = npu->frames_written[engine];
        const int32_t *from;

        if (takes_all(&npu->ports[engine])) {
            from = npu_port_elements(npu, engine, number * count, count);
        } else {
            size_t arrived;

            from = npu_port_frame(npu, engine, number, &arrived);
            if (arrived != count) {
                npu_stop(npu, "%s writes frames of %zu elements, and gets %zu", n6npu_unit_name(STRENG + engine), count, arrived);
            }
        }
        /* It may have been written meanwhile, by who waits for it. */
        if (npu->frames_written[engine] == number) {
            npu->frames_written[engine]++;
            npu->unit_work[STRENG + engine].elements += count;
            write_frame(npu, engine, &shape, frame_address(npu, engine, number), from);
        }
    }
}
