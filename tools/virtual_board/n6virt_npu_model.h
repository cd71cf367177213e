/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Internals of the NPU's model: registers, streams, and the functions of the units.
 */
#ifndef N6VIRT_NPU_MODEL_H
#define N6VIRT_NPU_MODEL_H

#include <setjmp.h>

#include "n6npu.h"
#include "n6npu_registers.h"

#define UNITS 31u
#define UNIT_BYTES 0x1000u
#define WORDS (UNIT_BYTES / 4u)

enum {
    CLKCTRL = 0x00, INTCTRL = 0x01, BUSIF = 0x02, STRSWITCH = 0x04, STRENG = 0x05, CONVACC = 0x0F, DECUN = 0x13, ACTIV = 0x15,
    ARITH = 0x17, POOL = 0x1B, RECBUF = 0x1D, EPOCHCTRL = 0x1E,
};
enum { ENGINES = 10, CONVACCS = 4, ACTIVS = 2, ARITHS = 4, POOLS = 2 };
/* Numbers in the stream switch: the first source and the first destination of each kind; a unit may have several of these. */
enum {
    FROM_STRENG = 0, FROM_CONVACC = 10, FROM_DECUN = 14, FROM_ACTIV = 16, FROM_ARITH = 18, FROM_POOL = 22, FROM_RECBUF = 24,
    SOURCES = 27,
};
enum { TO_STRENG = 0, TO_CONVACC = 10, TO_ACTIV = 26, TO_ARITH = 28, TO_POOL = 36, DESTINATIONS = 41 };
enum { CONVACC_PORTS = 3, ARITH_PORTS = 2 };
enum { FEATURES, KERNELS, SUMS };

/* Output of a unit in an epoch: elements of 24 bits, and the end of each frame. */
typedef struct {
    int32_t *data;
    size_t count, room;
    size_t *ends;
    size_t frames, frame_room;
    bool busy; /* its next frame is being made */
} Stream;

/* A part of a stream. The stream's data may move when it grows. */
typedef struct {
    const Stream *stream;
    size_t start, count;
} Part;

/* A destination's choice of a source. A port with two contexts takes the first one's frames, then the second one's. */
typedef struct {
    bool linked, has_contexts;
    unsigned source;
    bool take[2];
    uint32_t frames[2];
} Port;

enum { ARITH_COUNTERS = 4 };
typedef struct {
    size_t position;                 /* of the stream, in elements */
    int32_t first, address;          /* of coefficients: the first address, and the running one */
    uint32_t counts[ARITH_COUNTERS]; /* elements since each counter restarted */
} ArithState;

/* Memory that a unit uses to make a frame, until the frame is made. */
typedef struct Scratch {
    struct Scratch *below;
    size_t bytes;
} Scratch;

/* Units whose output has a format: CONVACC, DECUN, ACTIV, ARITH and POOL. */
#define COUNTING_UNITS (POOL + POOLS - CONVACC)
#define N6NPU_CHANNELS 1024u
/* Places of saturated values that are kept in an epoch; further ones count as open. */
#define MOST_HITS (1u << 16)

/* Values that become the output of a unit, and that output. A value's channel: `first`, plus its number in `numbers`, or else
 * its place modulo `period`. */
typedef struct {
    const int64_t *values;
    const int32_t *to;
    size_t count, place; /* place: of the first one in the unit's stream */
    unsigned bytes;      /* of the output's format */
    const uint16_t *numbers;
    uint32_t first, period;
} NpuNarrowed;

typedef struct {
    size_t place;
    uint32_t channel;
    uint16_t unit;
} NpuHit;

struct N6Npu {
    N6NpuMemory memory;
    uint32_t registers[UNITS + 1][WORDS];
    uint32_t coefficients[ARITHS][1024]; /* 512 of {A, B}, {C} */
    uint8_t *blob;                       /* the running one, with its header */
    bool has_work;
    /* State of the epoch that is being computed. */
    Stream streams[SOURCES];
    Port ports[DESTINATIONS];
    uint32_t frames_written[ENGINES];
    ArithState ariths[ARITHS];
    Scratch *scratch;
    size_t allocated; /* bytes of scratch and streams */
    size_t frames;    /* of all streams */
    uint64_t steps;   /* of arithmetic */
    N6NpuEpoch epoch;
    N6NpuWork work;
    N6NpuUnitWork unit_work[UNITS];
    N6NpuSaturated *channels[COUNTING_UNITS]; /* N6NPU_CHANNELS of each unit that has saturated */
    bool has_saturated[COUNTING_UNITS];       /* in this epoch */
    NpuHit *hits;
    size_t hit_count, hit_room;
    N6NpuWatch watch;
    void (*frame_of[UNITS])(N6Npu *npu, unsigned index); /* makes one more frame of a unit, by the first unit of its kind */
    jmp_buf stop;
    char reason[240];
};

static inline uint32_t reg(const N6Npu *npu, unsigned unit, uint32_t offset)
{
    return npu->registers[unit][offset / 4];
}

static inline uint32_t bits(uint32_t value, unsigned position, unsigned width)
{
    return value >> position & (width == 32 ? UINT32_MAX : (1u << width) - 1);
}

