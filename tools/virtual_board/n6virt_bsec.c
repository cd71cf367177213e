/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * BSEC: the fuses. The board defines their words. Blowing a fuse changes only the file given for it, and is refused without a
 * file: on the chip it cannot be undone.
 *
 *   ,fuses=124:0x18000/9:0x1   words of the board; all others are 0
 *   ,fuse-file=FILE            file that keeps 384 words of 4 bytes, little endian; missing words are the board's
 */
#include "n6virt.h"

#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"

#define WORDS 384

static char *described, *file_path;
static uint32_t words[WORDS];

static void load(void)
{
    g_auto(GStrv) entries = g_strsplit(described ? described : "", "/", -1);
    g_autofree gchar *content = NULL;
    gsize bytes = 0;

    memset(words, 0, sizeof(words));
    for (gchar **entry = entries; *entry; entry++) {
        char *value = strchr(*entry, ':');
        unsigned long number = strtoul(*entry, NULL, 0);

        if (value && number < WORDS) {
            words[number] = strtoul(value + 1, NULL, 0);
        }
    }
    if (file_path && g_file_get_contents(file_path, &content, &bytes, NULL)) {
        for (unsigned i = 0; i < WORDS && 4 * (i + 1) <= bytes; i++) {
            words[i] = ldl_le_p(content + 4 * i);
        }
    }
}

static void save(void)
{
    uint8_t content[4 * WORDS];
    g_autoptr(GError) error = NULL;

    for (unsigned i = 0; i < WORDS; i++) {
        stl_le_p(content + 4 * i, words[i]);
    }
    if (!g_file_set_contents(file_path, (const gchar *)content, sizeof(content), &error)) {
        error_report("Cannot write the fuses: %s", error->message);
        exit(1);
    }
}

uint32_t n6virt_fuse(unsigned word)
{
    return words[word];
}

bool n6virt_is_closed(void)
{
    return words[N6VIRT_ROM_LIFE_CYCLE] & N6VIRT_ROM_LOCKED;
}

bool n6virt_is_provisioned(void)
{
    return words[N6VIRT_ROM_LIFE_CYCLE] & N6VIRT_ROM_PROVISIONED;
}

void n6virt_rom_blows(unsigned word, uint32_t bits)
{
    words[word] |= bits;
    if (file_path) {
        save();
    }
}

/* Blow bits of a word; bits only go from 0 to 1. */
static void blow(uint32_t word, uint32_t value)
{
    if (word >= WORDS) {
        return;
    }
    if (!file_path) {
        n6virt_finding("fuse", N6_BSEC_OTPCR, "The program blows fuse word %u with 0x%08x, which cannot be undone on the chip: not done "
                       "here without option fuses=FILE, or fuses=BOARD for the fuses of a board from the factory", word, value);
        n6virt_set(N6_BSEC_OTPSR, n6virt_get(N6_BSEC_OTPSR) | N6_BSEC_OTPSR_PROGFAIL);
        return;
    }
    if (word >= N6VIRT_BITWISE_FUSES && words[word] && words[word] != value) {
        n6virt_finding("fuse", N6_BSEC_OTPCR, "The program blows fuse word %u with 0x%08x after 0x%08x: words from %u on take one "
                       "programming", word, value, words[word], N6VIRT_BITWISE_FUSES);
        n6virt_set(N6_BSEC_OTPSR, n6virt_get(N6_BSEC_OTPSR) | N6_BSEC_OTPSR_PROGFAIL);
        return;
    }
    words[word] |= value;
    save();
}

static uint32_t bsec_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    if (offset < 4 * WORDS) {
        return words[offset / 4];
    }
    if (offset == N6_BSEC_OTPSR_OFFSET) {
        return (n6virt_get(N6_BSEC_OTPSR) & N6_BSEC_OTPSR_PROGFAIL) | N6_BSEC_OTPSR_INIT_DONE;
    }
    return n6virt_get(block->base + offset);
}

static void bsec_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (offset < 4 * WORDS || offset == N6_BSEC_OTPSR_OFFSET) {
        return;
    }
    n6virt_set(block->base + offset, value);
    if (offset == N6_BSEC_OTPCR_OFFSET) {
        n6virt_set(N6_BSEC_OTPSR, 0);
        if (value & N6_BSEC_OTPCR_PROG) {
            blow((value & N6_BSEC_OTPCR_ADDR) >> N6_BSEC_OTPCR_ADDR_POS, n6virt_get(N6_BSEC_WDR));
        }
    }
}

/* The model covers the whole block: locks and scratch registers are stored. */
static const N6VirtModel bsec = {.read = bsec_read, .write = bsec_write};

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "fuses", &described);
    n6virt_text_property(machine, "fuse-file", &file_path);
}

static void start(void)
{
    n6virt_model(N6_BSEC_BASE, &bsec);
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = load};
N6VIRT_MODULE(module)
