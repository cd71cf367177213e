/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The effects of the boot ROM: it looks for an FSBL in the two places of the NOR that it knows, checks the header, copies the
 * image to RAM and starts at the header's entry. A closed chip starts only signed images (n6virt_rom_keys.c). boards/soc documents the state in which it leaves clocks and controllers.
 * With development-boot=on it leaves the NOR and its controllers alone, and waits in a loop for a probe, which it lets in unless
 * the fuses close the chip: it has no development boot then (section 3.3.1 of ST's UM3234).
 */
#include "n6virt.h"

#include "n6_boot_header.h"

#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/core/cpu.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"

#define HEADER_WORD(image, member) ldl_le_p((image) + offsetof(n6_boot_header_t, member))
#define THUMB 1u
#define BRANCH_TO_ITSELF 0xe7feu
#define LOOP_BYTES 4096u
#define MPU_ALIGNMENT 32u

/* The context that the boot ROM leaves: offsets, and values of the interface and of the result of authentication. */
enum { CONTEXT_PARTITION = 0, CONTEXT_INTERFACE = 40, CONTEXT_INSTANCE = 42, CONTEXT_RESULT = 52, CONTEXT_BYTES = 56 };
enum { SERIAL_NOR = 4 };
enum { NOT_AUTHENTICATED, NOT_AUTHENTIC, AUTHENTIC };

static MemoryRegion rom, loop;
static bool strict_clocks = true, development;

/* Return the reason why the image cannot be started, or NULL. The caller frees the text. */
static char *objection(const uint8_t *header, uint32_t room)
{
    uint32_t length = HEADER_WORD(header, image_bytes), version = HEADER_WORD(header, version), sum = 0, known = 0;

    if (HEADER_WORD(header, magic) != N6_BOOT_HEADER_MAGIC) {
        return g_strdup_printf("the image begins with 0x%08x, not with 0x%08x", HEADER_WORD(header, magic), N6_BOOT_HEADER_MAGIC);
    }
#define KNOWN(word) known |= version == word;
    N6VIRT_HEADER_VERSIONS(KNOWN)
    if (!known) {
        return g_strdup_printf("the header has version 0x%08x, not 0x%08x", version, N6_BOOT_HEADER_VERSION);
    }
    if (length > MIN(room, N6_BOOT_MAX_IMAGE) - N6_BOOT_HEADER_BYTES || length < N6_BOOT_PAYLOAD_OFFSET - N6_BOOT_HEADER_BYTES) {
        return g_strdup_printf("%u bytes follow the header, at most %u are allowed", length,
                               MIN(room, N6_BOOT_MAX_IMAGE) - N6_BOOT_HEADER_BYTES);
    }
    for (uint32_t i = 0; i < length; i++) {
        sum += header[N6_BOOT_HEADER_BYTES + i];
    }
    if (sum != HEADER_WORD(header, checksum)) {
        return g_strdup_printf("the sum of its bytes is 0x%08x, but the header has 0x%08x", sum, HEADER_WORD(header, checksum));
    }
    if (HEADER_WORD(header, entry) - N6_BOOT_HEADER_ADDRESS - N6_BOOT_HEADER_BYTES > length) {
        return g_strdup_printf("entry 0x%08x is outside the image", HEADER_WORD(header, entry));
    }
    if (n6virt_is_closed()) {
        g_autofree char *why = n6virt_is_provisioned() ? n6virt_rom_objection(header) : g_strdup("it starts ST's own FSBL only");

        return why ? g_strdup_printf("the fuses close this chip, and %s", why) : NULL;
    }
    return NULL;
}

uint32_t n6virt_image_bytes(const uint8_t *header, uint32_t room)
{
    if (room < N6_BOOT_HEADER_BYTES || HEADER_WORD(header, magic) != N6_BOOT_HEADER_MAGIC ||
        HEADER_WORD(header, image_bytes) > room - N6_BOOT_HEADER_BYTES) {
        return 0;
    }
    return N6_BOOT_HEADER_BYTES + HEADER_WORD(header, image_bytes);
}

/* Return the first FSBL that can be started, with its slot. Without one, return NULL, with the reason for the first slot. */
static const uint8_t *find_fsbl(const uint8_t *nor, uint32_t nor_bytes, unsigned *slot, char **reason)
{
    static const uint32_t slots[] = {N6VIRT_FSBL_SLOTS};

    for (unsigned i = 0; i < ARRAY_SIZE(slots) && slots[i] < nor_bytes; i++) {
        char *why = objection(nor + slots[i], nor_bytes - slots[i]);

        if (!why) {
            g_free(*reason);
            *slot = i;
            return nor + slots[i];
        }
        if (*reason) {
            g_free(why);
        } else {
            *reason = why;
        }
    }
    return NULL;
}

/* Return whether a vector table can begin here: an aligned stack pointer, then a Thumb address. */
static bool is_vector_table(const uint8_t *at)
{
    uint32_t stack = ldl_le_p(at);

    return stack && !(stack & 7) && ldl_le_p(at + 4) & THUMB;
}

/* Report an image whose vector table begins right behind the header, as ST's signing tool from 2.21 on leaves it without
 * -align. The boot ROM copies it all the same, so that no address in the program is right. The header's entry does not help: the
 * tool takes it from the place where the table is expected. */
static void check_alignment(const uint8_t *header)
{
    if (is_vector_table(header + N6_BOOT_HEADER_BYTES) && !is_vector_table(header + N6_BOOT_PAYLOAD_OFFSET)) {
        n6virt_finding("boot-rom", N6_XSPI2_WINDOW_BASE, "The FSBL was signed without -align: its vector table is at 0x%x of the image, "
                       "the chip expects it at 0x%x", N6_BOOT_HEADER_BYTES, N6_BOOT_PAYLOAD_OFFSET);
    }
}

/* Return the result of authentication. On an open chip the boot ROM starts an FSBL whatever its signature is. Tell what a closed
 * chip would do, if the fuses have keys. */
static unsigned authenticate(const uint8_t *header)
{
    g_autofree char *why = NULL;

    if (!(HEADER_WORD(header, extensions) & N6_BOOT_EXTENSION_AUTHENTICATION)) {
        return NOT_AUTHENTICATED;
    }
    /* On a closed chip this image was chosen because nothing speaks against it. */
    why = n6virt_is_closed() ? NULL : n6virt_rom_objection(header);
    if (!why) {
        n6virt_rom_accepts(header);
        return AUTHENTIC;
    }
    if (n6virt_rom_has_keys()) {
        n6virt_finding("boot-rom", N6_XSPI2_WINDOW_BASE, "The FSBL starts because the chip is open. A closed one rejects it: %s", why);
    }
    return NOT_AUTHENTIC;
}

/* Write the context, as table 23 of UM3234 has it. */
static void leave_context(unsigned slot, unsigned result)
{
    uint8_t context[CONTEXT_BYTES] = {0};

    stl_le_p(context + CONTEXT_PARTITION, slot + 1);
    stw_le_p(context + CONTEXT_INTERFACE, SERIAL_NOR);
    stw_le_p(context + CONTEXT_INSTANCE, 1);
    stl_le_p(context + CONTEXT_RESULT, result);
    n6virt_put(N6VIRT_ROM_CONTEXT, context, sizeof(context));
}

static void leave_behind(void)
{
    n6virt_set(N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI1EN | N6_RCC_AHB5ENR_XSPIMEN);
    n6virt_set(N6_XSPI1_CR, N6_XSPI_CR_EN);
    n6virt_set(N6_XSPIM_CR, N6_XSPIM_CR_MODE);
}

static void open_ap1(void)
{
    n6virt_set(N6_DBGMCU_SR, n6virt_get(N6_DBGMCU_SR) | N6_DBGMCU_SR_AP1_OPEN);
}

static void (*let_in)(void) = open_ap1;

void n6virt_boot_lets_in(void (*function)(void))
{
    let_in = function;
}

static void wait_for_probe(CPUState *cpu)
{
    if (!n6virt_is_closed()) {
        let_in();
    }
    ARM_CPU(cpu)->env.regs[13] = N6VIRT_ROM_STACK;
    cpu_set_pc(cpu, N6VIRT_DEVELOPMENT_LOOP | THUMB);
}

void n6virt_boot(CPUState *cpu, const uint8_t *nor, uint32_t nor_bytes)
{
    char *reason = NULL;
    const uint8_t *header;
    unsigned slot = 0;
    uint32_t stack;

    if (development) {
        wait_for_probe(cpu);
        return;
    }
    header = find_fsbl(nor, nor_bytes, &slot, &reason);
    if (!header) {
        n6virt_finding("boot-rom", N6_XSPI2_WINDOW_BASE, "The boot ROM finds no FSBL: %s", reason);
        n6virt_findings_close("\"instructions\": 0");
        error_report("The boot ROM finds no FSBL: %s", reason);
        exit(1);
    }
    check_alignment(header);
    leave_context(slot, authenticate(header));
    if (n6virt_is_closed() && HEADER_WORD(header, image_bytes) % MPU_ALIGNMENT) {
        n6virt_finding("boot-rom", N6_XSPI2_WINDOW_BASE, "%u bytes follow the header of the FSBL, no multiple of %u: the boot ROM of a "
                       "closed chip lets the MPU forbid all code but the FSBL's", HEADER_WORD(header, image_bytes), MPU_ALIGNMENT);
    }
    address_space_write(&address_space_memory, N6_BOOT_HEADER_ADDRESS, MEMTXATTRS_UNSPECIFIED, header,
                        N6_BOOT_HEADER_BYTES + HEADER_WORD(header, image_bytes));
    leave_behind();
    /* The boot ROM's stack is in RAM that the image does not use. If the entry is that of a vector table, the table's stack is
     * used. */
    stack = HEADER_WORD(header, entry) == ldl_le_p(header + N6_BOOT_PAYLOAD_OFFSET + 4) ? ldl_le_p(header + N6_BOOT_PAYLOAD_OFFSET)
                                                                                        : N6VIRT_ROM_STACK;
    ARM_CPU(cpu)->env.regs[0] = N6VIRT_ROM_CONTEXT;
    ARM_CPU(cpu)->env.regs[13] = stack & ~3u;
    cpu_set_pc(cpu, HEADER_WORD(header, entry) | THUMB);
}

static uint64_t rom_read(void *opaque, hwaddr offset, unsigned size)
{
    uint32_t address = N6_BOOTROM_BASE + offset;

    if (address == N6VIRT_REVISION_ADDRESS) {
        return N6VIRT_REVISION_ID;
    }
    n6virt_finding("boot-rom", address, "Read of 0x%08x in the boot ROM gives zero: its content is unknown", address);
    return 0;
}

static void rom_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    n6virt_finding("boot-rom", N6_BOOTROM_BASE + offset, "Write to 0x%08x in the boot ROM is lost", (uint32_t)(N6_BOOTROM_BASE + offset));
}

