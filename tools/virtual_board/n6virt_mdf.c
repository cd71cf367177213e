/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * MDF and ADF: filters that make samples of a microphone's bit stream. A filter takes its samples from the recording, at the
 * rate of clocks and dividers, whatever its scaling (DFLTCICR SCALE) is. A microphone's bits, sound activity, limits and short
 * circuits are not modelled.
 */
#include "n6virt.h"

#include "qemu/timer.h"

#define FIRST_FILTER N6_MDF_SITFCR_OFFSET
#define FILTER_BYTES 0x80u
#define FIFO_WORDS 4
#define HALF_FULL 2
/* DFLTCR ACQMOD: all other values wait for triggers. */
enum { CONTINUOUS, SINGLE };
/* SITFCR SCKSRC: clocks that the block makes; all other values are external clocks. */
enum { CLOCK_0, CLOCK_1 };

typedef struct {
    const N6VirtBlock *block;
    unsigned number;
    uint32_t base; /* of its registers, minus the offsets of filter 0 */
    unsigned interrupt, request;
    QEMUTimer *sample;
    int64_t due;        /* guest time of the next sample */
    uint64_t remainder; /* of the division that gave `due` */
    uint64_t heard;     /* samples so far, including discarded ones */
    unsigned to_discard;
    uint32_t fifo[FIFO_WORDS];
    unsigned used;
    uint32_t flags;
} Filter;

static Filter adf[1], mdf[6];

static uint32_t reg(const Filter *filter, uint32_t offset)
{
    return n6virt_get(filter->base + offset);
}

