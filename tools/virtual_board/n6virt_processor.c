/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The Cortex-M55: its interrupts, its own registers, the instructions that it has executed, and its reset, for the modules. It
 * knows none of them.
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/arm/armv7m.h"
#include "hw/boards.h"
#include "hw/irq.h"
#include "hw/qdev-clock.h"
#include "hw/qdev-properties.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"

/* Clock of SysTick: a tick per instruction, which the cycle counter counts too. A second that a program measures as N6_CPU_HZ
 * ticks has N6_CPU_HZ instructions. */
#define CLOCK_HZ 1000000000
#define PRIORITY_BITS 4

static ARMv7MState processor;
/* Guest time that passed while a probe had stopped the processor. */
static int64_t skipped;

int64_t n6virt_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

int64_t n6virt_instructions(void)
{
    return icount_enabled() ? icount_get_raw() - skipped : n6virt_now();
}

void n6virt_skip(int64_t ticks)
{
    if (icount_enabled()) {
        CPU(processor.cpu)->icount_budget += ticks;
        icount_update(CPU(processor.cpu));
        skipped += ticks;
    }
}

void n6virt_interrupt(unsigned number, bool level)
{
    qemu_set_irq(qdev_get_gpio_in(DEVICE(&processor), number), level);
}

MemoryRegion *n6virt_processor_region(void)
{
    return &processor.container;
}

MemTxResult n6virt_processor_read(uint32_t address, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    return memory_region_dispatch_read(&processor.nvic.sysregmem, address & 0xfff, value, size_memop(size) | MO_TE, attributes);
}

MemTxResult n6virt_processor_write(uint32_t address, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    return memory_region_dispatch_write(&processor.nvic.sysregmem, address & 0xfff, value, size_memop(size) | MO_TE, attributes);
}

bool n6virt_interrupt_is_enabled(unsigned number)
{
    for (unsigned secure = 0; secure < 2; secure++) {
        MemTxAttrs attributes = {.secure = secure};
        uint64_t enabled = 0;

        n6virt_processor_read(N6_NVIC_ISER + number / 32 * 4, &enabled, 4, attributes);
        if (enabled >> number % 32 & 1) {
            return true;
        }
    }
    return false;
}

static N6VirtFront *front;

void n6virt_put_in_front(N6VirtFront *put)
{
    front = put;
}

void n6virt_add_io(MemoryRegion *region, MemoryRegion *parent, const MemoryRegionOps *ops, const char *name, uint64_t base,
                   uint64_t bytes, int priority)
{
    void *opaque = NULL;

    ops = front ? front(ops, name, base, &opaque) : ops;
    memory_region_init_io(region, OBJECT(qdev_get_machine()), ops, opaque, name, bytes);
    memory_region_add_subregion_overlap(parent, base, region, priority);
}

/* In a handler it is the instruction that faulted, else the address behind the last call. */
uint32_t n6virt_caller(void)
{
    CPUARMState *env = &processor.cpu->env;
    uint32_t link = env->regs[14], frame = env->regs[13], pc = 0;

    if ((link & 0xffffff80) != 0xffffff80) {
        return link & ~1u;
    }
    if (link & 4) { /* SPSEL */
        frame = env->v7m.other_sp;
    }
    cpu_physical_memory_read(frame + 0x18, &pc, sizeof(pc));
    return le32_to_cpu(pc);
}

bool n6virt_is_locked_up(void)
{
    int running = armv7m_nvic_raw_execution_priority(&processor.nvic);

    /* HardFault and NMI have negative priorities. */
    return running < 0 || processor.nvic.vectpending_prio < 0;
}

uint32_t n6virt_last_pc(void)
{
    return processor.cpu->env.regs[15];
}

static void reset_now(CPUState *cpu, run_on_cpu_data data)
{
    MachineState *machine = MACHINE(qdev_get_machine());

    MACHINE_GET_CLASS(machine)->reset(machine, N6VIRT_RESET_BY_PROGRAM);
}

/* Reset in the processor's thread: QEMU's own way stops the processor meanwhile, and guest time jumps as in a sleep. */
void n6virt_reset_machine(void)
{
    async_run_on_cpu(CPU(processor.cpu), reset_now, RUN_ON_CPU_NULL);
}

void n6virt_add_processor(Object *machine, qemu_irq_handler on_reset_request)
{
    Clock *clock = clock_new(machine, "n6.clock");
    DeviceState *armv7m;

    clock_set_hz(clock, CLOCK_HZ);
    object_initialize_child(machine, "armv7m", &processor, TYPE_ARMV7M);
    armv7m = DEVICE(&processor);
    qdev_prop_set_uint32(armv7m, "num-irq", N6_IRQ_COUNT);
    qdev_prop_set_string(armv7m, "cpu-type", ARM_CPU_TYPE_NAME(N6_CPU));
    qdev_prop_set_uint32(armv7m, "init-svtor", N6_BOOT_PAYLOAD_ADDRESS);
    qdev_connect_clock_in(armv7m, "cpuclk", clock);
    object_property_set_link(OBJECT(armv7m), "memory", OBJECT(get_system_memory()), &error_abort);
    sysbus_realize(SYS_BUS_DEVICE(armv7m), &error_fatal);
    qdev_connect_gpio_out_named(armv7m, "SYSRESETREQ", 0, qemu_allocate_irq(on_reset_request, NULL, 0));
    /* QEMU's default for Armv8-M is eight. */
    processor.nvic.num_prio_bits = PRIORITY_BITS;
}
