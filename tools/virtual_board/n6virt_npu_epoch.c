/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The NPU's registers, its epochs, and the epoch controller, which writes registers and starts epochs by the instructions of a
 * blob in memory.
 */
#include "n6virt_npu_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CTRL_EN (1u << 0)
#define CTRL_CLR (1u << 1)
#define CTRL_CONFCLR (1u << 30)
#define RUNNING (1u << 31)
/* End of the configuration registers; coefficients and tables follow. */
#define CONFIGURATION 0x400u
#define LINES 4
/* INTCTRL: pending interrupts. */
#define DONE_OF_BLOB (1u << 28)
#define ERROR_OF_BLOB (1u << 30)

#define UNIT(name, first, count, version, clock, bit) {first, count, version},
static const struct {
    uint32_t first, count, version;
} kinds[] = {N6VIRT_NPU_UNITS(UNIT)};

static uint32_t version_of(unsigned unit)
{
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (unit - kinds[i].first < kinds[i].count) {
            return kinds[i].version;
        }
    }
    return 0;
}

/* Registers */

static void reset_configuration(N6Npu *npu, unsigned unit)
{
    memset(npu->registers[unit], 0, CONFIGURATION);
    if (unit >= ARITH && unit < ARITH + ARITHS) {
        npu->registers[unit][0] = 2u << NPU_ARITH_CTRL_OBYTES_POS;
    }
    if (unit >= CONVACC && unit < CONVACC + CONVACCS) {
        npu->registers[unit][NPU_CONVACC_AFILT / 4] = npu->registers[unit][NPU_CONVACC_KFILT / 4] = 1;
    }
}

void n6npu_reset(N6Npu *npu)
{
    memset(npu->registers, 0, sizeof(npu->registers));
    memset(npu->coefficients, 0, sizeof(npu->coefficients));
    for (unsigned unit = 0; unit < UNITS; unit++) {
        reset_configuration(npu, unit);
    }
    npu->has_work = false;
}

N6Npu *n6npu_new(const N6NpuMemory *memory)
{
    N6Npu *npu = calloc(1, sizeof(*npu));

    if (npu) {
        npu->memory = *memory;
        npu->frame_of[STRENG] = npu_engine_frame;
        npu->frame_of[CONVACC] = npu_convacc_frame;
        npu->frame_of[ACTIV] = npu_activ_frame;
        npu->frame_of[ARITH] = npu_arith_frame;
        npu->frame_of[POOL] = npu_pool_frame;
        n6npu_reset(npu);
    }
    return npu;
}

void n6npu_free(N6Npu *npu)
{
    npu_free_streams(npu);
    npu_free_saturated(npu);
    free(npu->blob);
    free(npu);
}

static void write_coefficient(N6Npu *npu, unsigned index, uint32_t offset, uint32_t value)
{
    bool translate = reg(npu, ARITH + index, NPU_ARITH_TRANSLATEADDR) & 1;

    npu->coefficients[index][(translate ? offset - CONFIGURATION : offset) / 4] = value;
}

static void write_control(N6Npu *npu, unsigned unit, uint32_t value)
{
    uint32_t before = npu->registers[unit][0];

    if (value & CTRL_CONFCLR) {
        reset_configuration(npu, unit);
        value = (value & CTRL_CLR) ? 0 : npu->registers[unit][0];
    }
    /* After CLR the pipeline is empty, and nothing runs. */
    if (value & CTRL_CLR) {
        value = 0;
    }
    npu->registers[unit][0] = value & ~(CTRL_CLR | CTRL_CONFCLR | RUNNING);
    if (!(before & CTRL_EN) && value & CTRL_EN && ((unit >= STRENG && unit < STRENG + ENGINES) || unit == EPOCHCTRL)) {
        npu->registers[unit][0] |= RUNNING;
        npu->has_work = true;
    }
}

static void write_interrupts(N6Npu *npu, uint32_t offset, uint32_t value)
{
    uint32_t *pending = &npu->registers[INTCTRL][NPU_INTCTRL_INTREG / 4];

    switch (offset) {
    case NPU_INTCTRL_INTREG:
        return;
    case NPU_INTCTRL_INTSET:
        *pending |= value;
        return;
    case NPU_INTCTRL_INTCLR:
        *pending &= ~value;
        return;
    default:
        npu->registers[INTCTRL][offset / 4] = value;
    }
}