/* A field of a register, such as FIELD(npu, unit, CONVACC, KFORMAT, NR). */
#define FIELD(npu, unit, kind, register_, field) \
    bits(reg(npu, unit, NPU_##kind##_##register_), NPU_##kind##_##register_##_##field##_POS, NPU_##kind##_##register_##_##field##_BITS)

static inline int64_t sign_extended(int64_t value, unsigned width)
{
    int64_t sign = (int64_t)1 << (width - 1);

    return ((value & ((sign << 1) - 1)) ^ sign) - sign;
}

static inline bool is_on(const N6Npu *npu, unsigned unit)
{
    return npu->registers[unit][0] & 1u;
}

/* End the run with a message. */
_Noreturn void npu_stop(N6Npu *npu, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Count steps of arithmetic before they are done. End the run beyond the limit of an epoch. */
void npu_count_steps(N6Npu *npu, uint64_t steps);
/* Allocate memory until the frame is made, not initialised. End the run beyond the limit of an epoch. */
void *npu_scratch(N6Npu *npu, size_t count, size_t size);
/* Free all memory that was allocated after `until`. */
void npu_release(N6Npu *npu, const Scratch *until);
/* Empty all streams, between epochs. */
void npu_empty_streams(N6Npu *npu);
void npu_free_streams(N6Npu *npu);

/* Shift right; `round`: to the nearest, halves away from zero. Shift to the left if negative. */
static inline int64_t shifted(int64_t value, int shift, bool round)
{
    uint64_t half;

    if (shift <= 0) {
        return (int64_t)((uint64_t)value << (-shift > 62 ? 62 : -shift));
    }
    if (shift > 62) {
        return round ? 0 : value < 0 ? -1 : 0;
    }
    if (!round) {
        return value >> shift;
    }
    /* Real outputs distinguish rounding from truncation, but not the direction of halves (facts: section 12). Only this code
     * decides the direction. */
    half = (uint64_t)1 << (shift - 1);
    return value >= 0 ? (int64_t)(((uint64_t)value + half) >> shift) : -(int64_t)((-(uint64_t)value + half) >> shift);
}

/* Narrow a value to bytes of output: saturated, or with the upper bits cut off. */
static inline int32_t narrowed(int64_t value, unsigned bytes, bool saturate)
{
    int64_t limit = (int64_t)1 << (8 * bytes - 1);

    if (!saturate) {
        return (int32_t)sign_extended(value, 8 * bytes);
    }
    return (int32_t)(value < -limit ? -limit : value >= limit ? limit - 1 : value);
}

/* Saturation */

/* Count the values that differ from the output: its format did not hold them. */
void npu_count_saturated(N6Npu *npu, unsigned unit, const NpuNarrowed *narrowed);
/* Find out which of them the epoch's output shows, while its streams are there. */
void npu_judge_saturated(N6Npu *npu);
void npu_forget_saturated(N6Npu *npu);
void npu_free_saturated(N6Npu *npu);
/* Mode of CONVACC AFILTMODE in which frames outside the filter get zeros as sums. */
#define FRAME_ZERO 3u
/* Return whether a CONVACC adds sums to its frame of this number. */
bool npu_sums_frame(N6Npu *npu, unsigned unit, size_t number);

/* Streams */

/* Return the unit that a source belongs to. */
unsigned npu_unit_of(unsigned source);
/* Make frames of a source until at least so many frames or elements exist. */
void npu_want_frames(N6Npu *npu, unsigned source, size_t frames);
void npu_want_elements(N6Npu *npu, unsigned source, size_t count);
/* Append a frame and return the room for its elements. Fill it in before the next request to a stream. Call this only after all
 * requests for the frame's inputs: a unit that waits for itself has no frame yet. */
int32_t *npu_append(N6Npu *npu, unsigned source, size_t count);

/* Return the input of a port: its i-th frame, or elements regardless of their frames. */
Part npu_port_frame(N6Npu *npu, unsigned destination, size_t frame);
Part npu_port_elements(N6Npu *npu, unsigned destination, size_t start, size_t count);
/* Return the elements of a part, valid until its stream grows. */
static inline const int32_t *npu_elements(Part part)
{
    return part.stream->data + part.start;
}
/* Return whether a port takes every frame of one source: frame borders do not matter then. */
static inline bool takes_all(const Port *port)
{
    return !port->has_contexts;
}

/* Make one more frame of a unit: entries of frame_of. */
void npu_engine_frame(N6Npu *npu, unsigned engine);
void npu_convacc_frame(N6Npu *npu, unsigned index);
void npu_arith_frame(N6Npu *npu, unsigned index);
void npu_pool_frame(N6Npu *npu, unsigned index);
void npu_activ_frame(N6Npu *npu, unsigned index);

/* Write the frames up to this one of an engine that writes to memory. */
void npu_write_up_to(N6Npu *npu, unsigned engine, uint32_t frame);
uint32_t npu_engine_frames(const N6Npu *npu, unsigned engine);
/* Return the bytes of an element in memory. */
unsigned npu_engine_bytes(N6Npu *npu, unsigned engine);

/* Epochs */

/* Compute an epoch with the units' configuration. */
void npu_epoch(N6Npu *npu);
/* Run the epoch controller's blob. */
void npu_blob(N6Npu *npu);
/* Write a register, for the CPU or for a blob. */
void npu_set(N6Npu *npu, unsigned unit, uint32_t offset, uint32_t value);

#endif
