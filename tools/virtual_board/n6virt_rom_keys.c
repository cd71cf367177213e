/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The FSBLs that the boot ROM of a closed chip starts, as chapter 5 of ST's manual UM3234 has it: signed with a key whose table
 * has the digest in the fuses, and with a version that the fuses allow. Later it blows fuses against older keys and versions.
 * Only P-256 is modelled. INFERRED: keys and signatures on P-256 fill the first 64 bytes of their fields.
 */
#include "n6virt.h"

#include "n6_boot_header.h"
#include "bearssl_ec.h"
#include "bearssl_hash.h"

#include "qemu/bswap.h"
#include "qemu/host-utils.h"

#define WORD(at, structure, member) ldl_le_p((at) + offsetof(structure, member))
#define HEADER_WORD(header, member) WORD(header, n6_boot_header_t, member)
#define KEY_WORD(extension, member) WORD(extension, n6_boot_authentication_t, member)
#define EXTENSION(header) ((header) + sizeof(n6_boot_header_t))
#define DIGEST 32
#define HALVES 64 /* bytes of a point without its first one, and of a signature */
#define UNCOMPRESSED 4
#define MOST_KEYS 8
#define MOST_VERSIONS 63

/* Return the value of a counter in fuses: the number of its highest blown bit, from 1 on; 0 without one. */
static uint32_t counted(unsigned word, unsigned words)
{
    while (words--) {
        if (n6virt_fuse(word + words)) {
            return 32 * words + 32 - clz32(n6virt_fuse(word + words));
        }
    }
    return 0;
}

static void hash(const uint8_t *data, size_t bytes, uint8_t *digest)
{
    br_sha256_context context;

    br_sha256_init(&context);
    br_sha256_update(&context, data, bytes);
    br_sha256_out(&context, digest);
}

static bool table_is_that_of_the_fuses(const uint8_t *table, uint32_t keys)
{
    uint8_t digest[DIGEST];
    bool equal = true;

    hash(table, DIGEST * keys, digest);
    for (unsigned i = 0; i < DIGEST / 4; i++) {
        equal &= ldl_be_p(digest + 4 * i) == n6virt_fuse(N6VIRT_ROM_KEYS + i);
    }
    return equal;
}

static bool key_is_that_of_the_table(const uint8_t *extension, const uint8_t *wanted)
{
    uint8_t named[4 + HALVES], digest[DIGEST];

    stl_le_p(named, KEY_WORD(extension, algorithm));
    memcpy(named + 4, extension + offsetof(n6_boot_authentication_t, key), HALVES);
    hash(named, sizeof(named), digest);
    return !memcmp(digest, wanted, DIGEST);
}

static bool signature_is_right(const uint8_t *header)
{
    uint8_t point[1 + HALVES] = {UNCOMPRESSED}, digest[DIGEST];
    br_ec_public_key key = {.curve = BR_EC_secp256r1, .q = point, .qlen = sizeof(point)};
    br_sha256_context context;

    memcpy(point + 1, EXTENSION(header) + offsetof(n6_boot_authentication_t, key), HALVES);
    br_sha256_init(&context);
    br_sha256_update(&context, header + N6_BOOT_SIGNED_OFFSET, N6_BOOT_SIGNED_BYTES);
    br_sha256_update(&context, EXTENSION(header),
                     N6_BOOT_HEADER_BYTES - sizeof(n6_boot_header_t) + HEADER_WORD(header, image_bytes));
    br_sha256_out(&context, digest);
    return br_ecdsa_i31_vrfy_raw(&br_ec_p256_m31, digest, DIGEST, &key, header + offsetof(n6_boot_header_t, signature), HALVES);
}

char *n6virt_rom_objection(const uint8_t *header)
{
    const uint8_t *extension = EXTENSION(header), *table = extension + sizeof(n6_boot_authentication_t);
    uint32_t flags = HEADER_WORD(header, extensions), number = KEY_WORD(extension, key_number), keys = KEY_WORD(extension, key_count);
    uint32_t active = counted(N6VIRT_ROM_ACTIVE_KEY, 1), version = counted(N6VIRT_ROM_VERSION, 2);

    if (!(flags & N6_BOOT_EXTENSION_AUTHENTICATION)) {
        return g_strdup("the image is not signed");
    }
    if (flags & N6_BOOT_EXTENSION_ENCRYPTION) {
        return g_strdup("the image is encrypted: the virtual board decrypts no FSBL");
    }
    if (KEY_WORD(extension, type) != N6_BOOT_AUTHENTICATION_TYPE || !keys || keys > MOST_KEYS || number >= keys ||
        KEY_WORD(extension, bytes) != sizeof(n6_boot_authentication_t) + DIGEST * keys) {
        return g_strdup("its authentication extension is damaged");
    }
    if (KEY_WORD(extension, algorithm) != N6_BOOT_P256) {
        return g_strdup_printf("it is signed with algorithm %u: the virtual board verifies P-256 only", KEY_WORD(extension, algorithm));
    }
    if (HEADER_WORD(header, image_version) < version) {
        return g_strdup_printf("its version is %u, but the fuses demand %u", HEADER_WORD(header, image_version), version);
    }
    if (!table_is_that_of_the_fuses(table, keys)) {
        return g_strdup("the digest of its keys is not that of the fuses");
    }
    if (number < active) {
        return g_strdup_printf("the fuses have revoked its key %u: they demand %u", number, active);
    }
    if (!key_is_that_of_the_table(extension, table + DIGEST * number)) {
        return g_strdup_printf("its key is not number %u of its table", number);
    }
    return signature_is_right(header) ? NULL : g_strdup("its signature is wrong");
}

bool n6virt_rom_has_keys(void)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < DIGEST / 4; i++) {
        any |= n6virt_fuse(N6VIRT_ROM_KEYS + i);
    }
    return any;
}

void n6virt_rom_accepts(const uint8_t *header)
{
    uint32_t number = KEY_WORD(EXTENSION(header), key_number), version = MIN(HEADER_WORD(header, image_version), MOST_VERSIONS);

    if (number > counted(N6VIRT_ROM_ACTIVE_KEY, 1)) {
        n6virt_rom_blows(N6VIRT_ROM_ACTIVE_KEY, 1u << (number - 1));
    }
    if (n6virt_is_closed() && version > counted(N6VIRT_ROM_VERSION, 2)) {
        n6virt_rom_blows(N6VIRT_ROM_VERSION + (version - 1) / 32, 1u << (version - 1) % 32);
    }
}
