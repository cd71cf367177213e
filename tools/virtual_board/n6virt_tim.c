/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Timers: the counter, upwards, and its update event and interrupt. Channels are stored without effect.
 */
#include "n6virt.h"

#include "qemu/timer.h"

#define MAX_TIMERS 32

typedef struct {
    const N6VirtBlock *block;
    int64_t since;    /* guest time at which the counter was 0, minus the time that the prescaler still holds */
    uint32_t stopped; /* the counter, while it does not run */
    uint32_t loaded_prescaler;
    QEMUTimer *overflow;
} Tim;

static Tim timers[MAX_TIMERS];
static unsigned timer_count;

static uint32_t reg(const Tim *tim, uint32_t offset)
{
    return n6virt_get(tim->block->base + offset);
}

static Tim *of(const N6VirtBlock *block)
{
    for (unsigned i = 0; i < timer_count; i++) {
        if (timers[i].block == block) {
            return &timers[i];
        }
    }
    g_assert(timer_count < MAX_TIMERS);
    timers[timer_count].block = block;
    return &timers[timer_count++];
}

static bool runs(const Tim *tim)
{
    return reg(tim, N6_TIM_CR1_OFFSET) & N6_TIM_CR1_CEN && n6virt_timer_hz() && n6virt_cpu_hz();
}

static uint64_t period(const Tim *tim)
{
    return (uint64_t)reg(tim, N6_TIM_ARR_OFFSET) + 1;
}

/* Convert guest time, which counts ticks of the CPU's clock, to ticks of the counter. */
static uint64_t ticks(const Tim *tim, int64_t elapsed)
{
    return muldiv64(elapsed, n6virt_timer_hz(), n6virt_cpu_hz()) / (tim->loaded_prescaler + 1);
}

static int64_t guest_time(const Tim *tim, uint64_t ticks_)
{
    return (int64_t)((double)ticks_ * (tim->loaded_prescaler + 1) * n6virt_cpu_hz() / n6virt_timer_hz());
}

static uint64_t counted(const Tim *tim)
{
    return runs(tim) ? ticks(tim, n6virt_now() - tim->since) : tim->stopped;
}

static uint32_t flags(const Tim *tim)
{
    return reg(tim, N6_TIM_SR_OFFSET) | (runs(tim) && counted(tim) >= period(tim) ? N6_TIM_SR_UIF : 0);
}

static void update(Tim *tim);

static void on_overflow(void *opaque)
{
    update(opaque);
}

/* Take full periods off, raise the interrupt, and set the event of the next one. */
static void update(Tim *tim)
{
    uint32_t status = flags(tim);

    if (runs(tim) && counted(tim) >= period(tim)) {
        tim->since += guest_time(tim, counted(tim) / period(tim) * period(tim));
        tim->loaded_prescaler = reg(tim, N6_TIM_PSC_OFFSET) & 0xffff;
        if (reg(tim, N6_TIM_CR1_OFFSET) & N6_TIM_CR1_OPM) {
            n6virt_set(tim->block->base + N6_TIM_CR1_OFFSET, reg(tim, N6_TIM_CR1_OFFSET) & ~N6_TIM_CR1_CEN);
            tim->stopped = 0;
        }
    }
    n6virt_set(tim->block->base + N6_TIM_SR_OFFSET, status);
#define INTERRUPT(timer, number) \
    if (!strcmp(tim->block->name, timer)) { \
        n6virt_interrupt(number, status & reg(tim, N6_TIM_DIER_OFFSET) & N6_TIM_SR_UIF); \
    }
    N6VIRT_TIMER_INTERRUPTS(INTERRUPT)
    if (runs(tim) && reg(tim, N6_TIM_DIER_OFFSET) & N6_TIM_DIER_UIE) {
        if (!tim->overflow) {
            tim->overflow = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_overflow, tim);
        }
        timer_mod(tim->overflow, tim->since + guest_time(tim, period(tim)) + 1);
    }
}

static uint32_t tim_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    Tim *tim = of(block);

    if (offset == N6_TIM_CNT_OFFSET) {
        update(tim);
        return counted(tim);
    }
    return offset == N6_TIM_SR_OFFSET ? flags(tim) : n6virt_get(block->base + offset);
}

static void tim_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    Tim *tim = of(block);
    uint64_t now;

    update(tim);
    now = counted(tim);
    switch (offset) {
    case N6_TIM_SR_OFFSET: /* written zeros clear */
        n6virt_set(block->base + offset, n6virt_get(block->base + offset) & value);
        update(tim);
        return;
    case N6_TIM_CNT_OFFSET:
        now = value;
        break;
    case N6_TIM_EGR_OFFSET:
        if (value & N6_TIM_EGR_UG) {
            now = 0;
            tim->loaded_prescaler = reg(tim, N6_TIM_PSC_OFFSET) & 0xffff;
            if (!(reg(tim, N6_TIM_CR1_OFFSET) & N6_TIM_CR1_URS)) {
                n6virt_set(block->base + N6_TIM_SR_OFFSET, reg(tim, N6_TIM_SR_OFFSET) | N6_TIM_SR_UIF);
            }
        }
        break;
    default:
        n6virt_set(block->base + offset, value);
    }
    tim->stopped = now;
    if (runs(tim)) {
        tim->since = n6virt_now() - guest_time(tim, now);
    }
    update(tim);
}

static const N6VirtModel model = {
    .read = tim_read, .write = tim_write,
    .registers = (const uint32_t[]){N6_TIM_CR1_OFFSET, N6_TIM_CR2_OFFSET, N6_TIM_SMCR_OFFSET, N6_TIM_DIER_OFFSET, N6_TIM_SR_OFFSET,
                                    N6_TIM_EGR_OFFSET, N6_TIM_CNT_OFFSET, N6_TIM_PSC_OFFSET, N6_TIM_ARR_OFFSET, N6_TIM_RCR_OFFSET,
                                    N6VIRT_END},
};

static void start(void)
{
    n6virt_model_all("TIM", &model);
}

/* Reset the timers: the counter is at 0, and counts up to the end of its range. */
static void reset(void)
{
    for (unsigned i = 0; i < timer_count; i++) {
        timers[i].stopped = timers[i].loaded_prescaler = 0;
    }
#define FULL_RANGE(name, base) n6virt_set(base + N6_TIM_ARR_OFFSET, 0xffff);
    N6VIRT_TIMERS(FULL_RANGE)
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