#define PART(filter, name, field) \
    ((reg(filter, N6_MDF_##name##_OFFSET) & N6_MDF_##name##_##field) >> N6_MDF_##name##_##field##_POS)

static uint64_t kernel_hz(const Filter *filter)
{
    uint32_t choice = filter->block->base == N6_ADF1_BASE
                          ? n6virt_field(N6_RCC_CCIPR1, N6_RCC_CCIPR1_ADF1SEL, N6_RCC_CCIPR1_ADF1SEL_POS)
                          : n6virt_field(N6_RCC_CCIPR5, N6_RCC_CCIPR5_MDF1SEL, N6_RCC_CCIPR5_MDF1SEL_POS);

    return n6virt_audio_hz(choice, n6virt_ahb_hz());
}

/* Return the bits a second of the filter's stream. Each filter reads its own interface, whose clock the block makes. */
static uint64_t stream_hz(const Filter *filter, const char **reason)
{
    uint32_t generator = n6virt_get(filter->block->base + N6_MDF_CKGCR_OFFSET), source = PART(filter, SITFCR, SCKSRC);
    uint32_t enabled = source == CLOCK_0 ? N6_MDF_CKGCR_CCK0EN | N6_MDF_CKGCR_CCK0DIR : N6_MDF_CKGCR_CCK1EN | N6_MDF_CKGCR_CCK1DIR;
    uint64_t hz = kernel_hz(filter);

    *reason = NULL;
    if (PART(filter, DFLTCICR, DATSRC)) {
        *reason = "its data come from an ADC (DFLTCICR DATSRC), which the virtual board does not model";
    } else if (!hz) {
        *reason = "its kernel clock does not run (RCC CCIPR1 or CCIPR5, DIVENR, CR)";
    } else if (!(generator & N6_MDF_CKGCR_CKDEN)) {
        *reason = "the clock generator is off (CKGCR CKDEN)";
    } else if (!(reg(filter, N6_MDF_SITFCR_OFFSET) & N6_MDF_SITFCR_SITFEN)) {
        *reason = "its serial interface is off (SITFCR SITFEN)";
    } else if (source > CLOCK_1 || (generator & enabled) != enabled) {
        *reason = "the microphone gets no clock (SITFCR SCKSRC; CKGCR CCK0EN and CCK0DIR, or CCK1EN and CCK1DIR)";
    }
    hz /= ((generator & N6_MDF_CKGCR_PROCDIV) >> N6_MDF_CKGCR_PROCDIV_POS) + 1;
    return hz / (((generator & N6_MDF_CKGCR_CCKDIV) >> N6_MDF_CKGCR_CCKDIV_POS) + 1);
}

static uint64_t samples_hz(const Filter *filter, const char **reason)
{
    uint64_t hz = stream_hz(filter, reason) / (PART(filter, DFLTCICR, MCICD) + 1);

    if (!PART(filter, DFLTRSFR, RSFLTBYP) && !PART(filter, DFLTRSFR, RSFLTD)) {
        hz /= 4;
    }
    hz /= PART(filter, DFLTINTR, INTVAL) + 1;
    if (!*reason && !hz) {
        *reason = "its dividers leave less than one sample a second";
    }
    return *reason ? 0 : hz;
}

static uint32_t status(const Filter *filter)
{
    bool threshold = reg(filter, N6_MDF_DFLTCR_OFFSET) & N6_MDF_DFLTCR_FTH ? filter->used >= HALF_FULL : filter->used;

    return filter->flags | (threshold ? N6_MDF_DFLTISR_FTHF : 0) | (filter->used ? N6_MDF_DFLTISR_RXNEF : 0);
}

static void update(Filter *filter)
{
    uint32_t now = status(filter);

    n6virt_interrupt(filter->interrupt, now & reg(filter, N6_MDF_DFLTIER_OFFSET) & (N6_MDF_DFLTISR_FTHF | N6_MDF_DFLTISR_DOVRF));
    n6virt_dma_request(filter->request, now & N6_MDF_DFLTISR_FTHF && reg(filter, N6_MDF_DFLTCR_OFFSET) & N6_MDF_DFLTCR_DMAEN);
}

/* Schedule the next sample one period later, without an error that adds up. */
static void wait_for_next(Filter *filter, uint64_t hz)
{
    uint64_t ticks = n6virt_cpu_hz() + filter->remainder;

    filter->due += ticks / hz;
    filter->remainder = ticks % hz;
    timer_mod(filter->sample, filter->due);
}

static void on_sample(void *opaque)
{
    Filter *filter = opaque;
    const char *reason;
    uint64_t hz = samples_hz(filter, &reason);
    uint32_t value;

    if (!hz) {
        return; /* its clock was switched off */
    }
    value = (uint32_t)n6virt_audio_sample(filter->heard++, hz) << N6_MDF_DFLTDR_DR_POS;
    if (filter->to_discard) {
        filter->to_discard--;
    } else if (filter->used < FIFO_WORDS) {
        filter->fifo[filter->used++] = value;
        if (PART(filter, DFLTCR, ACQMOD) == SINGLE) {
            update(filter);
            return;
        }
    } else {
        filter->flags |= N6_MDF_DFLTISR_DOVRF;
    }
    wait_for_next(filter, hz);
    update(filter);
}

static void start_filter(Filter *filter)
{
    const char *reason;
    uint64_t hz = samples_hz(filter, &reason);

    filter->used = 0;
    filter->remainder = 0;
    filter->to_discard = PART(filter, DFLTCR, NBDIS);
    if (PART(filter, DFLTCR, ACQMOD) > SINGLE) {
        reason = "it waits for a trigger (DFLTCR ACQMOD), which the virtual board does not model";
    }
    if (reason) {
        n6virt_finding("audio", filter->base + N6_MDF_DFLTCR_OFFSET, "Filter %u of %s gives no samples: %s", filter->number,
                       filter->block->name, reason);
        return;
    }
    filter->due = n6virt_now();
    wait_for_next(filter, hz);
}

static Filter *filter_at(const N6VirtBlock *block, uint32_t offset)
{
    Filter *filters = block->base == N6_ADF1_BASE ? adf : mdf;
    unsigned number = (offset - FIRST_FILTER) / FILTER_BYTES, most = filters == adf ? ARRAY_SIZE(adf) : ARRAY_SIZE(mdf);

    return offset >= FIRST_FILTER && number < most ? &filters[number] : NULL;
}

static uint32_t take(Filter *filter)
{
    uint32_t value = filter->fifo[0];

    if (!filter->used) {
        return 0;
    }
    memmove(filter->fifo, filter->fifo + 1, sizeof(filter->fifo) - sizeof(filter->fifo[0]));
    filter->used--;
    update(filter);
    return value;
}

static uint32_t active(uint32_t value, uint32_t enabled, uint32_t bits)
{
    return value & enabled ? value | bits : value & ~bits;
}

static uint32_t mdf_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    Filter *filter = filter_at(block, offset);
    uint32_t value = n6virt_get(block->base + (offset & ~3u));

    if (offset == N6_MDF_CKGCR_OFFSET) {
        return active(value, N6_MDF_CKGCR_CKDEN, N6_MDF_CKGCR_CCKACTIVE);
    }
    if (!filter) {
        return value;
    }
    switch (block->base + (offset & ~3u) - filter->base) {
    case N6_MDF_SITFCR_OFFSET:
        return active(value, N6_MDF_SITFCR_SITFEN, N6_MDF_SITFCR_SITFACTIVE);
    case N6_MDF_DFLTCR_OFFSET:
        return active(value, N6_MDF_DFLTCR_DFLTEN, N6_MDF_DFLTCR_DFLTACTIVE | N6_MDF_DFLTCR_DFLTRUN);
    case N6_MDF_DFLTISR_OFFSET:
        return status(filter);
    case N6_MDF_DFLTDR_OFFSET: /* also its upper half alone */
        return take(filter) >> 8 * (offset & 3);
    default:
        return value;
    }
}

static void mdf_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    Filter *filter = filter_at(block, offset);
    uint32_t before = n6virt_get(block->base + offset);

    if (filter && block->base + offset - filter->base == N6_MDF_DFLTISR_OFFSET) {
        filter->flags &= ~value;
        update(filter);
        return;
    }
    n6virt_set(block->base + offset, value);
    if (!filter) {
        return;
    }
    if (block->base + offset - filter->base == N6_MDF_DFLTCR_OFFSET) {
        if (value & ~before & N6_MDF_DFLTCR_DFLTEN) {
            start_filter(filter);
        } else if (before & ~value & N6_MDF_DFLTCR_DFLTEN) {
            timer_del(filter->sample);
            filter->used = 0;
        }
    }
    update(filter);
}

/* The model covers the whole block: settings for the microphone's bits are stored. */
static const N6VirtModel model = {.read = mdf_read, .write = mdf_write};

static void start_filters(uint32_t base, Filter *filters, unsigned count, unsigned interrupt, unsigned request)
{
    n6virt_model(base, &model);
    for (unsigned i = 0; i < count; i++) {
        filters[i].block = n6virt_block_at(base);
        filters[i].number = i;
        filters[i].base = base + i * FILTER_BYTES;
        filters[i].interrupt = interrupt + i;
        filters[i].request = request + i;
        filters[i].sample = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_sample, &filters[i]);
    }
}

static void start(void)
{
    start_filters(N6_ADF1_BASE, adf, ARRAY_SIZE(adf), N6_IRQ_ADF1_FLT0, N6_DMA_REQUEST_ADF1_FLT0);
    start_filters(N6_MDF1_BASE, mdf, ARRAY_SIZE(mdf), N6_IRQ_MDF1_FLT0, N6_DMA_REQUEST_MDF1_FLT0);
}

static void reset_filters(Filter *filters, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        timer_del(filters[i].sample);
        filters[i].used = filters[i].flags = 0;
        filters[i].heard = 0;
    }
}

static void reset(void)
{
    reset_filters(adf, ARRAY_SIZE(adf));
    reset_filters(mdf, ARRAY_SIZE(mdf));
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
