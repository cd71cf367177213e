/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values that the format of a unit's output did not hold, for each unit and channel of an epoch. A saturated value is lost if
 * the epoch's output of one byte shows it: an output at an end of its format would be there with the true value, too. It is open
 * if it leaves the epoch in more bytes: a later epoch makes the output.
 */
#include "n6virt_npu_model.h"

#include <stdlib.h>
#include <string.h>

/* Values that are looked at for one that saturated, each computed from the one before it. */
#define MOST_FOLLOWED 256u
#define FIRST_HITS 64u

static N6NpuSaturated *channel_of(N6Npu *npu, unsigned unit, uint32_t channel)
{
    unsigned index = unit - CONVACC;

    if (index >= COUNTING_UNITS) {
        return NULL;
    }
    if (!npu->channels[index]) {
        npu->channels[index] = calloc(N6NPU_CHANNELS, sizeof(*npu->channels[index]));
        if (!npu->channels[index]) {
            npu_stop(npu, "the host has no memory to count saturated values");
        }
    }
    npu->has_saturated[index] = true;
    return &npu->channels[index][channel < N6NPU_CHANNELS ? channel : N6NPU_CHANNELS - 1];
}

static void remember(N6Npu *npu, NpuHit hit, N6NpuSaturated *channel)
{
    if (npu->hit_count == MOST_HITS) {
        channel->open++; /* and not looked at any more */
        return;
    }
    if (npu->hit_count == npu->hit_room) {
        size_t room = npu->hit_room ? 2 * npu->hit_room : FIRST_HITS;
        NpuHit *hits = realloc(npu->hits, room * sizeof(*hits));

        if (!hits) {
            npu_stop(npu, "the host has no memory for %zu places of saturated values", room);
        }
        npu->hits = hits;
        npu->hit_room = room;
    }
    npu->hits[npu->hit_count++] = hit;
}

void npu_count_saturated(N6Npu *npu, unsigned unit, const NpuNarrowed *narrowed)
{
    for (size_t i = 0; i < narrowed->count; i++) {
        int64_t value = narrowed->values[i];
        uint32_t number = narrowed->first + (narrowed->numbers ? narrowed->numbers[i] : narrowed->period ? i % narrowed->period : 0);
        N6NpuSaturated *channel;

        if (value == narrowed->to[i]) {
            continue;
        }
        channel = channel_of(npu, unit, number);
        channel->below += value < narrowed->to[i];
        channel->above += value > narrowed->to[i];
        channel->lowest = value < channel->lowest ? value : channel->lowest;
        channel->highest = value > channel->highest ? value : channel->highest;
        if (narrowed->bytes > 1) {
            remember(npu, (NpuHit){.place = narrowed->place + i, .unit = unit, .channel = number}, channel);
        }
    }
}

/* Whether the output shows a value that saturated */

typedef struct {
    unsigned source;
    size_t place; /* in the source's stream */
} Value;

/* Return whether a destination belongs to a unit that is on. */
static bool is_port_on(const N6Npu *npu, unsigned port)
{
    return is_on(npu, port < TO_CONVACC ? STRENG + port
                      : port - TO_CONVACC < CONVACCS * CONVACC_PORTS ? CONVACC + (port - TO_CONVACC) / CONVACC_PORTS
                      : port - TO_ACTIV < ACTIVS ? ACTIV + port - TO_ACTIV
                      : port - TO_ARITH < ARITHS * ARITH_PORTS ? ARITH + (port - TO_ARITH) / ARITH_PORTS
                      : port - TO_POOL < POOLS ? POOL + port - TO_POOL
                                               : RECBUF);
}

static bool is_at_an_end(const N6Npu *npu, Value at)
{
    unsigned unit = npu_unit_of(at.source);
    int32_t value = npu->streams[at.source].data[at.place];
    bool is_arith = unit - ARITH < ARITHS;

    /* One step beside the end is no more than a rounding. */
    if (n6npu_out_bytes(npu, unit) == 1 && (value <= INT8_MIN + 1 || value >= INT8_MAX - 1)) {
        return true;
    }
    if (is_arith && FIELD(npu, unit, ARITH, CTRL, CLIPOUT)) {
        return value == (int16_t)FIELD(npu, unit, ARITH, CLIPRANGE, CLIPMAX) || value == (int16_t)FIELD(npu, unit, ARITH, CLIPRANGE, CLIPMIN);
    }
    return is_arith && FIELD(npu, unit, ARITH, CTRL, ORNDMODE) >> 1 && value == 0;
}

/* A value's frame in its stream, and its place in the frame. */
typedef struct {
    size_t frame, place;
} InFrame;

