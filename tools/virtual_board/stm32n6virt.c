/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A Cortex-M55 at the addresses of the STM32N6, as far as bring-up code and networks on the CPU can see it. It counts
 * instructions, not cycles, and a pass means "no modelled fault". This file assembles the machine; n6virt_<name>.c are its
 * parts.
 *
 * The chip is compiled in (n6_soc.h, n6virt_chip.h); options at the start describe the board around it:
 *
 *   -M stm32n6virt,nor=FILE,findings=FILE,appli-slot=0x70100000,nor-jedec-id=0xC2803A,...   (the parts list the rest)
 *   -M stm32n6virt,findings=FILE -kernel x.elf     starts at the vector table N6_BOOT_PAYLOAD_ADDRESS, no boot ROM
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "n6_boot_header.h"

#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/arm/armv7m.h"
#include "hw/arm/boot.h"
#include "hw/boards.h"
#include "hw/irq.h"
#include "hw/qdev-clock.h"
#include "hw/qdev-properties.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"

#define TYPE_N6VIRT MACHINE_TYPE_NAME("stm32n6virt")
OBJECT_DECLARE_SIMPLE_TYPE(N6Virt, N6VIRT)

/* Clock of SysTick: a tick per instruction, which the cycle counter counts too. A second that a program measures as N6_CPU_HZ
 * ticks has N6_CPU_HZ instructions. */
#define CLOCK_HZ 1000000000
#define PRIORITY_BITS 4

struct N6Virt {
    MachineState parent;
    ARMv7MState armv7m;
    Clock *clock;

    char *findings_path;
    uint32_t appli_slot;

    MemoryRegion itcm_alias, dtcm_alias, hole;
    bool appli_checked;
    Notifier exit;
};

static N6Virt *board;

void n6virt_interrupt(unsigned number, bool level)
{
    qemu_set_irq(qdev_get_gpio_in(DEVICE(&board->armv7m), number), level);
}

MemoryRegion *n6virt_processor_region(void)
{
    return &board->armv7m.container;
}

MemTxResult n6virt_processor_read(uint32_t address, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    return memory_region_dispatch_read(&board->armv7m.nvic.sysregmem, address & 0xfff, value, size_memop(size) | MO_TE, attributes);
}

