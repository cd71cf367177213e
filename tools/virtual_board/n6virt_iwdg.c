/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * IWDG: counts down with the LSI, which it switches on itself. It resets the chip at zero, or when it is reloaded above its
 * window. Once started, it ends only with a reset. Its early interrupt is not modelled. INFERRED: a register is written at
 * once, without the LSI ticks that the chip takes for it; the elapsed part of a tick is lost when the CPU's clock changes.
 */
#include "n6virt_debug.h"

#include "qemu/timer.h"

#define KEY_RELOAD 0xAAAAu
#define KEY_ACCESS 0x5555u
#define KEY_START 0xCCCCu
#define SMALLEST_PRESCALER 2 /* by 4, as a power of two */
#define LARGEST_PRESCALER 10 /* by 1024 */
/* A program may let it expire on purpose, to restart; so many times in a row, it does not. */
#define STARVED 3

static bool runs, is_open;
static uint32_t counter; /* at `since` */
static int64_t since;
static uint64_t cpu_hz; /* the clock of guest time since then */
static QEMUTimer *expiry;

static unsigned prescaler(void)
{
    unsigned chosen = n6virt_field(N6_IWDG_PR, N6_IWDG_PR_PR, N6_IWDG_PR_PR_POS);

    return MIN(chosen + SMALLEST_PRESCALER, LARGEST_PRESCALER);
}

/* Return a tick of the counter in guest time. */
static int64_t tick(void)
{
    return MAX((int64_t)((cpu_hz << prescaler()) / N6_LSI_HZ), 1);
}

static uint32_t counted(void)
{
    int64_t passed = (n6virt_now() - since) / tick();

    return passed < counter ? counter - passed : 0;
}

static uint32_t reload_value(void)
{
    return n6virt_field(N6_IWDG_RLR, N6_IWDG_RLR_RL, N6_IWDG_RLR_RL_POS);
}

static void on_expiry(void *opaque)
{
    static unsigned count;

    if (++count == STARVED) {
        n6virt_finding_at(n6virt_last_pc(), "watchdog-restarts", N6_IWDG_BASE,
                          "the watchdog IWDG has reset the chip %u times: the program does not reload it within %u ms (PR, RLR)",
                          count,
                          (unsigned)((((uint64_t)reload_value() + 1) << prescaler()) * 1000 / N6_LSI_HZ));
    }
    runs = false;
    n6virt_system_reset(N6_RCC_HWRSR_IWDGRSTF);
}

/* Count down from a value, from now on. The timer is QEMU's own and wakes a processor that sleeps. */
static void count_from(uint32_t value)
{
    counter = value;
    since = n6virt_now();
    cpu_hz = n6virt_cpu_hz();
    if (!expiry) {
        expiry = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_expiry, NULL);
    }
    timer_mod(expiry, since + ((int64_t)value + 1) * tick());
}

static void reload(void)
{
    if (runs && counted() > n6virt_field(N6_IWDG_WINR, N6_IWDG_WINR_WIN, N6_IWDG_WINR_WIN_POS)) {
        on_expiry(NULL);
    } else if (runs) {
        count_from(reload_value());
    }
}

static void take_key(uint32_t key)
{
    is_open = key == KEY_ACCESS;
    if (key == KEY_START && !runs) {
        runs = true;
        n6virt_set(N6_RCC_CR, n6virt_get(N6_RCC_CR) | N6_RCC_CR_LSION);
        count_from(reload_value());
    } else if (key == KEY_RELOAD) {
        reload();
    }
}

static uint32_t iwdg_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    switch (offset) {
    case N6_IWDG_KR_OFFSET:
        return 0;
    case N6_IWDG_SR_OFFSET:
        return runs ? N6_IWDG_SR_ONF : 0;
    default:
        return n6virt_get(block->base + offset);
    }
}

static void iwdg_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (offset == N6_IWDG_KR_OFFSET) {
        take_key(value & 0xffff);
        return;
    }
    if (offset == N6_IWDG_SR_OFFSET) {
        return;
    }
    if (!is_open) {
        n6virt_finding("watchdog", block->base + offset, "Write to the IWDG at 0x%08x is lost: write 0x%04x to its key register first",
                       block->base + offset, KEY_ACCESS);
        return;
    }
    n6virt_set(block->base + offset, value);
    if (runs && offset == N6_IWDG_WINR_OFFSET) {
        count_from(reload_value());
    } else if (runs) {
        count_from(counted());
    }
}

static const N6VirtModel model = {
    .read = iwdg_read, .write = iwdg_write,
    .registers = (const uint32_t[]){N6_IWDG_KR_OFFSET, N6_IWDG_PR_OFFSET, N6_IWDG_RLR_OFFSET, N6_IWDG_SR_OFFSET, N6_IWDG_WINR_OFFSET,
                                    N6VIRT_END},
};

/* Keep the LSI's rate when the CPU's clock, which guest time counts, changes. */
static void update(void)
{
    if (runs && n6virt_cpu_hz() != cpu_hz && n6virt_cpu_hz()) {
        count_from(counted());
    }
}

/* Leave out guest time in which a debugger has halted the processor, if DBGMCU says so. */
static void freeze(int64_t ticks)
{
    static int64_t due = -1;

    if (!ticks) {
        due = runs && n6virt_has(N6_DBGMCU_APB4FZ, N6_DBGMCU_APB4FZ_IWDG) ? timer_expire_time_ns(expiry) : -1;
        if (due >= 0) {
            timer_del(expiry);
        }
    } else if (due >= 0) {
        since += ticks;
        timer_mod(expiry, due + ticks);
    }
}

static void start(void)
{
    n6virt_debug_on_halted_time(freeze);
    n6virt_model(N6_IWDG_BASE, &model);
}

static void reset(void)
{
    runs = is_open = false;
    if (expiry) {
        timer_del(expiry);
    }
}

static const N6VirtModule module = {.start = start, .reset = reset, .update = update};
N6VIRT_MODULE(module)
