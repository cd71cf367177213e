/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A channel for a debug probe: a master of its own that reads and writes memory through one of two access ports, and the
 * processor's halting debug. Its accesses are no findings of the program: they fail, with the reason for the probe.
 *
 *   ,probe=ID   the character device (-chardev) of the channel; the emulator ends when it closes. It needs -gdb none, and begins
 *               with -S.
 *
 * Each command is a line of words, numbers in hexadecimal digits, and has one line as its answer:
 *
 *   read AP SECURE ADDRESS SIZE COUNT      data BYTES | fault KIND: TEXT
 *   write AP SECURE ADDRESS SIZE BYTES     done | fault KIND: TEXT
 *   state | halt | run | step MASKED       state STATE SECURE ASLEEP OPEN RESETS; of a step, when it is done
 *   reset REASON                           the same; REASON is a flag of RCC HWRSR, or 0 for the pin
 *   debug ENABLED CATCHES                  done
 *   get REGISTER | set REGISTER VALUE      value VALUE | done, or fault
 *   break ADDRESS SET                      done
 *   watch ADDRESS BYTES READS WRITES SET   done, or fault
 *   pace MICROSECONDS OPENS                done: each access to a register takes at least this guest time, if the processor is
 *                                          stopped; behind a reset, the boot ROM opens AP1 so many microseconds later
 *
 * AP1 sees memory as the processor does, with its data cache, and the processor's own registers. AP0 is a bus master without
 * the cache. INFERRED: what AP1 writes reaches the cache and memory; AP0 passes RIF as a trusted master.
 */
#include "n6virt_debug.h"
#include "n6virt_qemu.h"

#include "chardev/char-fe.h"
#include "chardev/char.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "qapi/error.h"
#include "qemu/error-report.h"

#define MOST_BYTES (64u << 10)
#define LONGEST_LINE (2 * MOST_BYTES + 256)
#define MOST_WORDS 8
#define RECEIVED 4096
#define US_PER_S 1000000
/* A debugger that pauses for longer than this does not wait for the chip. */
#define LONGEST_PASSED_US (1 * US_PER_S)
#define AP0 0
/* The processor's own peripherals, which only AP1 reaches. */
#define IS_OWN(address) ((address) >> 20 == 0xe00)

static const char *const states[] = {"runs", "waits", "locked", "probe", "bkpt", "watchpoint", "catch"};
static char *name;
static CharBackend channel;
static GString *received;
static bool awaits_step;
static int64_t transfer_us;
/* Time in the boot ROM behind a reset until it opens AP1, and its rest at the host's time `seen`. */
static int64_t opens_us, rest_us, seen;

static void G_GNUC_PRINTF(1, 2) answer(const char *format, ...)
{
    va_list arguments;
    g_autofree char *text = NULL;
    g_autofree char *line = NULL;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    line = g_strconcat(text, "\n", NULL);
    qemu_chr_fe_write_all(&channel, (const uint8_t *)line, strlen(line));
}

/* Return whether AP1 is open. */
static bool is_open(void)
{
    return n6virt_has(N6_DBGMCU_SR, N6_DBGMCU_SR_AP1_OPEN);
}

static void open_when_due(void)
{
    if (rest_us <= 0) {
        n6virt_set(N6_DBGMCU_SR, n6virt_get(N6_DBGMCU_SR) | N6_DBGMCU_SR_AP1_OPEN);
    }
}

/* The boot ROM of a chip in development boot lets the probe in. */
static void be_let_in(void)
{
    /* At power-on, the ROM is done before a probe connects. */
    rest_us = opens_us;
    seen = g_get_monotonic_time();
    open_when_due();
}

/* Let the boot ROM go on for the host's time since the command before, at least that of a transfer. */
static void pass_time_in_rom(void)
{
    int64_t now = g_get_monotonic_time();

    if (rest_us > 0) {
        rest_us -= MAX(now - seen, transfer_us);
        open_when_due();
    }
    seen = now;
}

static void answer_state(void)
{
    answer("state %s %d %d %d %x", states[n6virt_debug_state()], n6virt_debug_is_secure(), n6virt_debug_is_asleep(), is_open(),
           n6virt_debug_resets());
}

static void on_stop(void)
{
    if (awaits_step) {
        awaits_step = false;
        answer_state();
    }
}

/* Memory */

typedef struct {
    unsigned port;
    bool secure, writes;
    uint32_t address, size, count;
    uint8_t *data;
} Access;

