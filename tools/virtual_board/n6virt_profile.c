/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Profile of a run, to find what a slow program spends its time with:
 *
 *   ,profile=FILE
 *
 * Every EVERY instructions the place of the program is noted, by guest time: two runs note the same places. A read or write of
 * registers is counted by block, and so is each block of code that is translated. The host's time is measured beside these counts,
 * and differs from run to run. Without the property nothing is added to an access or an instruction.
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"

/* A prime: a loop must not be as long as the distance of two looks, or one of its instructions would get all of them. */
#define EVERY 4001
/* Places with their own count: a program has fewer instructions in RAM. All others count together, at address 0. */
#define MOST_PLACES 200000
#define CLOCK_READS 1000

typedef struct {
    uint64_t instructions;
    int64_t host_ns;        /* of the emulator, without the time in models */
    uint64_t blocks, bytes; /* code translated at this address */
} Place;

typedef struct {
    uint64_t reads, writes;
    int64_t host_ns;
} Use;

/* The operations of a region, in front of its own. */
typedef struct {
    MemoryRegionOps timed;
    const MemoryRegionOps *own;
    const char *name;
    uint64_t base;
} Front;

static char *path;
static FILE *file;
static QEMUTimer *timer;
static GHashTable *places; /* by address */
static GHashTable *uses;   /* by the name of a block or region */
static int64_t last_instructions, last_host_ns, models_ns;
/* Time of reading the clock once, which is as long as many an access. */
static int64_t clock_ns;
/* A model may access registers itself: only the outer access is timed. */
static unsigned depth;

static int64_t host_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static Place *place_at(uint32_t pc)
{
    gpointer key = GUINT_TO_POINTER(pc);
    Place *place = g_hash_table_lookup(places, key);

    if (!place && pc && g_hash_table_size(places) >= MOST_PLACES) {
        return place_at(0);
    }
    if (!place) {
        place = g_new0(Place, 1);
        g_hash_table_insert(places, key, place);
    }
    return place;
}

static Use *use_of(const char *name)
{
    Use *use = g_hash_table_lookup(uses, name);

    if (!use) {
        use = g_new0(Use, 1);
        g_hash_table_insert(uses, (gpointer)name, use);
    }
    return use;
}

/* Give the instructions and the time since the last look to the place of the program. */
static void look(void)
{
    int64_t now = n6virt_instructions(), spent = host_ns();
    Place *place = place_at(ARM_CPU(first_cpu)->env.regs[15]);

    place->instructions += now - last_instructions;
    place->host_ns += spent - last_host_ns - models_ns;
    last_instructions = now;
    last_host_ns = spent;
    models_ns = 0;
    /* An access that ended in an exception has not counted itself out. */
    depth = 0;
}

static void on_time(void *opaque)
{
    /* No instruction has been executed in a sleep. */
    if (n6virt_instructions() != last_instructions) {
        look();
    }
    timer_mod(timer, n6virt_now() + EVERY);
}

static Use *used(const Front *front, hwaddr offset)
{
    const N6VirtBlock *block = n6virt_block_at((front->base + offset) | N6_SECURE_BIT);

    return use_of(block ? block->name : front->name);
}

static void note_time(Use *use, int64_t began)
{
    int64_t spent = host_ns() - began;

    use->host_ns += MAX(spent - clock_ns, 0);
    models_ns += spent + clock_ns;
}

static MemTxResult timed_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    const Front *front = opaque;
    Use *use = used(front, offset);
    int64_t began = depth++ ? 0 : host_ns();
    MemTxResult result = MEMTX_OK;

    use->reads++;
    if (front->own->read) {
        *value = front->own->read(NULL, offset, size);
    } else {
        result = front->own->read_with_attrs(NULL, offset, value, size, attributes);
    }
    if (depth && !--depth) {
        note_time(use, began);
    }
    return result;
}