static const MemoryRegionOps rom_ops = {
    .read = rom_read, .write = rom_write, .endianness = DEVICE_LITTLE_ENDIAN, .valid.max_access_size = 8,
    .impl.max_access_size = 8, .valid.unaligned = true, .impl.unaligned = true,
};

bool n6virt_is_flash_boot(void)
{
    return !development;
}

static void add_properties(Object *machine)
{
    n6virt_switch_property(machine, "strict-clocks", &strict_clocks);
    n6virt_switch_property(machine, "development-boot", &development);
}

static void start(void)
{
    n6virt_set_strict(strict_clocks && !development);
    n6virt_add_io(&rom, get_system_memory(), &rom_ops, "n6.boot-rom", N6_BOOTROM_BASE, N6_BOOTROM_SIZE, 0);
    if (development) {
        uint8_t *code;

        memory_region_init_rom(&loop, NULL, "n6.boot-rom-loop", LOOP_BYTES, &error_fatal);
        code = memory_region_get_ram_ptr(&loop);
        for (unsigned i = 0; i < LOOP_BYTES; i += 2) {
            stw_le_p(code + i, BRANCH_TO_ITSELF);
        }
        memory_region_add_subregion_overlap(get_system_memory(), N6VIRT_DEVELOPMENT_LOOP & ~(LOOP_BYTES - 1), &loop, 1);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
