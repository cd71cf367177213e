/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * XSPI1 and XSPI2, the controllers: registers, transfers in indirect mode, automatic polling, interrupts, and the accesses that
 * they refuse while busy. The bytes on the lines go to the connected part (N6VirtPart), one by one. Without a part the lines
 * are not driven, and read as ones.
 *
 * A transfer takes no time: the part's busy times (n6virt_nor.c) are thousands of times longer. Not modelled: DMA requests, the
 * timeout of the mapped mode (with TCEN the controller counts as idle), alternate bytes, two memories at once.
 */
#include "n6virt.h"

#include "qemu/timer.h"

/* From the widths of FTHRES and FLEVEL. */
#define FIFO_BYTES 64u
/* An older kind of controller has a register here, by which OpenOCD knows it. */
#define RESERVED_OFFSET 0x1cu
#define FMODE_OF(value) (((value) & N6_XSPI_CR_FMODE) >> N6_XSPI_CR_FMODE_POS)
#define ENABLES_OF(value) ((value) / N6_XSPI_CR_TEIE)
#define KERNEL_CLOCK_BITS (N6_RCC_CCIPR6_XSPI2SEL_POS - N6_RCC_CCIPR6_XSPI1SEL_POS)

/* CR FMODE */
enum { INDIRECT_WRITE, INDIRECT_READ, POLLING_MODE, MEMORY_MAPPED };
/* RCC CCIPR6 */
enum { FROM_HCLK, FROM_PER, FROM_IC3, FROM_IC4 };
static const char *const kernel_clocks[] = {
    "HCLK",
    "per_ck (RCC CCIPR7, MISCENR PEREN)",
    "IC3 (RCC CR, IC3CFGR, DIVENR IC3EN)",
    "IC4 (RCC CR, IC4CFGR, DIVENR)",
};

typedef enum { IDLE, READING, WRITING, POLLING } Activity;

typedef struct {
    const char *name;
    uint32_t base;
    unsigned number;
    unsigned interrupt;
    uint32_t enable; /* in RCC AHB5ENR */
    const N6VirtPart *part;

    Activity activity;
    bool armed;         /* an indirect write begins with the first byte of data */
    bool is_prefetching; /* the window was read: busy until an abort */
    uint32_t flags;     /* of SR, the stored ones */
    uint64_t to_come;   /* bytes that have not crossed the lines */
    uint8_t fifo[FIFO_BYTES];
    unsigned first, level;
    QEMUTimer *poll;
} Controller;

static Controller controllers[] = {
    {.name = "XSPI1", .base = N6_XSPI1_BASE, .number = 1, .interrupt = N6_IRQ_XSPI1, .enable = N6_RCC_AHB5ENR_XSPI1EN},
    {.name = "XSPI2", .base = N6_XSPI2_BASE, .number = 2, .interrupt = N6_IRQ_XSPI2, .enable = N6_RCC_AHB5ENR_XSPI2EN},
};

static Controller *controller_at(uint32_t base)
{
    return base == N6_XSPI1_BASE ? &controllers[0] : &controllers[1];
}

static uint32_t reg(const Controller *c, uint32_t offset)
{
    return n6virt_get(c->base + offset);
}

static bool has_phase(const Controller *c, uint32_t mode)
{
    return reg(c, N6_XSPI_CCR_OFFSET) & mode;
}

static unsigned kernel_clock(const Controller *c)
{
    return n6virt_get(N6_RCC_CCIPR6) >> (c->number - 1) * KERNEL_CLOCK_BITS & N6_RCC_CCIPR6_XSPI1SEL;
}

static uint64_t kernel_hz(const Controller *c)
{
    switch (kernel_clock(c)) {
    case FROM_HCLK:
        return n6virt_ahb_hz();
    case FROM_PER:
        return n6virt_per_hz();
    case FROM_IC3:
        return n6virt_ic_hz(3);
    default:
        return n6virt_ic_hz(4);
    }
}

uint64_t n6virt_xspi_hz(uint32_t base)
{
    const Controller *c = controller_at(base);
    uint32_t divider = (reg(c, N6_XSPI_DCR2_OFFSET) & N6_XSPI_DCR2_PRESCALER) >> N6_XSPI_DCR2_PRESCALER_POS;

    return kernel_hz(c) / (divider + 1);
}

uint64_t n6virt_xspi_part_bytes(uint32_t base)
{
    uint32_t device = n6virt_get(base + N6_XSPI_DCR1_OFFSET);

    return 2ull << ((device & N6_XSPI_DCR1_DEVSIZE) >> N6_XSPI_DCR1_DEVSIZE_POS);
}