void npu_set(N6Npu *npu, unsigned unit, uint32_t offset, uint32_t value)
{
    if (unit >= UNITS || offset >= UNIT_BYTES || offset == NPU_VERSION) {
        return;
    }
    if (offset == 0) {
        write_control(npu, unit, value);
    } else if (unit == INTCTRL) {
        write_interrupts(npu, offset, value);
    } else if (unit >= ARITH && unit < ARITH + ARITHS && offset >= CONFIGURATION) {
        write_coefficient(npu, unit - ARITH, offset, value);
    } else if (unit >= STRENG && unit < STRENG + ENGINES && offset == NPU_STRENG_IRQ) {
        npu->registers[unit][offset / 4] &= ~value;
    } else if (unit == EPOCHCTRL && offset == NPU_EPOCHCTRL_IRQ) {
        npu->registers[unit][offset / 4] &= ~value;
    } else {
        npu->registers[unit][offset / 4] = value;
    }
}

uint32_t n6npu_read(N6Npu *npu, uint32_t offset)
{
    unsigned unit = offset / UNIT_BYTES;

    if (unit >= UNITS) {
        return 0;
    }
    return offset % UNIT_BYTES == NPU_VERSION ? version_of(unit) : npu->registers[unit][offset % UNIT_BYTES / 4];
}

void n6npu_write(N6Npu *npu, uint32_t offset, uint32_t value)
{
    npu_set(npu, offset / UNIT_BYTES, offset % UNIT_BYTES, value);
}

bool n6npu_has_work(const N6Npu *npu)
{
    return npu->has_work;
}

uint32_t n6npu_label(const N6Npu *npu)
{
    return npu->epoch.label;
}

const N6NpuWork *n6npu_work(const N6Npu *npu)
{
    return &npu->work;
}

void n6npu_watch(N6Npu *npu, const N6NpuWatch *watch)
{
    npu->watch = *watch;
}

const N6NpuUnitWork *n6npu_unit_work(const N6Npu *npu, unsigned unit)
{
    return &npu->unit_work[unit < UNITS ? unit : 0];
}

uint32_t n6npu_next_unit(const N6Npu *npu, uint32_t unit)
{
    for (unit = unit < STRENG ? STRENG : unit; unit <= RECBUF; unit++) {
        if (is_on(npu, unit)) {
            return unit;
        }
    }
    return UINT32_MAX;
}

static void tell(const N6Npu *npu, void (*told)(void *opaque, const N6NpuEpoch *epoch))
{
    if (told) {
        told(npu->watch.opaque, &npu->epoch);
    }
}

/* Return the level of a line. A set bit masks. OR: any unmasked interrupt is pending; AND: all unmasked ones are, and there is
 * at least one. */
bool n6npu_line(const N6Npu *npu, unsigned line)
{
    uint32_t pending = reg(npu, INTCTRL, NPU_INTCTRL_INTREG);
    uint32_t any = ~reg(npu, INTCTRL, NPU_INTCTRL_INTORMSK + 4 * line), all = ~reg(npu, INTCTRL, NPU_INTCTRL_INTANDMSK + 4 * line);

    return line < LINES && ((pending & any) || (all && (pending & all) == all));
}

/* Epochs */

#define UNMODELLED(kind, register_, offset, field, position, width) {#kind, kind, offset, #register_, #field, position, width},
static const struct {
    const char *kind;
    unsigned unit;
    uint32_t offset;
    const char *register_, *field;
    unsigned position, width;
} unmodelled[] = {NPU_UNMODELLED(UNMODELLED)};

static unsigned count_of(unsigned first)
{
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].first == first) {
            return kinds[i].count;
        }
    }
    return 0;
}

static void refuse_unmodelled(N6Npu *npu)
{
    for (unsigned i = 0; i < sizeof(unmodelled) / sizeof(unmodelled[0]); i++) {
        for (unsigned unit = unmodelled[i].unit; unit < unmodelled[i].unit + count_of(unmodelled[i].unit); unit++) {
            uint32_t value = bits(reg(npu, unit, unmodelled[i].offset), unmodelled[i].position, unmodelled[i].width);

            if (is_on(npu, unit) && value) {
                npu_stop(npu, "%s %s %s is %u: not modelled", n6npu_unit_name(unit), unmodelled[i].register_, unmodelled[i].field, value);
            }
        }
    }
    for (unsigned unit = 0; unit < UNITS; unit++) {
        if (is_on(npu, unit) && ((unit >= DECUN && unit < ACTIV) || unit == RECBUF)) {
            npu_stop(npu, "%s is on: not modelled", n6npu_unit_name(unit));
        }
    }
}

