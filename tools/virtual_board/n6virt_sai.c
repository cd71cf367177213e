/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SAI1 and SAI2: each has two audio blocks, A and B, with a FIFO. A running block moves the words of a frame at the rate of its
 * clock: a transmitter's words go to a WAV file, a receiver hears the recording (n6virt_audio.c) in each slot. A slave of its
 * neighbour (CR1 SYNCEN) has the neighbour's rate. Not modelled: SPDIF, AC'97, companding, mute, and a slave of a part outside.
 *
 *   ,audio-out=FILE   WAV file with the words of the first block that transmits; a channel for each slot in use
 */
#include "n6virt.h"

#include "qemu/bswap.h"
#include "qemu/timer.h"

#define FIFO_WORDS 8
#define BLOCKS 4
#define OFFSET_OF_A N6_SAI_CR1_OFFSET
#define BLOCK_BYTES 0x20u
#define WAV_HEADER 44u
/* Frames after which the header of the WAV file is written again: the emulator may be killed. */
#define HEADER_EVERY 1024u
/* CR1 MODE */
enum { MASTER_OUT, MASTER_IN, SLAVE_OUT, SLAVE_IN };

typedef struct {
    uint32_t base; /* of its registers, minus the offsets of block A */
    const char *name;
    unsigned interrupt, request, select_pos;
    uint32_t select;
    QEMUTimer *frame;
    int64_t due;        /* guest time of the next frame */
    uint64_t remainder; /* of the division that gave `due` */
    uint64_t heard;
    uint32_t fifo[FIFO_WORDS];
    unsigned used;
    uint32_t flags;
} Block;