/* Access RAM. Return the reason why that fails, or NULL. */
static const char *access_ram(const Access *access, const N6VirtRam *ram)
{
    uint32_t bytes = access->size * access->count, lines, first;
    const char *why;

    if (!n6virt_ram_is_on(ram)) {
        return "ram-off: the RAM has no clock (RCC MEMENR), or is shut down (RAMCFG)";
    }
    if (access->port != AP0) {
        return access->writes ? (n6virt_put(access->address, access->data, bytes) ? NULL : "ram-off: a RAM behind it is off")
                              : (n6virt_latest(access->address, access->data, bytes) ? NULL : "ram-off: a RAM behind it is off");
    }
    why = n6virt_rif_refuses_probe(access->address, bytes, access->writes);
    if (why) {
        return why;
    }
    if (access->writes ? n6virt_master_write(access->address, access->data, bytes, &lines, &first)
                       : n6virt_master_read(access->address, access->data, bytes, &lines, &first)) {
        return NULL;
    }
    return "ram-off: a RAM behind it is off";
}

/* Let guest time pass for a transfer: that of a probe, or the host's time since the transfer before, since debuggers sleep between
 * two of them. */
static void pass_time(void)
{
    static int64_t before;
    int64_t now = g_get_monotonic_time();

    n6virt_debug_pass_time(CLAMP(now - before, transfer_us, LONGEST_PASSED_US) * n6virt_cpu_hz() / US_PER_S);
    before = now;
}

/* Access registers and windows, each element for itself. */
static const char *access_bus(const Access *access)
{
    MemTxAttrs attributes = {.secure = access->secure};
    AddressSpace *space = access->port == AP0 ? &address_space_memory : arm_addressspace(first_cpu, attributes);

    for (uint32_t i = 0; i < access->count; i++) {
        uint32_t address = access->address + i * access->size;
        const char *why;
        MemTxResult result;

        if (access->port == AP0 && IS_OWN(address)) {
            return "hole: AP0 does not reach the processor's own registers";
        }
        pass_time();
        n6virt_begin_probe_access();
        result = address_space_rw(space, address, attributes, access->data + i * access->size, access->size, access->writes);
        why = n6virt_end_probe_access();
        if (result != MEMTX_OK || why) {
            return why ? why : "hole: nothing answers";
        }
    }
    return NULL;
}

static void carry_out(const Access *access)
{
    const N6VirtRam *ram = n6virt_ram_at(access->address);
    const char *why;

    if (access->port != AP0 && !is_open()) {
        why = "closed: AP1 is closed (DBGMCU SR): development boot opens it";
    } else {
        why = ram ? access_ram(access, ram) : access_bus(access);
    }
    if (why) {
        answer("fault %s", why);
    } else if (access->writes) {
        answer("done");
    } else {
        GString *text = g_string_new("data ");

        for (uint32_t i = 0; i < access->size * access->count; i++) {
            g_string_append_printf(text, "%02x", access->data[i]);
        }
        answer("%s", text->str);
        g_string_free(text, true);
    }
}

static void access_memory(const char *const *words, bool writes)
{
    Access access = {
        .port = strtoul(words[1], NULL, 16), .secure = strtoul(words[2], NULL, 16), .writes = writes,
        .address = strtoul(words[3], NULL, 16), .size = strtoul(words[4], NULL, 16),
    };
    size_t digits = writes ? strlen(words[5]) : 0;
    g_autofree uint8_t *data = NULL;

    access.count = !writes ? strtoul(words[5], NULL, 16) : access.size ? digits / 2 / access.size : 0;
    if ((access.size != 1 && access.size != 2 && access.size != 4) || access.address % access.size || !access.count ||
        access.count > MOST_BYTES / access.size || access.address + access.size * access.count - 1 < access.address ||
        (writes && digits != 2 * access.size * access.count)) {
        answer("fault size: an access of this size is not possible");
        return;
    }
    pass_time_in_rom();
    access.data = data = g_malloc0(access.size * access.count);
    for (size_t i = 0; i < digits / 2; i++) {
        data[i] = g_ascii_xdigit_value(words[5][2 * i]) << 4 | g_ascii_xdigit_value(words[5][2 * i + 1]);
    }
    carry_out(&access);
}

/* Commands */

static void on_read(const char *const *words)
{
    access_memory(words, false);
}

static void on_write(const char *const *words)
{
    access_memory(words, true);
}

static void on_state(const char *const *words)
{
    pass_time_in_rom();
    answer_state();
}

