/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The chip's blocks of registers: the model that handles an access, the block's clock, and accesses without a model. A register
 * without a model keeps the value written to it, as most do, and its accesses are counted: a program that depends on more is
 * untested.
 */
#include "n6virt.h"

#include "exec/address-spaces.h"

#define NON_SECURE 0x40000000u
#define SECURE (NON_SECURE | N6_SECURE_BIT)
#define PERIPHERAL_BYTES 0x10000000u
#define MAX_MODULES 64
/* The processor's own registers: DWT is stored here, too. */
#define PROCESSOR 0xE0000000u
#define PROCESSOR_BYTES 0x00100000u
#define PAGE_BYTES 0x1000u

/* A hook in QEMU's translator: a block of code is about to run for the first time (qemu.py). */
extern void (*n6virt_fetched)(uint32_t pc, uint32_t bytes);

#define BLOCK(name, base, bytes, enable, bits, secure, secure_bits) {name, base, bytes, enable, bits, secure, secure_bits},
static const N6VirtBlock blocks[] = {N6VIRT_BLOCKS(BLOCK)};
/* n6virt_set has no place for other addresses. */
#define STORED(name, base, bytes, ...) _Static_assert(base - SECURE <= PERIPHERAL_BYTES - bytes, name " is no peripheral");
N6VIRT_BLOCKS(STORED)

static const N6VirtModel *models[ARRAY_SIZE(blocks)];
static const N6VirtModule *modules[MAX_MODULES];
static unsigned module_count;
static void (*updates[MAX_MODULES])(void); /* those of the modules that have one */
static unsigned update_count;
/* Stored values by their exact address: a byte or half word has its own place. A page exists from its first write on. A lookup
 * takes a few instructions; each byte on the console needs some twenty. */
static uint32_t *pages[(PERIPHERAL_BYTES + PROCESSOR_BYTES) / PAGE_BYTES];
static const N6VirtWatcher *watcher;
static bool is_strict = true;
static MemoryRegion secure, non_secure;

typedef struct {
    uint32_t pc; /* of the first access */
    uint32_t reads, writes;
} Unmodelled;

static GHashTable *unmodelled;

#define MOST_OBSERVERS 4

static void (*observers[MOST_OBSERVERS])(void);
static unsigned observer_count;

void n6virt_on_access(void (*observe)(void))
{
    g_assert(observer_count < MOST_OBSERVERS);
    observers[observer_count++] = observe;
}

void n6virt_note_access(void)
{
    for (unsigned i = 0; i < observer_count && !n6virt_is_probe_access(); i++) {
        observers[i]();
    }
}

void n6virt_add_module(const N6VirtModule *module)
{
    g_assert(module_count < MAX_MODULES);
    modules[module_count++] = module;
}

/* Return the place of an address's page; NULL if there are no registers. */
static uint32_t **page_at(uint32_t address)
{
    if (address - SECURE < PERIPHERAL_BYTES) {
        return &pages[(address - SECURE) / PAGE_BYTES];
    }
    return address - PROCESSOR < PROCESSOR_BYTES ? &pages[(address - PROCESSOR + PERIPHERAL_BYTES) / PAGE_BYTES] : NULL;
}

uint32_t n6virt_get(uint32_t address)
{
    uint32_t **page = page_at(address);

    return page && *page ? (*page)[address % PAGE_BYTES] : 0;
}

void n6virt_set(uint32_t address, uint32_t value)
{
    uint32_t **page = page_at(address);

    g_assert(page);
    if (!*page) {
        *page = g_new0(uint32_t, PAGE_BYTES);
    }
    (*page)[address % PAGE_BYTES] = value;
}

