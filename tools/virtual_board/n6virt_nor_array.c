/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The NOR's content, and the description of the part as properties of the machine, such as nor-read-dtr=0xEE (from the board's
 * nor, and boards/nor). The content is a copy in memory that a program can erase and program; nor-write=on also keeps that in
 * the file. nor-cut=N ends the run in the middle of the N-th such write, as if the power failed: with status 124 and "ended":
 * "cut".
 */
#include "n6virt_nor.h"

#include "exec/address-spaces.h"
#include "qapi/error.h"
#include "qemu/error-report.h"

N6VirtNor n6virt_nor;
N6VirtNorArray n6virt_nor_array;

/* The address space of the array alone: a write there also drops code that was translated from it. */
static AddressSpace space;
static int file = -1;

void n6virt_nor_store(uint32_t offset, const uint8_t *data, uint32_t bytes)
{
    address_space_write_rom(&space, offset, MEMTXATTRS_UNSPECIFIED, data, bytes);
    if (file >= 0 && pwrite(file, data, bytes, offset) != bytes) {
        error_report("Cannot write the NOR's file: %s", strerror(errno));
        exit(1);
    }
}

const uint8_t *n6virt_nor_content(uint32_t *bytes)
{
    *bytes = n6virt_nor_array.bytes;
    return n6virt_nor_array.data;
}

bool n6virt_nor_uses_port(uint32_t port)
{
    return port == n6virt_nor.port;
}

static void add_properties(Object *machine)
{
    static const N6VirtNumber numbers[] = {
        {"nor-jedec-id", &n6virt_nor.jedec_id},
        {"nor-configuration", &n6virt_nor.configuration},
        {"nor-memory-type", &n6virt_nor.memory_type},
        {"nor-second-byte", &n6virt_nor.second_byte},
        {"nor-read", &n6virt_nor.read},
        {"nor-read-str", &n6virt_nor.read_str},
        {"nor-read-dtr", &n6virt_nor.read_dtr},
        {"nor-program", &n6virt_nor.program},
        {"nor-erase-4k", &n6virt_nor.erase_4k},
        {"nor-erase-64k", &n6virt_nor.erase_64k},
        {"nor-page", &n6virt_nor.page},
        {"nor-write-register", &n6virt_nor.write_register},
        {"nor-read-register", &n6virt_nor.read_register},
        {"nor-mode-address", &n6virt_nor.mode_address},
        {"nor-mode-spi", &n6virt_nor.mode_spi},
        {"nor-mode-str", &n6virt_nor.mode_str},
        {"nor-mode-dtr", &n6virt_nor.mode_dtr},
        {"nor-dummy-address", &n6virt_nor.dummy_address},
        {"nor-read-max-hz", &n6virt_nor.read_max_hz},
        {"nor-spi-max-hz", &n6virt_nor.spi_max_hz},
        {"nor-former-mode-us", &n6virt_nor.former_mode_us},
        {"nor-reset-us", &n6virt_nor.reset_us},
        {"nor-program-us", &n6virt_nor.program_us},
        {"nor-erase-4k-us", &n6virt_nor.erase_4k_us},
        {"nor-erase-64k-us", &n6virt_nor.erase_64k_us},
        {"nor-erase-mib-us", &n6virt_nor.erase_mib_us},
        {"nor-port", &n6virt_nor.port},
        {"nor-pins", &n6virt_nor.pins},
        {"nor-alternate", &n6virt_nor.alternate},
        {"nor-chip-select", &n6virt_nor.chip_select},
        {"nor-cut", &n6virt_nor.cut},
    };

    n6virt_number_properties(machine, numbers, ARRAY_SIZE(numbers));
    n6virt_text_property(machine, "nor", &n6virt_nor.path);
    n6virt_switch_property(machine, "nor-write", &n6virt_nor.keeps);
    n6virt_text_property(machine, "nor-dummy-cycles", &n6virt_nor.dummy_cycles);
    n6virt_text_property(machine, "nor-max-hz", &n6virt_nor.max_hz);
    n6virt_text_property(machine, "nor-sfdp", &n6virt_nor.sfdp);
}

static void read_file(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree gchar *content = NULL;
    N6VirtNorArray *array = &n6virt_nor_array;
    gsize bytes;

    if (!g_file_get_contents(n6virt_nor.path, &content, &bytes, &error)) {
        error_report("Cannot read the NOR's file: %s", error->message);
        exit(1);
    }
    if (bytes < N6_BOOT_MAX_IMAGE || bytes > N6_XSPI2_WINDOW_SIZE || !is_power_of_2(bytes)) {
        error_report("The NOR's file has %zu bytes, which is not a size of a NOR", (size_t)bytes);
        exit(1);
    }
    if (!is_power_of_2(n6virt_nor.page) || n6virt_nor.page > N6VIRT_NOR_MAX_PAGE) {
        error_report("Property nor-page: %u is not the size of a page", n6virt_nor.page);
        exit(1);
    }
    file = n6virt_nor.keeps ? open(n6virt_nor.path, O_WRONLY | O_CLOEXEC) : -1;
    if (n6virt_nor.keeps && file < 0) {
        error_report("Cannot write the NOR's file: %s", strerror(errno));
        exit(1);
    }
    memory_region_init_rom(&array->region, NULL, "n6.nor-array", bytes, &error_fatal);
    array->data = memory_region_get_ram_ptr(&array->region);
    array->bytes = bytes;
    memcpy(array->data, content, bytes);
    address_space_init(&space, &array->region, "n6.nor");
}

void n6virt_nor_load(void)
{
    N6VirtNorArray *array = &n6virt_nor_array;
    const char *text = n6virt_nor.sfdp ? n6virt_nor.sfdp : "";

    for (; array->sfdp_bytes < N6VIRT_NOR_MAX_SFDP && g_ascii_isxdigit(text[0]) && g_ascii_isxdigit(text[1]); text += 2) {
        array->sfdp[array->sfdp_bytes++] = g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1]);
    }
    if (n6virt_nor.path && *n6virt_nor.path) {
        read_file();
    }
}

static const N6VirtModule module = {.add_properties = add_properties};
N6VIRT_MODULE(module)
