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

#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/arm/boot.h"
#include "hw/boards.h"
#include "qemu/error-report.h"

#define CRASH_SECONDS 20
#define TYPE_N6VIRT MACHINE_TYPE_NAME("stm32n6virt")
OBJECT_DECLARE_SIMPLE_TYPE(N6Virt, N6VIRT)

struct N6Virt {
    MachineState parent;
    char *findings_path;
    MemoryRegion hole;
    Notifier exit;
};

static MemTxResult hole_read(void *opaque, hwaddr address, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    *value = 0;
    n6virt_note_access();
    if (n6virt_pc() == address) {
        n6virt_finding_at(n6virt_caller(), "hole", address, "Jump to 0x%08x, where nothing is", (uint32_t)address);
    } else {
        n6virt_finding("hole", address, "Read of 0x%08x, where nothing is", (uint32_t)address);
    }
    return MEMTX_DECODE_ERROR;
}

static MemTxResult hole_write(void *opaque, hwaddr address, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    n6virt_note_access();
    n6virt_finding("hole", address, "Write to 0x%08x, where nothing is", (uint32_t)address);
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

    n6virt_note_access();
    n6virt_bus_summarise(text);
    n6virt_findings_close(text->str + strlen(", "));
    g_string_free(text, true);
}

/* Write the summary, which has the program's last place, and end as without this. No program may cause this. A crash in the heap
 * may block the writing, so that it has some seconds. */
static void on_crash(int number)
{
    sigset_t own;

    signal(number, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    alarm(CRASH_SECONDS);
    on_exit_notify(NULL, NULL);
    sigemptyset(&own);
    sigaddset(&own, number);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    raise(number);
    _exit(EXIT_FAILURE);
}

/* Report a lockup. QEMU has no model of it: it aborts, in the thread of the CPU. */
static void on_abort(int number)
{
    uint32_t pc;

    if (!current_cpu) {
        return;
    }
    if (!n6virt_is_locked_up()) {
        on_crash(number);
    }
    pc = n6virt_caller();
    n6virt_finding_at(pc, "lockup", pc, "The processor locks up: the fault has no handler, or its handler faults");
    on_exit_notify(NULL, NULL);
    _exit(EXIT_FAILURE);
}

static void on_reset_request(void *opaque, int number, int level)
{
    if (level) {
        n6virt_system_reset(N6_RCC_HWRSR_SFTRSTF);
    }
}

/* Reset the whole chip, at power-on and at the program's request: registers begin anew, RAM keeps its content, except the banks
 * that the chip erases. */
static void n6virt_reset(MachineState *machine, N6VirtReset reset)
{
    uint32_t nor_bytes;
    const uint8_t *nor = n6virt_nor_content(&nor_bytes);

    n6virt_bus_reset();
    qemu_devices_reset(reset);
    if (!machine->kernel_filename) {
        n6virt_boot(first_cpu, nor, nor_bytes);
    }
}

static void n6virt_init(MachineState *machine)
{
    N6Virt *s = N6VIRT(machine);
    uint32_t nor_bytes;

    n6virt_add_io(&s->hole, get_system_memory(), &hole_ops, "n6.hole", 0, 1ull << 32, -2);
    n6virt_add_processor(OBJECT(machine), on_reset_request);
    n6virt_bus_start();
    if (!n6virt_nor_content(&nor_bytes) && !machine->kernel_filename) {
        error_report("Pass a NOR (-M stm32n6virt,nor=FILE) or a program (-kernel FILE)");
        exit(1);
    }
    s->exit.notify = on_exit_notify;
    qemu_add_exit_notifier(&s->exit);
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_crash);
    signal(SIGFPE, on_crash);
    signal(SIGILL, on_crash);
    n6virt_start_time();
    /* Not earlier: QEMU resets the processor while the machine is being assembled. */
    n6virt_findings_open(s->findings_path);
    armv7m_load_kernel(ARM_CPU(first_cpu), machine->kernel_filename, N6_BOOT_PAYLOAD_ADDRESS, N6_BOOT_MAX_IMAGE);
}

static void n6virt_instance_init(Object *object)
{
    n6virt_bus_add_properties(object);
    n6virt_text_property(object, "findings", &N6VIRT(object)->findings_path);
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
