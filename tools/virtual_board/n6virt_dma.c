/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * GPDMA1 and HPDMA1: channels that move data at a block's request, or at once, in single blocks or linked lists. They read and
 * write memory as any bus master does, past the CPU's data cache. Repeated blocks (2D), triggers and the exchange of bytes are
 * not modelled; a channel that uses them causes a finding.
 */
#include "n6virt.h"

#include "exec/address-spaces.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"

#define CHANNELS 16
#define CHANNEL_BYTES 0x80u
#define FIRST_CHANNEL N6_DMA_CLBAR_OFFSET
#define REQUESTS 256
#define MAX_WIDTH 8
/* CTR1 PAM, for different widths. 0: zeros on the left, or the left is cut off; 1: a sign there, or the right is cut off. */
enum { PAM_RIGHT, PAM_SIGN };
/* CTR2 TCEM: events at the end of the last block of a list only. */
enum { EVENT_AT_LAST = 3 };
#define FLAGS \
    (N6_DMA_CSR_TCF | N6_DMA_CSR_HTF | N6_DMA_CSR_DTEF | N6_DMA_CSR_ULEF | N6_DMA_CSR_USEF | N6_DMA_CSR_SUSPF | N6_DMA_CSR_TOF)

typedef struct {
    const N6VirtBlock *block;
    unsigned number, interrupt;
    uint32_t base; /* of its registers, minus the offsets of channel 0 */
    uint32_t flags;
    uint32_t block_bytes; /* size of the running block when it began */
    uint8_t packed[2 * MAX_WIDTH];
    unsigned packed_bytes;
    uint32_t pc; /* of the instruction that enabled it */
    QEMUTimer *serve;
} Channel;

static Channel channels[2][CHANNELS];
static bool asked[REQUESTS];

static uint32_t reg(const Channel *channel, uint32_t offset)
{
    return n6virt_get(channel->base + offset);
}

static void set(const Channel *channel, uint32_t offset, uint32_t value)
{
    n6virt_set(channel->base + offset, value);
}