MemTxResult n6virt_processor_write(uint32_t address, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    return memory_region_dispatch_write(&board->armv7m.nvic.sysregmem, address & 0xfff, value, size_memop(size) | MO_TE, attributes);
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

void n6virt_add_io(MemoryRegion *region, MemoryRegion *parent, const MemoryRegionOps *ops, const char *name, uint64_t base,
                   uint64_t bytes, int priority)
{
    memory_region_init_io(region, OBJECT(board), ops, board, name, bytes);
    memory_region_add_subregion_overlap(parent, base, region, priority);
}

/* Check a load-and-run Appli: once the vector table is the Appli's, its whole image has to be in RAM. Bytes that the Appli may
 * have changed since prove nothing, so only an end that was never written counts: zeros where the NOR has other bytes. */
void n6virt_check_appli_copy(void)
{
    CPUARMState *env = &board->armv7m.cpu->env;
    uint32_t slot = board->appli_slot - N6_XSPI2_WINDOW_BASE, end, missing = 0, nor_bytes;
    const uint8_t *nor = n6virt_nor_content(&nor_bytes), *image = nor + slot;
    uint32_t stale, first;
    uint8_t *ram;

    if (board->appli_checked || env->v7m.vecbase[M_REG_S] != N6_APPLI_PAYLOAD_ADDRESS) {
        return;
    }
    board->appli_checked = true;
    end = nor && slot < nor_bytes ? n6virt_image_bytes(image, MIN(nor_bytes - slot, N6_APPLI_LOAD_BYTES)) : 0;
    if (!end) {
        return;
    }
    ram = g_malloc0(end);
    if (!n6virt_master_read(N6_APPLI_LOAD_ADDRESS, ram, end, &stale, &first) || stale) {
        g_free(ram);
        return;
    }
    for (uint32_t i = end; i > 0 && ram[i - 1] == 0; i--) {
        missing = image[i - 1] ? end - i + 1 : missing;
    }
    g_free(ram);
    if (missing) {
        n6virt_finding_at(current_cpu ? n6virt_pc() : env->regs[15], "short-copy", N6_APPLI_LOAD_ADDRESS + end - missing,
                       "the Appli runs, but the last %u of its %u bytes were never copied to RAM", missing, end);
    }
}

/* Return where a lost CPU came from: the instruction that faulted if it is in a handler, else the address behind the last call.
 * */
uint32_t n6virt_caller(void)
{
    CPUARMState *env = &board->armv7m.cpu->env;
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

static MemTxResult hole_read(void *opaque, hwaddr address, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    *value = 0;
    n6virt_check_appli_copy();
    if (n6virt_pc() == address) {
        n6virt_finding_at(n6virt_caller(), "hole", address, "jump to 0x%08x, where nothing is", (uint32_t)address);
    } else {
        n6virt_finding("hole", address, "read of 0x%08x, where nothing is", (uint32_t)address);
    }
    return MEMTX_DECODE_ERROR;
}

static MemTxResult hole_write(void *opaque, hwaddr address, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    n6virt_check_appli_copy();
    n6virt_finding("hole", address, "write to 0x%08x, where nothing is", (uint32_t)address);
    return MEMTX_DECODE_ERROR;
}

static const MemoryRegionOps hole_ops = {
    .read_with_attrs = hole_read, .write_with_attrs = hole_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* The end */

static void on_exit_notify(Notifier *notifier, void *data)
{
    GString *text = g_string_new(NULL);

    n6virt_check_appli_copy();
    n6virt_bus_summarise(text);
    n6virt_findings_close(text->str + strlen(", "));
    g_string_free(text, true);
}

/* Report a lockup. QEMU has no model of it: it aborts, in the thread of the CPU. */
static void on_abort(int number)
{
    uint32_t pc;

    if (!current_cpu) {
        return;
    }
    pc = n6virt_caller();
    n6virt_finding_at(pc, "lockup", pc, "the processor locks up: there is no handler for the fault, or it faults itself");
    on_exit_notify(NULL, NULL);
    _exit(EXIT_FAILURE);
}

static void add_memories(N6Virt *s)
{
    MemoryRegion *system = get_system_memory();

    n6virt_add_io(&s->hole, system, &hole_ops, "n6.hole", 0, 1ull << 32, -2);
}

static void reset_now(CPUState *cpu, run_on_cpu_data data)
{
    MACHINE_GET_CLASS(board)->reset(MACHINE(board), N6VIRT_RESET_BY_PROGRAM);
}

/* Reset in the processor's thread: QEMU's own way stops the processor meanwhile, and guest time jumps as in a sleep. */
void n6virt_system_reset(uint32_t reason)
{
    n6virt_reset_reason(reason);
    async_run_on_cpu(CPU(board->armv7m.cpu), reset_now, RUN_ON_CPU_NULL);
}

static void on_reset_request(void *opaque, int number, int level)
{
    if (level) {
        n6virt_system_reset(N6_RCC_HWRSR_SFTRSTF);
    }
}

static void add_processor(N6Virt *s)
{
    DeviceState *armv7m;

    s->clock = clock_new(OBJECT(s), "n6.clock");
    clock_set_hz(s->clock, CLOCK_HZ);
    object_initialize_child(OBJECT(s), "armv7m", &s->armv7m, TYPE_ARMV7M);
    armv7m = DEVICE(&s->armv7m);
    qdev_prop_set_uint32(armv7m, "num-irq", N6_IRQ_COUNT);
    qdev_prop_set_string(armv7m, "cpu-type", ARM_CPU_TYPE_NAME(N6_CPU));
    qdev_prop_set_uint32(armv7m, "init-svtor", N6_BOOT_PAYLOAD_ADDRESS);
    qdev_connect_clock_in(armv7m, "cpuclk", s->clock);
    object_property_set_link(OBJECT(armv7m), "memory", OBJECT(get_system_memory()), &error_abort);
    sysbus_realize(SYS_BUS_DEVICE(armv7m), &error_fatal);
    qdev_connect_gpio_out_named(armv7m, "SYSRESETREQ", 0, qemu_allocate_irq(on_reset_request, NULL, 0));
    /* QEMU's default for Armv8-M is eight. */
    s->armv7m.nvic.num_prio_bits = PRIORITY_BITS;
}

/* Reset the whole chip, at power-on and at the program's request: registers begin anew, RAM keeps its content. */
static void n6virt_reset(MachineState *machine, N6VirtReset reset)
{
    N6Virt *s = N6VIRT(machine);
    uint32_t nor_bytes;
    const uint8_t *nor = n6virt_nor_content(&nor_bytes);

    n6virt_bus_reset();
    s->appli_checked = false;
    qemu_devices_reset(reset);
    if (!machine->kernel_filename) {
        n6virt_boot(CPU(s->armv7m.cpu), nor, nor_bytes);
    }
}

static void n6virt_init(MachineState *machine)
{
    N6Virt *s = N6VIRT(machine);
    uint32_t nor_bytes;

    board = s;
    add_memories(s);
    add_processor(s);
    n6virt_bus_start();
    if (!n6virt_nor_content(&nor_bytes) && !machine->kernel_filename) {
        error_report("give a NOR (-M stm32n6virt,nor=FILE) or a program (-kernel FILE)");
        exit(1);
    }
    s->exit.notify = on_exit_notify;
    qemu_add_exit_notifier(&s->exit);
    signal(SIGABRT, on_abort);
    n6virt_start_time();
    /* Not earlier: QEMU resets the processor while the machine is being assembled. */
    n6virt_findings_open(s->findings_path);
    armv7m_load_kernel(s->armv7m.cpu, machine->kernel_filename, N6_BOOT_PAYLOAD_ADDRESS, N6_BOOT_MAX_IMAGE);
}

static void n6virt_instance_init(Object *object)
{
    n6virt_bus_add_properties(object);
    n6virt_text_property(object, "findings", &N6VIRT(object)->findings_path);
    object_property_add_uint32_ptr(object, "appli-slot", &N6VIRT(object)->appli_slot, OBJ_PROP_FLAG_READWRITE);
}

static void n6virt_class_init(ObjectClass *class, void *data)
{
    MachineClass *machine = MACHINE_CLASS(class);

    machine->desc = "STM32N6 as far as bring-up code and networks on the CPU can see it";
    machine->init = n6virt_init;
    machine->reset = n6virt_reset;
    machine->max_cpus = 1;
}

static const TypeInfo n6virt_type = {
    .name = TYPE_N6VIRT,
    .parent = TYPE_MACHINE,
    .instance_size = sizeof(N6Virt),
    .instance_init = n6virt_instance_init,
    .class_init = n6virt_class_init,
};

static void n6virt_register(void)
{
    type_register_static(&n6virt_type);
}

type_init(n6virt_register)
