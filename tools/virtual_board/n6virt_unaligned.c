/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Unaligned accesses to peripherals: their memory is Device, where the CPU faults (Armv8-M manual, alignment behaviour). QEMU
 * splits such an access. A hook in its memory access (qemu.py) asks here first; releases without the hook split on.
 */
#include "n6virt.h"

#include "cpu.h"
#include "exec/exec-all.h"

#define PERIPHERALS 0x40000000u
#define PERIPHERAL_BYTES 0x20000000u
#define SYSTEM 0xe0000000u

extern void (*n6virt_unaligned)(CPUState *cpu, uint64_t address, bool writes, uintptr_t caller) __attribute__((weak));

static void refuse(CPUState *cpu, uint64_t address, bool writes, uintptr_t caller)
{
    const N6VirtBlock *block = n6virt_block_at(address | N6_SECURE_BIT);

    if (address - PERIPHERALS >= PERIPHERAL_BYTES && address < SYSTEM) {
        return;
    }
    cpu_restore_state(cpu, caller);
    n6virt_finding_at(n6virt_last_pc(), "unaligned", address, "Unaligned %s 0x%08x%s%s faults: the memory of peripherals is Device",
                      writes ? "write to" : "read of", (uint32_t)address, block ? " in " : "", block ? block->name : "");
    cpu->exception_index = EXCP_UNALIGNED;
    cpu_loop_exit(cpu);
}

static void start(void)
{
    if (&n6virt_unaligned) {
        n6virt_unaligned = refuse;
    }
}

static const N6VirtModule module = {.start = start};
N6VIRT_MODULE(module)