/* Contexts count pixels, not frames. INFERRED: the bit's position. */
#define CONTEXTS_OF_PIXELS (1u << 23)

static void read_switch(N6Npu *npu)
{
    for (unsigned i = 0; i < DESTINATIONS; i++) {
        uint32_t value = reg(npu, STRSWITCH, 8 + 4 * i);
        unsigned first = bits(value, 1, 6), second = bits(value, 17, 6);
        Port *port = &npu->ports[i];

        *port = (Port){
            .linked = value & 0x00010001u,
            .source = value & 1 ? first : second,
            .take = {value & 1, value >> 16 & 1},
            .frames = {bits(value, 8, 8), bits(value, 24, 8)},
        };
        port->has_contexts = port->frames[0] || port->frames[1];
        if (port->linked && port->has_contexts && first != second) {
            npu_stop(npu, "STRSWITCH +0x%02X is 0x%08x: two sources for one destination are not modelled", 8 + 4 * i, value);
        }
        if (port->linked && port->has_contexts && value & CONTEXTS_OF_PIXELS) {
            npu_stop(npu, "STRSWITCH +0x%02X is 0x%08x: contexts that count pixels are not modelled", 8 + 4 * i, value);
        }
        if (port->linked && port->source >= SOURCES) {
            npu_stop(npu, "STRSWITCH +0x%02X is 0x%08x: there is no source %u", 8 + 4 * i, value, port->source);
        }
    }
}

static bool writes(const N6Npu *npu, unsigned engine)
{
    return is_on(npu, STRENG + engine) && FIELD(npu, STRENG + engine, STRENG, CTRL, DIR);
}

/* Write all frames. Writers take turns, so that sums in memory are read before they are written anew. */
static void write_all(N6Npu *npu)
{
    uint32_t most = 0;

    for (unsigned engine = 0; engine < ENGINES; engine++) {
        if (writes(npu, engine) && npu_engine_frames(npu, engine) > most) {
            most = npu_engine_frames(npu, engine);
        }
    }
    for (uint32_t turn = 0; turn < most; turn++) {
        for (unsigned engine = 0; engine < ENGINES; engine++) {
            uint32_t frames = writes(npu, engine) ? npu_engine_frames(npu, engine) : 0;
            uint64_t due = (uint64_t)(turn + 1) * frames / most;

            if (due) {
                npu_write_up_to(npu, engine, due - 1);
            }
        }
    }
}

/* Count the elements and frames of units whose output is a stream, and the frames of engines that write. */
static void count_elements(N6Npu *npu)
{
    for (unsigned source = 0; source < SOURCES; source++) {
        const Stream *stream = &npu->streams[source];
        unsigned unit = npu_unit_of(source);

        if (stream->frames) {
            npu->unit_work[unit].elements += stream->count;
            npu->unit_work[unit].frames += stream->frames;
        }
    }
    for (unsigned engine = 0; engine < ENGINES; engine++) {
        npu->unit_work[STRENG + engine].frames += npu->frames_written[engine];
    }
}

void npu_epoch(N6Npu *npu)
{
    bool any = false;

    tell(npu, npu->watch.begins);
    memset(npu->unit_work, 0, sizeof(npu->unit_work));
    npu_forget_saturated(npu);
    npu->steps = 0;
    memset(npu->frames_written, 0, sizeof(npu->frames_written));
    memset(npu->ariths, 0, sizeof(npu->ariths));
    refuse_unmodelled(npu);
    read_switch(npu);
    for (unsigned engine = 0; engine < ENGINES; engine++) {
        any |= writes(npu, engine);
    }
    if (!any) {
        npu_stop(npu, "no stream engine writes to memory, so the epoch never ends");
    }
    write_all(npu);
    for (unsigned engine = 0; engine < ENGINES; engine++) {
        npu->registers[STRENG + engine][0] &= ~RUNNING;
    }
    npu->work.epochs++;
    count_elements(npu);
    npu_judge_saturated(npu);
    npu_empty_streams(npu);
    tell(npu, npu->watch.computed);
}