const N6VirtBlock *n6virt_block_at(uint32_t address)
{
    unsigned low = 0, high = ARRAY_SIZE(blocks);

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (address < blocks[middle].base) {
            high = middle;
        } else if (address - blocks[middle].base < blocks[middle].bytes) {
            return &blocks[middle];
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

void n6virt_model(uint32_t base, const N6VirtModel *model)
{
    const N6VirtBlock *block = n6virt_block_at(base);

    g_assert(block && block->base == base && !models[block - blocks]);
    models[block - blocks] = model;
}

void n6virt_model_all(const char *prefix, const N6VirtModel *model)
{
    size_t length = strlen(prefix);

    for (unsigned i = 0; i < ARRAY_SIZE(blocks); i++) {
        const char *rest = blocks[i].name + length;

        if (g_str_has_prefix(blocks[i].name, prefix) && *rest && (g_ascii_isdigit(*rest) || !rest[1])) {
            n6virt_model(blocks[i].base, model);
        }
    }
}

static bool contains(const uint32_t *offsets, uint32_t offset)
{
    for (; *offsets != N6VIRT_END; offsets++) {
        if (*offsets == (offset & ~3u)) {
            return true;
        }
    }
    return false;
}

/* Distance in RCC from a block's reset to its clock, at the same bit. */
#define RESET_TO_ENABLE (N6_RCC_AHB5ENR - N6_RCC_AHB5RSTR)

static bool has_clock(const N6VirtBlock *block, const N6VirtModel *model, uint32_t address)
{
    if (!block || !block->enable) {
        return true;
    }
    if (n6virt_has(block->enable, block->enable_bits)) {
        if (n6virt_get(block->enable - RESET_TO_ENABLE) & block->enable_bits) {
            n6virt_finding("in-reset", address, "%s at 0x%08x is held in reset, so the access is lost: end the reset in RCC first",
                           block->name, address);
            return false;
        }
        return true;
    }
    if (model && model->attributes && contains(model->attributes, address - block->base)) {
        n6virt_finding("attribute-off", address, "%s at 0x%08x has no clock: the attributes are lost, which a secure program does "
                       "not notice", block->name, address);
        return false;
    }
    n6virt_finding("clock-off", address, "%s at 0x%08x has no clock, so the access is lost (on the chip, %s): enable its clock first",
                   block->name, address, model && model->without_clock ? model->without_clock : "it may hang");
    return false;
}

static bool answers(const N6VirtModel *model, uint32_t offset)
{
    return model && (!model->registers || contains(model->registers, offset));
}

static Unmodelled *count(uint32_t address)
{
    static Unmodelled by_probe;
    gpointer key = GUINT_TO_POINTER(address & ~3u);
    Unmodelled *entry = n6virt_is_probe_access() ? &by_probe : g_hash_table_lookup(unmodelled, key);

    if (!entry) {
        entry = g_new0(Unmodelled, 1);
        entry->pc = n6virt_pc();
        g_hash_table_insert(unmodelled, key, entry);
    }
    return entry;
}

static uint32_t value_at(uint32_t address, unsigned size)
{
    const N6VirtBlock *block = n6virt_block_at(address);
    const N6VirtModel *model = block ? models[block - blocks] : NULL;

    n6virt_note_access();
    if (!has_clock(block, model, address)) {
        return 0;
    }
    if (!answers(model, address - (block ? block->base : 0))) {
        count(address)->reads++;
        return n6virt_get(address);
    }
    return model->read ? model->read(block, address - block->base, size) : n6virt_get(address);
}

void n6virt_watch_registers(const N6VirtWatcher *with)
{
    watcher = with;
}

bool n6virt_is_strict(void)
{
    return is_strict;
}

void n6virt_set_strict(bool strict)
{
    is_strict = strict;
}

static uint64_t secure_read(void *opaque, hwaddr offset, unsigned size)
{
    uint32_t value = value_at(SECURE + offset, size);

    if (watcher && !n6virt_is_probe_access()) {
        watcher->was_read(SECURE + offset, value);
    }
    return value;
}

static void secure_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    uint32_t address = SECURE + offset;
    const N6VirtBlock *block = n6virt_block_at(address);
    const N6VirtModel *model = block ? models[block - blocks] : NULL;

    n6virt_note_access();
    if (watcher) {
        watcher->was_written(address);
    }
    if (!has_clock(block, model, address)) {
        return;
    }
    if (!answers(model, address - (block ? block->base : 0))) {
        count(address)->writes++;
        n6virt_set(address, value);
    } else if (model->write) {
        model->write(block, address - block->base, value, size);
    } else {
        n6virt_set(address, value);
    }
    for (unsigned i = 0; i < update_count; i++) {
        updates[i]();
    }
}

static const MemoryRegionOps secure_ops = {
    .read = secure_read, .write = secure_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Return whether an access through the non-secure alias reaches the block. On a board both aliases give the same value, until
 * RIFSC makes the block secure: from then on it drops the access silently. */
static bool is_open(hwaddr offset, bool writes)
{
    uint32_t address = NON_SECURE + offset;
    const N6VirtBlock *block = n6virt_block_at(SECURE + offset);

    if (block && block->secure && n6virt_has(block->secure, block->secure_bits)) {
        n6virt_finding("alias", address, "%s 0x%08x %s: it is the non-secure alias of %s, which RIFSC makes secure (SECCFGR%u), use "
                       "0x%08x", writes ? "Write to" : "Read of", address, writes ? "is lost" : "gives zero", block->name,
                       (block->secure - N6_RIFSC_SECCFGR0) / 4, address + N6_SECURE_BIT);
        return false;
    }
    if (n6virt_is_strict()) {
        n6virt_finding("alias-open", address, "0x%08x is the non-secure alias of %s: it works until RIF makes that secure, use 0x%08x",
                       address, block ? block->name : "a peripheral", address + N6_SECURE_BIT);
    }
    return true;
}

static uint64_t non_secure_read(void *opaque, hwaddr offset, unsigned size)
{
    return is_open(offset, false) ? secure_read(opaque, offset, size) : 0;
}

static void non_secure_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    if (is_open(offset, true)) {
        secure_write(opaque, offset, value, size);
    }
}

static const MemoryRegionOps non_secure_ops = {
    .read = non_secure_read, .write = non_secure_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

void n6virt_bus_add_properties(Object *machine)
{
    unmodelled = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (unsigned i = 0; i < module_count; i++) {
        if (modules[i]->add_properties) {
            modules[i]->add_properties(machine);
        }
    }
}

static void fetched(uint32_t pc, uint32_t bytes)
{
    for (unsigned i = 0; i < module_count; i++) {
        if (modules[i]->fetched) {
            modules[i]->fetched(pc, bytes);
        }
    }
}

void n6virt_bus_start(void)
{
    MemoryRegion *system = get_system_memory();

    n6virt_add_io(&secure, system, &secure_ops, "n6.peripherals", SECURE, PERIPHERAL_BYTES, 0);
    n6virt_add_io(&non_secure, system, &non_secure_ops, "n6.non-secure", NON_SECURE, PERIPHERAL_BYTES, 0);
    n6virt_fetched = fetched;
    for (unsigned i = 0; i < module_count; i++) {
        if (modules[i]->update) {
            updates[update_count++] = modules[i]->update;
        }
        if (modules[i]->start) {
            modules[i]->start();
        }
    }
}

/* Programs built here enable each clock that they use, and each RAM but those with on_after_reset: the state in which the boot
 * ROM leaves them is unknown. */
static void take_clocks(void)
{
    uint32_t on = 0;

#define NO_CLOCK(enable) n6virt_set(enable, 0);
    N6VIRT_CLOCK_ENABLES(NO_CLOCK)
#define RAM_ON(name, base, bytes, enable, ramcfg, on_after_reset, ...) on |= on_after_reset ? enable : 0;
    N6VIRT_RAMS(RAM_ON)
    n6virt_set(N6_RCC_MEMENR, on);
}

void n6virt_bus_reset(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
        g_clear_pointer(&pages[i], g_free);
    }
#define RESET(address, value) n6virt_set(address, value);
    N6VIRT_RESETS(RESET)
    if (n6virt_is_strict()) {
        take_clocks();
    }
    for (unsigned i = 0; i < module_count; i++) {
        if (modules[i]->reset) {
            modules[i]->reset();
        }
    }
}

static gint by_address(gconstpointer left, gconstpointer right)
{
    return GPOINTER_TO_UINT(left) < GPOINTER_TO_UINT(right) ? -1 : 1;
}

void n6virt_bus_summarise(GString *summary)
{
    GList *addresses = g_list_sort(g_hash_table_get_keys(unmodelled), by_address);

    g_string_append(summary, ", \"unmodelled\": [");
    for (GList *node = addresses; node; node = node->next) {
        Unmodelled *entry = g_hash_table_lookup(unmodelled, node->data);

        g_string_append_printf(summary, "%s[\"0x%08x\", \"0x%08x\", %u, %u]", node == addresses ? "" : ", ",
                               GPOINTER_TO_UINT(node->data), entry->pc, entry->reads, entry->writes);
    }
    g_string_append(summary, "]");
    g_list_free(addresses);
    for (unsigned i = 0; i < module_count; i++) {
        if (modules[i]->summarise) {
            modules[i]->summarise(summary);
        }
    }
}