static void on_halt(const char *const *words)
{
    n6virt_debug_halt();
    answer_state();
}

static void on_run(const char *const *words)
{
    n6virt_debug_run();
    answer_state();
}

static bool is_halted(void)
{
    if (n6virt_debug_state() < N6VIRT_BY_PROBE) {
        answer("fault running: the processor is not halted");
        return false;
    }
    return true;
}

static void on_step(const char *const *words)
{
    if (is_halted()) {
        awaits_step = true;
        n6virt_debug_step(strtoul(words[1], NULL, 16));
    }
}

static void on_reset(const char *const *words)
{
    n6virt_debug_reset(strtoul(words[1], NULL, 16));
    answer_state();
}

static void on_debug(const char *const *words)
{
    n6virt_debug_enable(strtoul(words[1], NULL, 16), strtoul(words[2], NULL, 16));
    answer("done");
}

static void on_get(const char *const *words)
{
    uint32_t value;

    if (!is_halted()) {
        return;
    }
    if (n6virt_debug_register(strtoul(words[1], NULL, 16), &value)) {
        answer("value %x", value);
    } else {
        answer("fault register: no register has this number");
    }
}

static void on_set(const char *const *words)
{
    if (is_halted()) {
        bool is_known = n6virt_debug_set_register(strtoul(words[1], NULL, 16), strtoul(words[2], NULL, 16));

        answer("%s", is_known ? "done" : "fault register: no register has this number");
    }
}

static void on_break(const char *const *words)
{
    n6virt_debug_break(strtoul(words[1], NULL, 16), strtoul(words[2], NULL, 16));
    answer("done");
}

static void on_watch(const char *const *words)
{
    bool is_done = n6virt_debug_watch(strtoul(words[1], NULL, 16), strtoul(words[2], NULL, 16), strtoul(words[3], NULL, 16),
                                      strtoul(words[4], NULL, 16), strtoul(words[5], NULL, 16));

    answer("%s", is_done ? "done" : "fault size: these bytes cannot be watched");
}

static void on_pace(const char *const *words)
{
    transfer_us = strtoul(words[1], NULL, 16);
    opens_us = strtoul(words[2], NULL, 16);
    answer("done");
}

static const struct {
    const char *name;
    unsigned words;
    void (*carry_out)(const char *const *words);
} commands[] = {
    {"read", 6, on_read}, {"write", 6, on_write}, {"state", 1, on_state}, {"halt", 1, on_halt}, {"run", 1, on_run},
    {"step", 2, on_step}, {"reset", 2, on_reset}, {"debug", 3, on_debug}, {"get", 2, on_get}, {"set", 3, on_set},
    {"break", 3, on_break}, {"watch", 6, on_watch}, {"pace", 3, on_pace},
};

static void obey(const char *line)
{
    g_auto(GStrv) words = g_strsplit(line, " ", MOST_WORDS);

    for (unsigned i = 0; i < ARRAY_SIZE(commands); i++) {
        if (words[0] && !strcmp(words[0], commands[i].name) && g_strv_length(words) == commands[i].words) {
            commands[i].carry_out((const char *const *)words);
            return;
        }
    }
    answer("fault command: unknown");
}

static int can_receive(void *opaque)
{
    return RECEIVED;
}

static void on_bytes(void *opaque, const uint8_t *bytes, int count)
{
    char *end;

    g_string_append_len(received, (const char *)bytes, count);
    while ((end = memchr(received->str, '\n', received->len))) {
        g_autofree char *line = g_strndup(received->str, end - received->str);

        g_string_erase(received, 0, end - received->str + 1);
        obey(line);
    }
    if (received->len > LONGEST_LINE) {
        g_string_truncate(received, 0);
        answer("fault command: too long");
    }
}

static void on_event(void *opaque, QEMUChrEvent event)
{
    if (event == CHR_EVENT_CLOSED) {
        exit(0);
    }
}

static void start(void)
{
    Chardev *device = name && *name ? qemu_chr_find(name) : NULL;

    if (!name || !*name) {
        return;
    }
    if (!device) {
        error_report("Property probe: there is no -chardev %s", name);
        exit(1);
    }
    received = g_string_new(NULL);
    qemu_chr_fe_init(&channel, device, &error_fatal);
    qemu_chr_fe_set_handlers(&channel, can_receive, on_bytes, on_event, NULL, NULL, NULL, true);
    n6virt_debug_attach(on_stop);
    n6virt_boot_lets_in(be_let_in);
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "probe", &name);
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