const char *n6virt_xspi_unmapped(uint32_t base)
{
    static char reason[120];
    const Controller *c = controller_at(base);

    if (!n6virt_has(N6_RCC_AHB5ENR, c->enable)) {
        snprintf(reason, sizeof(reason), "%s has no clock", c->name);
    } else if (!(reg(c, N6_XSPI_CR_OFFSET) & N6_XSPI_CR_EN) || FMODE_OF(reg(c, N6_XSPI_CR_OFFSET)) != MEMORY_MAPPED) {
        snprintf(reason, sizeof(reason), "%s is not in memory-mapped mode", c->name);
    } else if (!kernel_hz(c)) {
        snprintf(reason, sizeof(reason), "the kernel clock of %s, %s, does not run", c->name, kernel_clocks[kernel_clock(c)]);
    } else {
        return NULL;
    }
    return reason;
}

/* Note a read of the window. Reference manual: the first access to the window begins a prefetch, and only an abort, the timeout
 * or EN end it. */
void n6virt_xspi_window_read(uint32_t base)
{
    Controller *c = controller_at(base);

    c->is_prefetching = !(reg(c, N6_XSPI_CR_OFFSET) & N6_XSPI_CR_TCEN);
}

void n6virt_xspi_connect(uint32_t base, const N6VirtPart *part)
{
    controller_at(base)->part = part;
}

static bool is_busy(const Controller *c)
{
    return c->activity != IDLE || c->level || c->is_prefetching;
}

static uint32_t status(const Controller *c)
{
    uint32_t value = c->flags | c->level << N6_XSPI_SR_FLEVEL_POS, control = reg(c, N6_XSPI_CR_OFFSET);
    bool can_write = FMODE_OF(control) == INDIRECT_WRITE && control & N6_XSPI_CR_EN && has_phase(c, N6_XSPI_CCR_DMODE);

    value |= c->level || can_write ? N6_XSPI_SR_FTF : 0;
    return is_busy(c) || !kernel_hz(c) ? value | N6_XSPI_SR_BUSY : value;
}

static void update_interrupt(const Controller *c)
{
    uint32_t enabled = ENABLES_OF(reg(c, N6_XSPI_CR_OFFSET)) &
                       (N6_XSPI_SR_TEF | N6_XSPI_SR_TCF | N6_XSPI_SR_FTF | N6_XSPI_SR_SMF | N6_XSPI_SR_TOF);

    n6virt_interrupt(c->interrupt, status(c) & enabled);
}

/* Return the part at the lines, or NULL. No board has one at the second chip select. */
static const N6VirtPart *part_of(const Controller *c)
{
    return reg(c, N6_XSPI_CR_OFFSET) & N6_XSPI_CR_CSSEL ? NULL : c->part;
}

static void begin(const Controller *c, bool reads)
{
    const N6VirtFrame frame = {
        .lines = reg(c, N6_XSPI_CCR_OFFSET),
        .timing = reg(c, N6_XSPI_TCR_OFFSET),
        .instruction = reg(c, N6_XSPI_IR_OFFSET),
        .address = reg(c, N6_XSPI_AR_OFFSET),
        .reads = reads,
    };

    if (part_of(c)) {
        part_of(c)->begin(&frame);
    }
}

static void end(const Controller *c)
{
    if (part_of(c) && part_of(c)->end) {
        part_of(c)->end();
    }
}

static uint8_t byte_from_part(const Controller *c)
{
    return part_of(c) ? part_of(c)->read() : 0xff;
}

static void complete(Controller *c)
{
    end(c);
    c->activity = IDLE;
    c->flags |= N6_XSPI_SR_TCF;
}

/* Fill the FIFO: all bytes that fit are there at once. */
static void fill_fifo(Controller *c)
{
    while (c->activity == READING && c->level < FIFO_BYTES) {
        c->fifo[(c->first + c->level++) % FIFO_BYTES] = byte_from_part(c);
        if (!--c->to_come) {
            complete(c);
        }
    }
}

/* Return the bytes of the data phase; 0: it would leave the part. */
static uint64_t data_bytes(const Controller *c)
{
    uint64_t bytes = (uint64_t)reg(c, N6_XSPI_DLR_OFFSET) + 1, room = n6virt_xspi_part_bytes(c->base);
    uint32_t address = reg(c, N6_XSPI_AR_OFFSET);

    if (!has_phase(c, N6_XSPI_CCR_ADMODE)) {
        return bytes;
    }
    if (reg(c, N6_XSPI_DLR_OFFSET) == UINT32_MAX && address < room) {
        return room - address;
    }
    return address + bytes <= room ? bytes : 0;
}