#define SAI(number, letter) \
    {.name = "SAI" #number "_" #letter, .interrupt = N6_IRQ_SAI##number##_##letter, .request = N6_DMA_REQUEST_SAI##number##_##letter, \
     .base = N6_SAI##number##_BASE, .select = N6_RCC_CCIPR7_SAI##number##SEL, .select_pos = N6_RCC_CCIPR7_SAI##number##SEL_POS}
static Block blocks[BLOCKS] = {SAI(1, A), SAI(1, B), SAI(2, A), SAI(2, B)};

static char *out_path;
static FILE *out;
static const Block *speaker; /* the block that is recorded */
static uint32_t out_bytes, out_hz;
static unsigned out_channels, out_width;

static uint32_t reg(const Block *block, uint32_t offset)
{
    return n6virt_get(block->base + offset);
}

#define PART(block, name, field) \
    ((reg(block, N6_SAI_##name##_OFFSET) & N6_SAI_##name##_##field) >> N6_SAI_##name##_##field##_POS)

static bool transmits(const Block *block)
{
    return !(PART(block, CR1, MODE) & MASTER_IN);
}

static unsigned words_of_frame(const Block *block)
{
    uint32_t slots = (1u << (PART(block, SLOTR, NBSLOT) + 1)) - 1;

    return ctpop32(PART(block, SLOTR, SLOTEN) & slots);
}

/* Return the frames a second; 0 with the reason. */
static uint64_t frames_hz(const Block *block, const char **reason)
{
    uint64_t hz = n6virt_audio_hz(n6virt_field(N6_RCC_CCIPR7, block->select, block->select_pos), n6virt_apb_hz(2));
    uint32_t divider = MAX(PART(block, CR1, MCKDIV), 1u);

    *reason = NULL;
    if (PART(block, CR1, SYNCEN) == 1) {
        const Block *other = &blocks[(block - blocks) ^ 1];

        if (PART(other, CR1, SYNCEN) || !PART(other, CR1, SAIEN)) {
            *reason = "its neighbour, whose clock it takes, does not run (CR1 SYNCEN)";
            return 0;
        }
        return frames_hz(other, reason);
    }
    if (PART(block, CR1, MODE) >= SLAVE_OUT) {
        *reason = "it takes its clock from a part outside (CR1 MODE), which the virtual board does not model";
    } else if (PART(block, CR1, PRTCFG)) {
        *reason = "the virtual board models the free protocol only (CR1 PRTCFG)";
    } else if (!hz) {
        *reason = "its kernel clock does not run (RCC CCIPR7, DIVENR, CR)";
    }
    hz /= divider * (PART(block, CR1, NODIV) ? PART(block, FRCR, FRL) + 1 : 256u * (PART(block, CR1, OSR) + 1));
    if (!*reason && !hz) {
        *reason = "its dividers leave less than one frame a second";
    }
    return *reason ? 0 : hz;
}

/* Return whether the FIFO asks for data, or has data. */
static bool asks(const Block *block)
{
    unsigned threshold = MIN(PART(block, CR2, FTH), 4u) * FIFO_WORDS / 4;

    if (!PART(block, CR1, SAIEN) && !transmits(block)) {
        return false;
    }
    return transmits(block) ? (block->used <= threshold && block->used < FIFO_WORDS) : block->used >= MAX(threshold, 1u);
}

/* Return FLVL: 0 empty, 5 full, between them the quarters. */
static uint32_t level(const Block *block)
{
    return !block->used ? 0 : block->used == FIFO_WORDS ? 5 : (block->used * 4 + FIFO_WORDS - 1) / FIFO_WORDS;
}

static uint32_t status(const Block *block)
{
    return block->flags | (asks(block) ? N6_SAI_SR_FREQ : 0) | level(block) << N6_SAI_SR_FLVL_POS;
}

static void update(const Block *block)
{
    n6virt_interrupt(block->interrupt, status(block) & reg(block, N6_SAI_IMR_OFFSET) & (N6_SAI_SR_FREQ | N6_SAI_SR_OVRUDR));
    n6virt_dma_request(block->request, asks(block) && PART(block, CR1, DMAEN));
}

static unsigned bits_of(const Block *block)
{
    static const unsigned bits[] = {8, 8, 8, 10, 16, 20, 24, 32};

    return bits[PART(block, CR1, DS)];
}

/* The recording of the speaker */

static void write_header(void)
{
    uint8_t header[WAV_HEADER] = "RIFF....WAVEfmt ";

    stl_le_p(header + 4, out_bytes + WAV_HEADER - 8);
    stl_le_p(header + 16, 16);
    stw_le_p(header + 20, 1);
    stw_le_p(header + 22, out_channels);
    stl_le_p(header + 24, out_hz);
    stl_le_p(header + 28, out_hz * out_channels * out_width);
    stw_le_p(header + 32, out_channels * out_width);
    stw_le_p(header + 34, 8 * out_width);
    memcpy(header + 36, "data", 4);
    stl_le_p(header + 40, out_bytes);
    if (fseek(out, 0, SEEK_SET) || fwrite(header, sizeof(header), 1, out) != 1 || fseek(out, 0, SEEK_END) || fflush(out)) {
        fclose(out);
        out = NULL;
    }
}

/* Record a word, with its bits at the top of 16 or 32. */
static void record(const Block *block, uint32_t word, uint64_t hz)
{
    unsigned bits = bits_of(block);
    uint8_t bytes[4];

    if (!out || (speaker && speaker != block)) {
        return;
    }
    if (!speaker) {
        speaker = block;
        out_hz = hz;
        out_channels = words_of_frame(block);
        out_width = bits <= 16 ? 2 : 4;
        write_header();
    }
    stl_le_p(bytes, word << (8 * out_width > bits ? 8 * out_width - bits : 0));
    if (out && fwrite(bytes, out_width, 1, out) == 1) {
        out_bytes += out_width;
    }
    if (out && !(out_bytes % (HEADER_EVERY * out_width * out_channels))) {
        write_header();
    }
}

/* Frames */

static void wait_for_next(Block *block, uint64_t hz)
{
    uint64_t ticks = n6virt_cpu_hz() + block->remainder;

    block->due += MAX(ticks / hz, 1);
    block->remainder = ticks % hz;
    timer_mod(block->frame, block->due);
}

static void receive(Block *block, uint64_t hz)
{
    if (block->used < FIFO_WORDS) {
        block->fifo[block->used++] = (uint32_t)n6virt_audio_sample(block->heard, hz) << 8 >> (32 - bits_of(block));
    } else {
        block->flags |= N6_SAI_SR_OVRUDR;
    }
}

static void transmit(Block *block, uint64_t hz, unsigned slots)
{
    if (!block->used) {
        block->flags |= N6_SAI_SR_OVRUDR;
        return;
    }
    while (slots--) {
        record(block, block->fifo[0], hz);
    }
    memmove(block->fifo, block->fifo + 1, sizeof(block->fifo) - sizeof(block->fifo[0]));
    block->used--;
}

static void on_frame(void *opaque)
{
    Block *block = opaque;
    const char *reason;
    uint64_t hz = frames_hz(block, &reason);
    unsigned slots;

    if (!hz || !PART(block, CR1, SAIEN)) {
        return; /* its clock was switched off */
    }
    /* Mono: a word is for both of two slots; a receiver leaves out the second. */
    slots = words_of_frame(block);
    for (unsigned step = PART(block, CR1, MONO) && slots == 2 ? 2 : 1; slots; slots -= step) {
        if (transmits(block)) {
            transmit(block, hz, step);
        } else {
            receive(block, hz);
        }
        /* The DMA serves a request between two words. */
        n6virt_dma_request(block->request, false);
        update(block);
    }
    block->heard++;
    wait_for_next(block, hz);
}

static void start_block(Block *block)
{
    const char *reason;
    uint64_t hz = frames_hz(block, &reason);

    if (!hz) {
        n6virt_finding("audio", block->base + N6_SAI_CR1_OFFSET, "%s moves no words: %s", block->name, reason);
        return;
    }
    block->due = n6virt_now();
    block->remainder = 0;
    wait_for_next(block, hz);
}

static Block *block_at(const N6VirtBlock *registers, uint32_t offset)
{
    unsigned number = (offset - OFFSET_OF_A) / BLOCK_BYTES;

    return offset >= OFFSET_OF_A && number < 2 ? &blocks[2 * (registers->base == N6_SAI2_BASE) + number] : NULL;
}

static uint32_t sai_read(const N6VirtBlock *registers, uint32_t offset, unsigned size)
{
    Block *block = block_at(registers, offset);
    uint32_t value = 0;

    switch (block ? registers->base + (offset & ~3u) - block->base : UINT32_MAX) {
    case N6_SAI_SR_OFFSET:
        return status(block);
    case N6_SAI_DR_OFFSET:
        if (!transmits(block) && block->used) {
            value = block->fifo[0];
            memmove(block->fifo, block->fifo + 1, sizeof(block->fifo) - sizeof(block->fifo[0]));
            block->used--;
            update(block);
        }
        return value;
    default:
        return n6virt_get(registers->base + offset);
    }
}

static void control(Block *block, uint32_t value)
{
    uint32_t before = reg(block, N6_SAI_CR1_OFFSET);

    n6virt_set(block->base + N6_SAI_CR1_OFFSET, value);
    if (value & ~before & N6_SAI_CR1_SAIEN) {
        start_block(block);
    } else if (before & ~value & N6_SAI_CR1_SAIEN) {
        timer_del(block->frame);
    }
}

static void sai_write(const N6VirtBlock *registers, uint32_t offset, uint32_t value, unsigned size)
{
    Block *block = block_at(registers, offset);

    switch (block ? registers->base + (offset & ~3u) - block->base : UINT32_MAX) {
    case N6_SAI_CR1_OFFSET:
        control(block, value);
        break;
    case N6_SAI_CR2_OFFSET:
        block->used = value & N6_SAI_CR2_FFLUSH ? 0 : block->used;
        n6virt_set(registers->base + offset, value & ~N6_SAI_CR2_FFLUSH);
        break;
    case N6_SAI_CLRFR_OFFSET:
        block->flags &= ~value;
        break;
    case N6_SAI_DR_OFFSET:
        if (transmits(block) && block->used < FIFO_WORDS) {
            block->fifo[block->used++] = value;
        } else {
            block->flags |= N6_SAI_SR_OVRUDR;
        }
        break;
    default:
        n6virt_set(registers->base + offset, value);
    }
    if (block) {
        update(block);
    }
}

/* The model covers the whole block: synchronisation with another SAI and the PDM interface are stored. */
static const N6VirtModel model = {.read = sai_read, .write = sai_write};

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "audio-out", &out_path);
}

static void start(void)
{
    n6virt_model(N6_SAI1_BASE, &model);
    n6virt_model(N6_SAI2_BASE, &model);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i].base += i % 2 * BLOCK_BYTES;
        blocks[i].frame = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_frame, &blocks[i]);
    }
    out = n6virt_open(out_path, "wb", "the WAV file");
}

static void reset(void)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        timer_del(blocks[i].frame);
        blocks[i].used = blocks[i].flags = 0;
        blocks[i].heard = 0;
    }
}

static void summarise(GString *summary)
{
    if (out && speaker) {
        write_header();
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset, .summarise = summarise};
N6VIRT_MODULE(module)