static InFrame frame_of(const Stream *stream, size_t place)
{
    size_t low = 0, high = stream->frames;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (stream->ends[middle] <= place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (InFrame){low, place - (low ? stream->ends[low - 1] : 0)};
}

/* Find the number that a frame has among those that a port takes. Return false if the port drops it. */
static bool find_taken(const Port *port, size_t *frame)
{
    size_t first = port->frames[0], cycle = first + port->frames[1], rest, cycles;

    if (takes_all(port)) {
        return true;
    }
    cycles = *frame / cycle;
    rest = *frame % cycle;
    *frame = cycles * (port->take[0] * first + port->take[1] * port->frames[1]) + port->take[0] * (rest < first ? rest : first) +
             port->take[1] * (rest < first ? 0 : rest - first);
    return port->take[rest >= first];
}

/* Find the place that a value's frame has in the output of a unit that makes a frame of each. */
static size_t place_in(const Stream *to, InFrame value)
{
    return (value.frame && value.frame <= to->frames ? to->ends[value.frame - 1] : value.frame ? to->count : 0) + value.place;
}

/* Find the sum that a value is added to, in the output of a CONVACC. Return false if it is not added to any. */
static bool find_sum(N6Npu *npu, unsigned index, InFrame added, bool is_own, size_t *place)
{
    const Stream *stream = &npu->streams[FROM_CONVACC + index];

    added.frame += is_own;
    *place = place_in(stream, added);
    return added.frame < stream->frames && npu_sums_frame(npu, CONVACC + index, added.frame);
}

typedef enum { HIDDEN, OPEN, SHOWN } Fate;

static Fate worse(Fate one, Fate other)
{
    return one > other ? one : other;
}

/* Return the fate of a value. A unit that computes with several places, and memory, show a value of one byte unless it is at an
 * end of its format. */
static Fate fate_of(N6Npu *npu, Value at, unsigned *left)
{
    const Stream *stream = &npu->streams[at.source];
    Fate fate = HIDDEN;

    if (!*left || at.place >= stream->count) {
        return OPEN;
    }
    --*left;
    if (is_at_an_end(npu, at)) {
        return HIDDEN;
    }
    for (unsigned port = 0; port < DESTINATIONS; port++) {
        unsigned convacc = (port - TO_CONVACC) / CONVACC_PORTS;
        InFrame value = frame_of(stream, at.place);
        Value next = {.place = at.place};

        if (!npu->ports[port].linked || npu->ports[port].source != at.source || !is_port_on(npu, port) ||
            !find_taken(&npu->ports[port], &value.frame)) {
            continue;
        }
        if (convacc < CONVACCS && (port - TO_CONVACC) % CONVACC_PORTS == SUMS) {
            next.source = FROM_CONVACC + convacc;
            if (find_sum(npu, convacc, value, next.source == at.source, &next.place)) {
                fate = worse(fate, fate_of(npu, next, left));
            }
        } else if (port - TO_ARITH < ARITHS * ARITH_PORTS || port - TO_ACTIV < ACTIVS) {
            next.source = port < TO_ARITH ? FROM_ACTIV + port - TO_ACTIV : FROM_ARITH + (port - TO_ARITH) / ARITH_PORTS;
            next.place = takes_all(&npu->ports[port]) ? at.place : place_in(&npu->streams[next.source], value);
            fate = worse(fate, fate_of(npu, next, left));
        } else {
            fate = worse(fate, n6npu_out_bytes(npu, npu_unit_of(at.source)) > 1 ? OPEN : SHOWN);
        }
    }
    return fate;
}

void npu_judge_saturated(N6Npu *npu)
{
    for (size_t i = 0; i < npu->hit_count; i++) {
        const NpuHit *hit = &npu->hits[i];
        unsigned source = hit->unit < ACTIV    ? FROM_CONVACC + hit->unit - CONVACC
                          : hit->unit < ARITH  ? FROM_ACTIV + hit->unit - ACTIV
                          : hit->unit < POOL   ? FROM_ARITH + hit->unit - ARITH
                                               : FROM_POOL + hit->unit - POOL;
        N6NpuSaturated *channel = channel_of(npu, hit->unit, hit->channel);
        unsigned left = MOST_FOLLOWED;
        Fate fate = fate_of(npu, (Value){source, hit->place}, &left);

        channel->lost += fate == SHOWN;
        channel->open += fate == OPEN;
    }
    npu->hit_count = 0;
}

void npu_forget_saturated(N6Npu *npu)
{
    for (unsigned i = 0; i < COUNTING_UNITS; i++) {
        if (npu->has_saturated[i]) {
            memset(npu->channels[i], 0, N6NPU_CHANNELS * sizeof(*npu->channels[i]));
            npu->has_saturated[i] = false;
        }
    }
    npu->hit_count = 0;
}

void npu_free_saturated(N6Npu *npu)
{
    for (unsigned i = 0; i < COUNTING_UNITS; i++) {
        free(npu->channels[i]);
    }
    free(npu->hits);
}

uint32_t n6npu_next_saturated(const N6Npu *npu, unsigned unit, uint32_t channel, N6NpuSaturated *found)
{
    unsigned index = unit - CONVACC;

    for (; index < COUNTING_UNITS && npu->has_saturated[index] && channel < N6NPU_CHANNELS; channel++) {
        *found = npu->channels[index][channel];
        if (found->below || found->above) {
            return channel;
        }
    }
    return UINT32_MAX;
}

unsigned n6npu_out_bytes(const N6Npu *npu, unsigned unit)
{
    if (unit - CONVACC < CONVACCS) {
        return FIELD(npu, unit, CONVACC, DFORMAT, OBYTES);
    }
    if (unit - ARITH < ARITHS) {
        return FIELD(npu, unit, ARITH, CTRL, OBYTES);
    }
    if (unit - ACTIV < ACTIVS) {
        return FIELD(npu, unit, ACTIV, CTRL, OBYTES);
    }
    return unit - POOL < POOLS ? FIELD(npu, unit, POOL, RNDCTRL, OBYTES) : 0;
}
