/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Registers that the program reads again and again without progress: the value stays, and nothing is written to the block. The
 * summary names those that are read until the end, and the file of guest time the one that is read now.
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"

/* A loop may look at several registers in turn. */
#define ENTRIES 8
/* Reads between two looks at the time and the place, which cost more than the read itself. */
#define LOOK 256
/* Fewer reads than these are ordinary. */
#define MANY 1024
/* A program still waits if its next reads would have been noted by now, with room for interrupts. */
#define PATIENCE 4
#define BLOCK_BYTES 0x400
#define CODE_BYTES 64
#define STACK_BYTES 128

typedef struct {
    uint32_t address, value;
    uint32_t pc; /* 0: not known yet */
    uint64_t reads;
    int64_t since, seen; /* instructions: at an early read, and at the last look */
    int64_t interval;    /* instructions between the last two looks */
    uint32_t registers[15];
} Wait;

static Wait entries[ENTRIES];
static Wait *latest = entries;
static unsigned next;

static void look(Wait *wait)
{
    int64_t now = n6virt_instructions();

    if (wait->reads == LOOK) {
        wait->since = now;
    }
    wait->interval = now - wait->seen;
    wait->seen = now;
    if (wait->reads >= MANY && is_power_of_2(wait->reads)) {
        wait->pc = n6virt_pc();
        memcpy(wait->registers, ARM_CPU(first_cpu)->env.regs, sizeof(wait->registers));
    }
}

static void begin(Wait *wait, uint32_t address, uint32_t value)
{
    wait->address = address;
    wait->value = value;
    wait->reads = 1;
    wait->pc = 0;
}

static Wait *find(uint32_t address)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        if (entries[i].address == address) {
            return &entries[i];
        }
    }
    return NULL;
}

static void was_read(uint32_t address, uint32_t value)
{
    Wait *wait = latest;

    if (wait->address != address) {
        wait = find(address);
        if (!wait) {
            wait = &entries[next++ % ENTRIES];
            begin(wait, address, value);
        }
        latest = wait;
    }
    if (wait->value != value) {
        begin(wait, address, value);
    } else if (!(++wait->reads % LOOK)) {
        look(wait);
    }
}

static void was_written(uint32_t address)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        if ((entries[i].address ^ address) < BLOCK_BYTES) {
            entries[i].reads = 0;
            entries[i].pc = 0;
        }
    }
}

static bool goes_on(const Wait *wait)
{
    return wait->pc && n6virt_instructions() - wait->seen <= PATIENCE * wait->interval;
}

uint32_t n6virt_waits_for(uint32_t *pc, uint64_t *reads)
{
    const Wait *longest = NULL;

    for (unsigned i = 0; i < ENTRIES; i++) {
        if (goes_on(&entries[i]) && (!longest || entries[i].reads > longest->reads)) {
            longest = &entries[i];
        }
    }
    *pc = longest ? longest->pc : 0;
    *reads = longest ? longest->reads : 0;
    return longest ? longest->address : 0;
}

static void summarise(GString *summary)
{
    const char *before = "";

    g_string_append(summary, ", \"waits\": [");
    for (unsigned i = 0; i < ENTRIES; i++) {
        const Wait *wait = &entries[i];

        if (!goes_on(wait)) {
            continue;
        }
        g_string_append_printf(summary, "%s{\"address\": \"0x%08x\", \"pc\": \"0x%08x\", \"value\": \"0x%08x\", \"reads\": %" PRIu64
                               ", \"since\": %" PRId64, before, wait->address, wait->pc, wait->value, wait->reads, wait->since);
        n6virt_add_words(summary, "registers", wait->registers, ARRAY_SIZE(wait->registers));
        n6virt_add_memory(summary, "code", wait->pc, CODE_BYTES);
        n6virt_add_memory(summary, "stack", wait->registers[13], STACK_BYTES);
        g_string_append(summary, "}");
        before = ", ";
    }
    g_string_append(summary, "]");
}

/* The registers are other ones after a reset of the chip. */
static void reset(void)
{
    memset(entries, 0, sizeof(entries));
}

static void start(void)
{
    static const N6VirtWatcher watcher = {was_read, was_written};

    n6virt_watch_registers(&watcher);
}

static const N6VirtModule module = {.start = start, .reset = reset, .summarise = summarise};
N6VIRT_MODULE(module)