static MemTxResult timed_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    const Front *front = opaque;
    Use *use = used(front, offset);
    int64_t began = depth++ ? 0 : host_ns();
    MemTxResult result = MEMTX_OK;

    use->writes++;
    if (front->own->write) {
        front->own->write(NULL, offset, value, size);
    } else {
        result = front->own->write_with_attrs(NULL, offset, value, size, attributes);
    }
    if (depth && !--depth) {
        note_time(use, began);
    }
    return result;
}

static const MemoryRegionOps *profiled(const MemoryRegionOps *own, const char *name, uint64_t base, void **opaque)
{
    Front *front;

    if (!path || !*path) {
        return own;
    }
    front = g_new0(Front, 1);
    front->timed = *own;
    front->timed.read = NULL;
    front->timed.write = NULL;
    front->timed.read_with_attrs = own->read || own->read_with_attrs ? timed_read : NULL;
    front->timed.write_with_attrs = own->write || own->write_with_attrs ? timed_write : NULL;
    front->own = own;
    front->name = name;
    front->base = base;
    *opaque = front;
    return &front->timed;
}

static void measure_clock(void)
{
    int64_t began = host_ns();

    for (unsigned i = 0; i < CLOCK_READS; i++) {
        host_ns();
    }
    clock_ns = (host_ns() - began) / CLOCK_READS;
}

static void fetched(uint32_t pc, uint32_t bytes)
{
    if (file) {
        Place *place = place_at(pc);

        place->blocks++;
        place->bytes += bytes;
    }
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "profile", &path);
    n6virt_put_in_front(profiled);
}

static void start(void)
{
    file = n6virt_open(path, "w", "the profile");
    if (!file) {
        return;
    }
    if (!icount_enabled() || icount_to_ns(1) != 1) {
        error_report("Property profile needs -icount shift=0,sleep=off");
        exit(1);
    }
    places = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    uses = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    measure_clock();
    last_host_ns = host_ns();
    /* External: this timer does not wake a processor that sleeps. */
    timer = timer_new_full(NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, QEMU_TIMER_ATTR_EXTERNAL, on_time, NULL);
    timer_mod(timer, EVERY);
}

static gint by_number(gconstpointer left, gconstpointer right)
{
    return GPOINTER_TO_UINT(left) < GPOINTER_TO_UINT(right) ? -1 : 1;
}

static void write_places(void)
{
    GList *addresses = g_list_sort(g_hash_table_get_keys(places), by_number);

    for (GList *node = addresses; node; node = node->next) {
        const Place *place = g_hash_table_lookup(places, node->data);

        fprintf(file, "%s[%u, %" PRIu64 ", %" PRId64 ", %" PRIu64 ", %" PRIu64 "]", node == addresses ? "" : ", ",
                GPOINTER_TO_UINT(node->data), place->instructions, place->host_ns, place->blocks, place->bytes);
    }
    g_list_free(addresses);
}

static void write_uses(void)
{
    GList *names = g_list_sort(g_hash_table_get_keys(uses), (GCompareFunc)strcmp);

    for (GList *node = names; node; node = node->next) {
        const Use *use = g_hash_table_lookup(uses, node->data);

        fprintf(file, "%s[\"%s\", %" PRIu64 ", %" PRIu64 ", %" PRId64 "]", node == names ? "" : ", ", (const char *)node->data,
                use->reads, use->writes, use->host_ns);
    }
    g_list_free(names);
}

static void summarise(GString *summary)
{
    if (!file) {
        return;
    }
    look();
    fprintf(file, "{\"every\": %d, \"instructions\": %" PRId64 ", \"asleep\": %" PRId64 ", \"places\": [", EVERY, last_instructions,
            n6virt_now() - last_instructions);
    write_places();
    fputs("], \"models\": [", file);
    write_uses();
    fputs("]}\n", file);
    fclose(file);
    file = NULL;
}

static const N6VirtModule module = {
    .add_properties = add_properties, .start = start, .fetched = fetched, .summarise = summarise,
};
N6VIRT_MODULE(module)
