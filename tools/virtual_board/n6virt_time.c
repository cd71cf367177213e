/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest time is one unit per instruction, which stands for a tick of the CPU's clock. Under -icount shift=0,sleep=off it is
 * QEMU's virtual time in ns, and the speed of the host has no effect. A processor that sleeps executes nothing: guest time then
 * jumps to the next event that can wake it, so that a sleep counts as the instructions that SysTick ticks for. Without such an
 * event, it jumps to a limit.
 *
 *   ,max-instructions=N   this guest time ends the run, with status 124 and "ended": "limit" in the summary
 *   ,max-silence=N        this guest time without a byte to or from the console ends it, too: "ended": "silence"
 *   ,guest-time=FILE      for programs that wait for this board, every 2^20 instructions, little endian: guest time and
 *                         instructions (8 bytes each), the place of the program and the register that it waits for, or 0 (4
 *                         bytes each), and the number of its reads (8 bytes)
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"

#define LIMIT_STATUS 124
#define PULSE (1 << 20)

static char *guest_time_path;
static uint64_t max_instructions, max_silence;
static int guest_time_file;
static QEMUTimer *pulse, *limit, *silence;
static int64_t last_byte;
static const char *ended;

void n6virt_not_silent(void)
{
    last_byte = n6virt_now();
}

/* End the run. This is called in the CPU's thread or in the main loop, in both cases between two instructions. */
void n6virt_end(const char *why)
{
    ended = why;
    exit(LIMIT_STATUS);
}

static void on_limit(void *opaque)
{
    n6virt_end("limit");
}

static void on_silence(void *opaque)
{
    int64_t end = last_byte + max_silence;

    if (n6virt_now() < end) {
        timer_mod(silence, end);
        return;
    }
    n6virt_end("silence");
}

static void on_pulse(void *opaque)
{
    int64_t now = n6virt_now();
    uint8_t shown[32];
    uint32_t reader;
    uint64_t reads;

    stq_le_p(shown, now);
    stq_le_p(shown + 8, n6virt_instructions());
    stl_le_p(shown + 20, n6virt_waits_for(&reader, &reads));
    stl_le_p(shown + 16, reader ? reader : ARM_CPU(first_cpu)->env.regs[15]);
    stq_le_p(shown + 24, reads);
    if (pwrite(guest_time_file, shown, sizeof(shown), 0) != sizeof(shown)) {
        error_report("Cannot write guest time to %s: %s", guest_time_path, strerror(errno));
        exit(1);
    }
    timer_mod(pulse, now + PULSE);
}

void n6virt_start_time(void)
{
    if ((max_instructions || max_silence || guest_time_path) && (!icount_enabled() || icount_to_ns(1) != 1)) {
        error_report("Properties max-instructions, max-silence and guest-time need -icount shift=0,sleep=off");
        exit(1);
    }
    if (MAX(max_instructions, max_silence) > INT64_MAX / 2) {
        error_report("Property max-instructions or max-silence is out of range");
        exit(1);
    }
    if (max_instructions) {
        limit = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_limit, NULL);
        timer_mod(limit, max_instructions);
    }
    if (max_silence) {
        silence = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_silence, NULL);
        timer_mod(silence, max_silence);
    }
    if (guest_time_path) {
        guest_time_file = open(guest_time_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (guest_time_file < 0) {
            error_report("Cannot write guest time to %s: %s", guest_time_path, strerror(errno));
            exit(1);
        }
        /* External: this timer does not wake a processor that sleeps. */
        pulse = timer_new_full(NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, QEMU_TIMER_ATTR_EXTERNAL, on_pulse, NULL);
        on_pulse(NULL);
    }
}

static void add_properties(Object *machine)
{
    object_property_add_uint64_ptr(machine, "max-instructions", &max_instructions, OBJ_PROP_FLAG_READWRITE);
    object_property_add_uint64_ptr(machine, "max-silence", &max_silence, OBJ_PROP_FLAG_READWRITE);
    n6virt_text_property(machine, "guest-time", &guest_time_path);
}

static void summarise(GString *summary)
{
    g_string_append_printf(summary, ", \"instructions\": %" PRId64 ", \"ended\": \"%s\", \"pc\": \"0x%08x\"", n6virt_instructions(),
                           ended ? ended : "", ARM_CPU(first_cpu)->env.regs[15]);
}

static const N6VirtModule module = {.add_properties = add_properties, .summarise = summarise};
N6VIRT_MODULE(module)