#define PART(channel, name, field) \
    ((reg(channel, N6_DMA_##name##_OFFSET) & N6_DMA_##name##_##field) >> N6_DMA_##name##_##field##_POS)
#define HAS(channel, name, field) (reg(channel, N6_DMA_##name##_OFFSET) & N6_DMA_##name##_##field)

static void update(const Channel *channel)
{
    n6virt_interrupt(channel->interrupt, channel->flags & reg(channel, N6_DMA_CCR_OFFSET) & FLAGS);
}

static void stop(Channel *channel, uint32_t flag)
{
    set(channel, N6_DMA_CCR_OFFSET, reg(channel, N6_DMA_CCR_OFFSET) & ~N6_DMA_CCR_EN);
    channel->flags |= flag;
}

/* Return whether the channel has work now. */
static bool is_asked(const Channel *channel)
{
    return HAS(channel, CCR, EN) && !HAS(channel, CCR, SUSP) && (HAS(channel, CTR2, SWREQ) || asked[PART(channel, CTR2, REQSEL)]);
}

/* Serve the channel after the access that asks, not within it: serving a block accesses it, too. Without a block's request, a
 * data block takes a tick for each datum. */
static void serve_soon(Channel *channel)
{
    uint32_t ticks = HAS(channel, CTR2, SWREQ) ? PART(channel, CBR1, BNDT) >> PART(channel, CTR1, SDW_LOG2) : 0;

    if (is_asked(channel)) {
        timer_mod(channel->serve, n6virt_now() + MAX(ticks, 1));
    }
}

static bool bus_read(const Channel *channel, uint32_t address, void *data, uint32_t bytes)
{
    uint32_t stale = 0, first = 0;

    if (!n6virt_master_read(address, data, bytes, &stale, &first)) {
        return false;
    }
    if (stale) {
        n6virt_finding_at(channel->pc, "stale-cache", first,
                          "Channel %u of %s reads a stale cache line at 0x%08x: not cleaned since the CPU wrote it", channel->number,
                          channel->block->name, first);
    }
    n6virt_report_dropped(address, bytes, channel->block->name);
    return true;
}

/* Write as a bus master. A write beneath a dirty cache line is no finding: the line may belong to a neighbour of the buffer. */
static bool bus_write(uint32_t address, const void *data, uint32_t bytes)
{
    uint32_t dirty = 0, first = 0;

    if (!n6virt_ram_at(address)) {
        return address_space_write(&address_space_memory, address, MEMTXATTRS_UNSPECIFIED, data, bytes) == MEMTX_OK;
    }
    return n6virt_master_write(address, data, bytes, &dirty, &first);
}

static bool put(const Channel *channel, const uint8_t *data, unsigned width)
{
    uint32_t address = reg(channel, N6_DMA_CDAR_OFFSET);

    if (HAS(channel, CTR1, DINC)) {
        set(channel, N6_DMA_CDAR_OFFSET, address + width);
    }
    return bus_write(address, data, width);
}

/* Move one datum of the source's width to the destination's width. */
static bool move(Channel *channel)
{
    unsigned from = 1u << PART(channel, CTR1, SDW_LOG2), to = 1u << PART(channel, CTR1, DDW_LOG2), mode = PART(channel, CTR1, PAM);
    uint32_t address = reg(channel, N6_DMA_CSAR_OFFSET);
    uint8_t data[MAX_WIDTH] = {0};

    if (!bus_read(channel, address, data, from)) {
        return false;
    }
    if (HAS(channel, CTR1, SINC)) {
        set(channel, N6_DMA_CSAR_OFFSET, address + from);
    }
    if (from != to && mode <= PAM_SIGN) {
        if (mode == PAM_SIGN && to < from) {
            return put(channel, data + from - to, to);
        }
        if (mode == PAM_SIGN) {
            memset(data + from, data[from - 1] & 0x80 ? 0xff : 0, to - from);
        }
        return put(channel, data, to);
    }
    memcpy(channel->packed + channel->packed_bytes, data, from);
    channel->packed_bytes += from;
    while (channel->packed_bytes >= to) {
        if (!put(channel, channel->packed, to)) {
            return false;
        }
        channel->packed_bytes -= to;
        memmove(channel->packed, channel->packed + to, channel->packed_bytes);
    }
    return true;
}

/* Bits of CLLR and the registers that they load, in the order of the words of an item. */
static const struct {
    uint32_t bit, offset;
} links[] = {
    {N6_DMA_CLLR_UT1, N6_DMA_CTR1_OFFSET}, {N6_DMA_CLLR_UT2, N6_DMA_CTR2_OFFSET}, {N6_DMA_CLLR_UB1, N6_DMA_CBR1_OFFSET},
    {N6_DMA_CLLR_USA, N6_DMA_CSAR_OFFSET}, {N6_DMA_CLLR_UDA, N6_DMA_CDAR_OFFSET}, {N6_DMA_CLLR_UT3, N6_DMA_CTR3_OFFSET},
    {N6_DMA_CLLR_UB2, N6_DMA_CBR2_OFFSET}, {N6_DMA_CLLR_ULL, N6_DMA_CLLR_OFFSET},
};

static bool load_item(Channel *channel)
{
    uint32_t link = reg(channel, N6_DMA_CLLR_OFFSET), address = reg(channel, N6_DMA_CLBAR_OFFSET) & N6_DMA_CLBAR_LBA;
    uint8_t word[4];

    address |= link & N6_DMA_CLLR_LA;
    for (unsigned i = 0; i < ARRAY_SIZE(links); i++) {
        if (!(link & links[i].bit)) {
            continue;
        }
        if (!bus_read(channel, address, word, sizeof(word))) {
            return false;
        }
        set(channel, links[i].offset, ldl_le_p(word));
        address += sizeof(word);
    }
    return true;
}

static bool is_possible(const Channel *channel)
{
    uint32_t exchange = N6_DMA_CTR1_SBX | N6_DMA_CTR1_DBX | N6_DMA_CTR1_DHX | N6_DMA_CTR1_DWX;
    const char *what = PART(channel, CBR1, BRC) ? "repeated blocks (CBR1 BRC)"
                       : PART(channel, CTR2, TRIGPOL) ? "a trigger (CTR2 TRIGPOL)"
                       : reg(channel, N6_DMA_CTR1_OFFSET) & exchange ? "the exchange of bytes (CTR1 SBX, DBX, DHX, DWX)"
                                                                     : NULL;

    if (what) {
        n6virt_finding_at(channel->pc, "dma", channel->base + N6_DMA_CTR1_OFFSET,
                          "Channel %u of %s does not run: the virtual board does not model %s", channel->number, channel->block->name,
                          what);
    }
    return !what;
}

/* Begin a block of data, after a check of the settings. */
static void begin_block(Channel *channel)
{
    uint32_t bytes = PART(channel, CBR1, BNDT), widest = MAX(PART(channel, CTR1, SDW_LOG2), PART(channel, CTR1, DDW_LOG2));
    uint32_t mask = (1u << PART(channel, CTR1, SDW_LOG2)) - 1;

    channel->block_bytes = bytes;
    channel->packed_bytes = 0;
    if (!bytes || bytes & mask || widest > 3 || reg(channel, N6_DMA_CSAR_OFFSET) & mask ||
        reg(channel, N6_DMA_CDAR_OFFSET) & ((1u << PART(channel, CTR1, DDW_LOG2)) - 1)) {
        stop(channel, N6_DMA_CSR_USEF);
    } else if (!is_possible(channel)) {
        stop(channel, 0);
    }
}

static void end_block(Channel *channel)
{
    bool last = !reg(channel, N6_DMA_CLLR_OFFSET), once = HAS(channel, CCR, LSM);

    if (last || PART(channel, CTR2, TCEM) != EVENT_AT_LAST) {
        channel->flags |= N6_DMA_CSR_TCF;
    }
    if (!last && !load_item(channel)) {
        stop(channel, N6_DMA_CSR_ULEF);
    } else if (last || once) {
        stop(channel, 0);
    } else {
        begin_block(channel);
    }
}

/* Return the bytes that one request moves: a burst, or all of the block. */
static uint32_t burst_bytes(const Channel *channel)
{
    if (HAS(channel, CTR2, SWREQ) || HAS(channel, CTR2, BREQ)) {
        return UINT32_MAX;
    }
    return HAS(channel, CTR2, DREQ) ? (PART(channel, CTR1, DBL_1) + 1) << PART(channel, CTR1, DDW_LOG2)
                                    : (PART(channel, CTR1, SBL_1) + 1) << PART(channel, CTR1, SDW_LOG2);
}

static void serve(void *opaque)
{
    Channel *channel = opaque;
    uint32_t width = 1u << PART(channel, CTR1, SDW_LOG2), most = burst_bytes(channel);

    for (uint32_t moved = 0; is_asked(channel) && moved < most; moved += width) {
        uint32_t left = PART(channel, CBR1, BNDT);

        if (!left || !move(channel)) {
            stop(channel, N6_DMA_CSR_DTEF);
            break;
        }
        left -= width;
        set(channel, N6_DMA_CBR1_OFFSET, (reg(channel, N6_DMA_CBR1_OFFSET) & ~N6_DMA_CBR1_BNDT) | left);
        if (left <= channel->block_bytes / 2 && left + width > channel->block_bytes / 2 &&
            (!reg(channel, N6_DMA_CLLR_OFFSET) || PART(channel, CTR2, TCEM) != EVENT_AT_LAST)) {
            channel->flags |= N6_DMA_CSR_HTF;
        }
        if (!left) {
            end_block(channel);
            break;
        }
    }
    update(channel);
    serve_soon(channel);
}

void n6virt_dma_request(unsigned request, bool asks)
{
    if (asked[request] == asks) {
        return;
    }
    asked[request] = asks;
    for (unsigned i = 0; asks && i < 2 * CHANNELS; i++) {
        Channel *channel = &channels[i / CHANNELS][i % CHANNELS];

        if (!HAS(channel, CTR2, SWREQ) && PART(channel, CTR2, REQSEL) == request) {
            serve_soon(channel);
        }
    }
}

static void enable(Channel *channel)
{
    channel->pc = n6virt_pc();
    if (!PART(channel, CBR1, BNDT) && reg(channel, N6_DMA_CLLR_OFFSET) && !load_item(channel)) {
        stop(channel, N6_DMA_CSR_ULEF);
        return;
    }
    begin_block(channel);
    serve_soon(channel);
}

static void control(Channel *channel, uint32_t value)
{
    uint32_t before = reg(channel, N6_DMA_CCR_OFFSET);

    if (value & N6_DMA_CCR_RESET) {
        value &= ~(N6_DMA_CCR_RESET | N6_DMA_CCR_EN | N6_DMA_CCR_SUSP);
        channel->packed_bytes = 0;
    } else if (before & N6_DMA_CCR_EN) {
        value |= N6_DMA_CCR_EN; /* software cannot clear it */
    }
    set(channel, N6_DMA_CCR_OFFSET, value);
    if (value & ~before & N6_DMA_CCR_SUSP && before & N6_DMA_CCR_EN) {
        channel->flags |= N6_DMA_CSR_SUSPF;
    }
    if (value & ~before & N6_DMA_CCR_EN) {
        enable(channel);
    } else if (before & ~value & N6_DMA_CCR_SUSP) {
        serve_soon(channel);
    }
}

static Channel *channel_at(const N6VirtBlock *block, uint32_t offset)
{
    unsigned number = (offset - FIRST_CHANNEL) / CHANNEL_BYTES;

    return offset >= FIRST_CHANNEL && number < CHANNELS ? &channels[block->base == N6_HPDMA1_BASE][number] : NULL;
}

/* Return the interrupts of the secure channels, or of the others. */
static uint32_t masked_interrupts(const N6VirtBlock *block, bool secure)
{
    uint32_t value = 0, secured = n6virt_get(block->base + N6_DMA_SECCFGR_OFFSET);

    for (unsigned i = 0; i < CHANNELS; i++) {
        const Channel *channel = &channels[block->base == N6_HPDMA1_BASE][i];
        if ((secured >> i & 1) == secure && channel->flags & reg(channel, N6_DMA_CCR_OFFSET) & FLAGS) {
            value |= 1u << i;
        }
    }
    return value;
}

static uint32_t dma_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    Channel *channel = channel_at(block, offset);

    if (offset == N6_DMA_MISR_OFFSET || offset == N6_DMA_SMISR_OFFSET) {
        return masked_interrupts(block, offset == N6_DMA_SMISR_OFFSET);
    }
    if (channel && block->base + offset - channel->base == N6_DMA_CSR_OFFSET) {
        return channel->flags | (HAS(channel, CCR, EN) && !HAS(channel, CCR, SUSP) ? 0 : N6_DMA_CSR_IDLEF);
    }
    return n6virt_get(block->base + offset);
}

static void dma_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    Channel *channel = channel_at(block, offset);

    switch (channel ? block->base + offset - channel->base : UINT32_MAX) {
    case N6_DMA_CFCR_OFFSET:
        channel->flags &= ~value;
        break;
    case N6_DMA_CSR_OFFSET:
        break;
    case N6_DMA_CCR_OFFSET:
        control(channel, value);
        break;
    default:
        n6virt_set(block->base + offset, value);
    }
    if (channel) {
        update(channel);
    }
}

/* The model covers the whole block: privileges and locks are stored. */
static const N6VirtModel model = {.read = dma_read, .write = dma_write};

static void start_controller(uint32_t base, Channel *first, unsigned interrupt)
{
    n6virt_model(base, &model);
    for (unsigned i = 0; i < CHANNELS; i++) {
        first[i].block = n6virt_block_at(base);
        first[i].number = i;
        first[i].interrupt = interrupt + i;
        first[i].base = base + i * CHANNEL_BYTES;
        first[i].serve = timer_new_ns(QEMU_CLOCK_VIRTUAL, serve, &first[i]);
    }
}

static void start(void)
{
    start_controller(N6_GPDMA1_BASE, channels[0], N6_IRQ_GPDMA1_CH0);
    start_controller(N6_HPDMA1_BASE, channels[1], N6_IRQ_HPDMA1_CH0);
}

static void reset(void)
{
    memset(asked, 0, sizeof(asked));
    for (unsigned i = 0; i < 2 * CHANNELS; i++) {
        channels[i / CHANNELS][i % CHANNELS].flags = 0;
        timer_del(channels[i / CHANNELS][i % CHANNELS].serve);
    }
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