static void poll_part(void *opaque)
{
    Controller *c = opaque;
    uint32_t value = 0, mask = reg(c, N6_XSPI_PSMKR_OFFSET), match = reg(c, N6_XSPI_PSMAR_OFFSET), equal;
    uint64_t hz = n6virt_xspi_hz(c->base);
    int64_t next;

    begin(c, true);
    for (unsigned i = 0; i <= MIN(reg(c, N6_XSPI_DLR_OFFSET), 3u); i++) {
        value |= (uint32_t)byte_from_part(c) << 8 * i;
    }
    end(c);
    equal = ~(value ^ match) & mask;
    if (reg(c, N6_XSPI_CR_OFFSET) & N6_XSPI_CR_PMM ? equal != 0 : equal == mask) {
        c->flags |= N6_XSPI_SR_SMF;
        if (reg(c, N6_XSPI_CR_OFFSET) & N6_XSPI_CR_APMS) {
            c->activity = IDLE;
            update_interrupt(c);
            return;
        }
    }
    update_interrupt(c);
    /* Poll again when the part's status can change, if ever: nothing else can access the part meanwhile. */
    if (part_of(c) && part_of(c)->ready_at && part_of(c)->ready_at() > n6virt_now()) {
        next = n6virt_now() + (hz ? (uint64_t)(reg(c, N6_XSPI_PIR_OFFSET) & 0xffff) * n6virt_cpu_hz() / hz : 0);
        timer_mod(c->poll, MAX(next, part_of(c)->ready_at()));
    }
}

/* Carry out a command, after a write of the instruction, or of the address if there is one. */
static void carry_out(Controller *c)
{
    uint32_t mode = FMODE_OF(reg(c, N6_XSPI_CR_OFFSET));

    if (!kernel_hz(c)) {
        return;
    }
    if (mode == POLLING_MODE) {
        c->activity = POLLING;
        poll_part(c);
    } else if (!has_phase(c, N6_XSPI_CCR_DMODE)) {
        begin(c, false);
        complete(c);
    } else if (!data_bytes(c)) {
        n6virt_finding("xspi-size", c->base + N6_XSPI_DCR1_OFFSET, "%s refuses a transfer at 0x%x: it knows a part of 0x%" PRIx64
                       " bytes (DCR1 DEVSIZE)", c->name, reg(c, N6_XSPI_AR_OFFSET), n6virt_xspi_part_bytes(c->base));
        c->flags |= N6_XSPI_SR_TEF;
    } else if (mode == INDIRECT_WRITE) {
        c->armed = true;
    } else {
        c->to_come = data_bytes(c);
        c->activity = READING;
        begin(c, true);
        fill_fifo(c);
    }
}

static uint32_t data_read(Controller *c, unsigned size)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < size && c->level; i++) {
        value |= (uint32_t)c->fifo[c->first] << 8 * i;
        c->first = (c->first + 1) % FIFO_BYTES;
        c->level--;
        fill_fifo(c);
    }
    return value;
}

static void data_written(Controller *c, uint32_t value, unsigned size)
{
    if (c->armed) {
        c->armed = false;
        c->to_come = data_bytes(c);
        c->activity = WRITING;
        begin(c, false);
    }
    for (unsigned i = 0; i < size && c->activity == WRITING; i++) {
        if (part_of(c)) {
            part_of(c)->write(value >> 8 * i);
        }
        if (!--c->to_come) {
            complete(c);
        }
    }
}

static void stop(Controller *c)
{
    if (c->activity == READING || c->activity == WRITING) {
        end(c);
    }
    c->activity = IDLE;
    c->armed = c->is_prefetching = false;
    c->level = 0;
    timer_del(c->poll);
}

static void control_written(Controller *c, uint32_t value)
{
    uint32_t before = reg(c, N6_XSPI_CR_OFFSET);

    if (value & N6_XSPI_CR_EN && !(value & N6_XSPI_CR_ABORT) && is_busy(c) && (value ^ before) & N6_XSPI_CR_FMODE) {
        n6virt_finding("xspi-busy", c->base, "%s is busy, so its mode does not change (CR FMODE): set CR ABORT after a read of the window",
                       c->name);
        value = (value & ~N6_XSPI_CR_FMODE) | (before & N6_XSPI_CR_FMODE);
    }
    n6virt_set(c->base + N6_XSPI_CR_OFFSET, value & ~N6_XSPI_CR_ABORT);
    if (value & N6_XSPI_CR_ABORT) {
        stop(c);
        c->flags |= N6_XSPI_SR_TCF;
    } else if (!(value & N6_XSPI_CR_EN)) {
        stop(c);
    }
}