/* Blobs */

#define CONTAINER_FAMILY 0xECBFu
#define HEADER_WORDS 2u
#define MOST_WORDS (1u << 22)

enum { WRITE_FIELD = 0, WRITE_BITS = 1, WRITE_ONE = 2, WRITE_MANY = 3, POLL = 4, END = 12, LABEL = 29 };

/* A blob. words: of its instructions. bytes: its header and instructions, which are read at once. */
typedef struct {
    uint32_t address, words, at;
    const uint8_t *bytes;
} Blob;

static uint32_t word_of(const uint8_t *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t fetch(N6Npu *npu, Blob *blob)
{
    if (blob->at >= blob->words) {
        npu_stop(npu, "the blob at 0x%08x ends after %u words without an end", blob->address, blob->words);
    }
    return word_of(blob->bytes + 4 * (HEADER_WORDS + blob->at++));
}

static void read_blob(N6Npu *npu, uint32_t address, uint8_t *to, uint32_t bytes)
{
    if (!npu->memory.read(npu->memory.opaque, address, to, bytes)) {
        npu_stop(npu, "the epoch controller cannot read %u bytes of its blob at 0x%08x", bytes, address);
    }
}

static uint32_t word_at(N6Npu *npu, uint32_t address)
{
    uint8_t bytes[4];

    read_blob(npu, address, bytes, sizeof(bytes));
    return word_of(bytes);
}

/* Return the word of a container with the offset of its blob, or 0 if the first word is not that of a container. */
static uint32_t offset_word(N6Npu *npu, uint32_t address, uint32_t magic)
{
#define N6_CONTAINER(first, word) {first, word},
    static const struct {
        uint32_t magic, word;
    } containers[] = {NPU_BLOB_CONTAINERS(N6_CONTAINER)};
#undef N6_CONTAINER

    if (magic >> 16 != CONTAINER_FAMILY) {
        return 0;
    }
    for (unsigned i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
        if (containers[i].magic == magic) {
            return containers[i].word;
        }
    }
    npu_stop(npu, "the blob at 0x%08x is in an unknown container, 0x%08x", address, magic);
}

static Blob find_blob(N6Npu *npu)
{
    Blob blob = {.address = reg(npu, EPOCHCTRL, NPU_EPOCHCTRL_ADDR)};
    uint32_t magic = word_at(npu, blob.address);
    uint32_t word = offset_word(npu, blob.address, magic);

    if (word) {
        blob.address += word_at(npu, blob.address + 4 * word);
        magic = word_at(npu, blob.address);
    }
    if (magic != NPU_BLOB_MAGIC) {
        npu_stop(npu, "the epoch controller finds no blob at 0x%08x, but 0x%08x", blob.address, magic);
    }
    blob.words = word_at(npu, blob.address + 4);
    if (blob.words > MOST_WORDS) {
        npu_stop(npu, "the blob at 0x%08x has %u words", blob.address, blob.words);
    }
    npu->blob = realloc(npu->blob, 4 * (size_t)(HEADER_WORDS + blob.words));
    if (!npu->blob) {
        npu_stop(npu, "the host has no memory for a blob of %u words", blob.words);
    }
    read_blob(npu, blob.address, npu->blob, 4 * (HEADER_WORDS + blob.words));
    blob.bytes = npu->blob;
    return blob;
}

static void check_unit(N6Npu *npu, const Blob *blob, unsigned unit)
{
    if (unit >= UNITS || unit == EPOCHCTRL) {
        npu_stop(npu, "the blob at 0x%08x has no access to unit %u, word %u", blob->address, unit, blob->at - 1);
    }
}

static void write_field(N6Npu *npu, unsigned unit, uint32_t offset, unsigned low, unsigned high, uint32_t value)
{
    uint32_t mask = (high - low == 31 ? UINT32_MAX : ((1u << (high - low + 1)) - 1) << low);

    npu_set(npu, unit, offset, (reg(npu, unit, offset) & ~mask) | (value << low & mask));
}

static void poll(N6Npu *npu, Blob *blob, unsigned unit, uint32_t offset, unsigned low, unsigned high)
{
    uint32_t wanted, value;

    (void)fetch(npu, blob); /* the interval or the limit of the wait */
    wanted = fetch(npu, blob);
    if (npu->has_work) {
        npu_epoch(npu);
        npu->has_work = false;
    }
    value = bits(reg(npu, unit, offset), low, high - low + 1);
    if (value != wanted) {
        npu_stop(npu, "the blob at 0x%08x waits for ever, word %u: %s +0x%02X bits %u to %u are %u, not %u", blob->address, blob->at - 3,
                 n6npu_unit_name(unit), offset, low, high, value, wanted);
    }
}

/* Execute an instruction of the blob. Return false at its end. */
static bool step(N6Npu *npu, Blob *blob)
{
    uint32_t word = fetch(npu, blob), low = bits(word, 5, 5), high = bits(word, 10, 5), offset = 4 * bits(word, 16, 10);
    unsigned unit = word >> 26, count = bits(word, 5, 11);

    switch (word & 31) {
    case END:
        return false;
    case LABEL:
        if (npu->epoch.label != word >> 5) {
            tell(npu, npu->watch.label_ends);
        }
        npu->epoch.label = npu->registers[EPOCHCTRL][NPU_EPOCHCTRL_LABEL / 4] = word >> 5;
        return true;
    case WRITE_FIELD:
        check_unit(npu, blob, unit);
        if (high < low) {
            npu_stop(npu, "the blob at 0x%08x writes bits %u to %u, word %u", blob->address, low, high, blob->at - 1);
        }
        write_field(npu, unit, offset, low, high, fetch(npu, blob));
        return true;
    case WRITE_BITS:
        check_unit(npu, blob, unit);
        high = low + bits(word, 10, 3);
        write_field(npu, unit, 4 * bits(word, 21, 5), low, high > 31 ? 31 : high, bits(word, 13, 8));
        return true;
    case WRITE_ONE:
    case WRITE_MANY:
        check_unit(npu, blob, unit);
        for (unsigned i = 0; i < count; i++) {
            npu_set(npu, unit, offset + ((word & 31) == WRITE_MANY ? 4 * i : 0), fetch(npu, blob));
        }
        return true;
    case POLL:
        check_unit(npu, blob, unit);
        if (high < low) {
            npu_stop(npu, "the blob at 0x%08x polls bits %u to %u, word %u", blob->address, low, high, blob->at - 1);
        }
        poll(npu, blob, unit, offset, low, high);
        return true;
    default:
        npu_stop(npu, "the blob at 0x%08x has an unknown instruction %u, word %u", blob->address, word & 31, blob->at - 1);
    }
}

void npu_blob(N6Npu *npu)
{
    Blob blob = find_blob(npu);

    if (npu->watch.blob) {
        npu->watch.blob(npu->watch.opaque, blob.address, blob.bytes, HEADER_WORDS + blob.words);
    }
    npu->has_work = false;
    while (step(npu, &blob)) {
        npu->registers[EPOCHCTRL][NPU_EPOCHCTRL_BC / 4]++;
    }
    tell(npu, npu->watch.label_ends);
    npu->has_work = false;
}

const char *n6npu_run(N6Npu *npu)
{
    bool by_blob = reg(npu, EPOCHCTRL, 0) & RUNNING;

    npu->reason[0] = '\0';
    if (setjmp(npu->stop)) {
        npu_release(npu, NULL);
        npu_empty_streams(npu);
        npu->has_work = false;
        if (by_blob) {
            npu->registers[INTCTRL][NPU_INTCTRL_INTREG / 4] |= ERROR_OF_BLOB;
        }
        return npu->reason;
    }
    npu->has_work = false;
    npu->epoch = (N6NpuEpoch){.by_blob = by_blob};
    if (by_blob) {
        refuse_unmodelled(npu);
        npu_blob(npu);
        npu->registers[EPOCHCTRL][0] &= ~RUNNING;
        npu->registers[EPOCHCTRL][NPU_EPOCHCTRL_IRQ / 4] |= 1;
        npu->registers[INTCTRL][NPU_INTCTRL_INTREG / 4] |= DONE_OF_BLOB;
        return NULL;
    }
    npu_epoch(npu);
    for (unsigned engine = 0; engine < ENGINES; engine++) {
        if (writes(npu, engine)) {
            npu->registers[INTCTRL][NPU_INTCTRL_INTREG / 4] |= 1u << engine;
        }
    }
    return NULL;
}
