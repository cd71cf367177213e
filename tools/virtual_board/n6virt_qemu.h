/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names that differ between QEMU's releases: 7.2 (Debian 12) and 10.0 (Debian 13). No other file here depends on the release.
 */
#ifndef N6VIRT_QEMU_H
#define N6VIRT_QEMU_H

#include "qemu/osdep.h"
#include "hw/core/cpu.h"

#if QEMU_VERSION_MAJOR < 10

#include "exec/exec-all.h"
#include "hw/core/tcg-cpu-ops.h"
#include "qemu/main-loop.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/reset.h"
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"

/* Cause of a machine's reset. */
typedef ShutdownCause N6VirtReset;
#define N6VIRT_RESET_BY_PROGRAM SHUTDOWN_CAUSE_GUEST_RESET

static inline void *n6virt_env(CPUState *cpu)
{
    return cpu->env_ptr;
}

/* Take QEMU's big lock. */
static inline void n6virt_lock(void)
{
    qemu_mutex_lock_iothread();
}

/* Let the executed instructions be counted between two blocks of code, where the count is exact. */
static inline void n6virt_allow_count(CPUState *cpu)
{
    cpu->can_do_io = 1;
}

#else

#include "accel/tcg/cpu-ops.h"
#include "exec/cpu-common.h"
#include "hw/resettable.h"
#include "qemu/main-loop.h"
#include "system/cpu-timers.h"
#include "system/reset.h"
#include "system/runstate.h"
#include "system/system.h"
#include "tcg/insn-start-words.h"

/* Kind of a machine's reset; this release does not give the cause. */
typedef ResetType N6VirtReset;
#define N6VIRT_RESET_BY_PROGRAM RESET_TYPE_COLD

static inline void *n6virt_env(CPUState *cpu)
{
    return cpu_env(cpu);
}

static inline void n6virt_lock(void)
{
    bql_lock();
}

static inline void n6virt_allow_count(CPUState *cpu)
{
    cpu->neg.can_do_io = true;
}

#endif

#endif