/* Return whether writes to a register are lost while busy. The reference manual: "can be modified only when BUSY = 0".
 * INFERRED: the write is lost then. */
static bool is_kept_while_busy(uint32_t offset)
{
    return offset != N6_XSPI_CR_OFFSET && offset != N6_XSPI_FCR_OFFSET && offset != N6_XSPI_DR_OFFSET && offset != N6_XSPI_LPTR_OFFSET;
}

static uint32_t xspi_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    Controller *c = controller_at(block->base);
    uint32_t value;

    switch (offset) {
    case N6_XSPI_SR_OFFSET:
        return status(c);
    case N6_XSPI_DR_OFFSET:
        value = data_read(c, size);
        update_interrupt(c);
        return value;
    default:
        return reg(c, offset);
    }
}

static void xspi_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    Controller *c = controller_at(block->base);
    uint32_t starts = has_phase(c, N6_XSPI_CCR_ADMODE) ? N6_XSPI_AR_OFFSET : N6_XSPI_IR_OFFSET;

    if (is_kept_while_busy(offset) && is_busy(c)) {
        n6virt_finding("xspi-busy", c->base + offset, "%s is busy, so the write to 0x%08x is lost: set CR ABORT after a read of the window",
                       c->name, c->base + offset);
        return;
    }
    switch (offset) {
    case RESERVED_OFFSET:
    case N6_XSPI_MID_OFFSET:
        return;
    case N6_XSPI_FCR_OFFSET:
        c->flags &= ~value;
        if (c->activity == POLLING && value & N6_XSPI_FCR_CSMF) {
            timer_mod(c->poll, n6virt_now() + 1);
        }
        break;
    case N6_XSPI_CR_OFFSET:
        control_written(c, value);
        break;
    case N6_XSPI_DR_OFFSET:
        data_written(c, value, size);
        break;
    default:
        n6virt_set(c->base + offset, value);
        if (offset == starts && reg(c, N6_XSPI_CR_OFFSET) & N6_XSPI_CR_EN &&
            FMODE_OF(reg(c, N6_XSPI_CR_OFFSET)) != MEMORY_MAPPED) {
            carry_out(c);
        }
    }
    update_interrupt(c);
}

static void xspim_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (n6virt_has(N6_XSPI1_CR, N6_XSPI_CR_EN) || n6virt_has(N6_XSPI2_CR, N6_XSPI_CR_EN)) {
        n6virt_finding("nor-mode", N6_XSPIM_CR, "The write to XSPIM CR is lost, since an XSPI is enabled: disable both first");
        return;
    }
    n6virt_set(N6_XSPIM_CR, value);
}

static void reset_controller(uint32_t base)
{
    Controller *c = controller_at(base);

    for (uint32_t offset = 0; offset < n6virt_block_at(base)->bytes && offset < 0x200; offset += 4) {
        n6virt_set(base + offset, 0);
    }
    stop(c);
    c->flags = 0;
    update_interrupt(c);
}

static void reset_xspi1(void)
{
    reset_controller(N6_XSPI1_BASE);
}

static void reset_xspi2(void)
{
    reset_controller(N6_XSPI2_BASE);
}

static void reset_xspim(void)
{
    n6virt_set(N6_XSPIM_CR, 0);
}

static const N6VirtModel xspi = {.read = xspi_read, .write = xspi_write};
static const N6VirtModel xspim = {.write = xspim_write, .registers = (const uint32_t[]){N6_XSPIM_CR_OFFSET, N6VIRT_END}};

static void start(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(controllers); i++) {
        controllers[i].poll = timer_new_ns(QEMU_CLOCK_VIRTUAL, poll_part, &controllers[i]);
        n6virt_model(controllers[i].base, &xspi);
    }
    n6virt_model(N6_XSPIM_BASE, &xspim);
    n6virt_on_block_reset(N6_RCC_AHB5RSTR_XSPI1RST, reset_xspi1);
    n6virt_on_block_reset(N6_RCC_AHB5RSTR_XSPI2RST, reset_xspi2);
    n6virt_on_block_reset(N6_RCC_AHB5RSTR_XSPIMRST, reset_xspim);
}

static void reset(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(controllers); i++) {
        stop(&controllers[i]);
        controllers[i].flags = 0;
    }
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
