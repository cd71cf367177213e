/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust.h"

#include <string.h>

#include "bearssl_ec.h"
#include "bearssl_hash.h"
#include "n6_boot_header.h"

static void hash(const n6_trust_part_t *parts, uint32_t count, uint8_t digest[N6_TRUST_DIGEST_BYTES])
{
    br_sha256_context context;
    br_sha256_init(&context);
    for (uint32_t i = 0; i < count; i++) {
        br_sha256_update(&context, parts[i].data, parts[i].bytes);
    }
    br_sha256_out(&context, digest);
}

static bool is_zero(const uint8_t *data, uint32_t bytes)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        any |= data[i];
    }
    return any == 0u;
}

static bool is_signed(const n6_trust_anchor_t *anchor, const n6_trust_part_t *parts, uint32_t count, const uint8_t *signature)
{
    uint8_t digest[N6_TRUST_DIGEST_BYTES];
    /* BearSSL only reads the key, although the type is not const. */
    unsigned char *point = (unsigned char *)(uintptr_t)anchor->point;
    br_ec_public_key key = {.curve = BR_EC_secp256r1, .q = point, .qlen = sizeof anchor->point};
    hash(parts, count, digest);
    return br_ecdsa_i31_vrfy_raw(&br_ec_p256_m31, digest, sizeof digest, &key, signature, N6_TRUST_SIGNATURE_BYTES) == 1u;
}

n6_trust_status_t n6_trust_check_appli(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t bytes, uint32_t floor)
{
    n6_boot_header_t header;
    if (bytes < N6_BOOT_HEADER_BYTES) {
        return N6_TRUST_UNSIGNED;
    }
    memcpy(&header, image, sizeof header);
    if (is_zero(header.signature, sizeof header.signature)) {
        return N6_TRUST_UNSIGNED;
    }
    /* The bytes outside the ROM's digest must be zero, or are compared by the program that loads the image. */
    const uint8_t *rest = header.signature + N6_TRUST_SIGNATURE_BYTES;
    const uint32_t covered_end = N6_BOOT_SIGNED_OFFSET + N6_BOOT_SIGNED_BYTES;
    const n6_trust_part_t parts[] = {
        {image + N6_BOOT_SIGNED_OFFSET, N6_BOOT_SIGNED_BYTES},
        {image + sizeof header, bytes - sizeof header},
    };
    if (header.image_bytes != bytes - N6_BOOT_HEADER_BYTES || !is_signed(anchor, parts, 2u, header.signature) ||
        !is_zero(rest, sizeof header.signature - N6_TRUST_SIGNATURE_BYTES) ||
        !is_zero(image + covered_end, sizeof header - covered_end)) {
        return N6_TRUST_ALTERED;
    }
    if (header.binary_type != N6_BOOT_BINARY_SSBL ||
        memcmp(image + N6_TRUST_APPLI_BOARD_OFFSET, anchor->board, sizeof anchor->board) != 0) {
        return N6_TRUST_OTHER_BOARD;
    }
    return header.image_version < floor ? N6_TRUST_OLD : N6_TRUST_OK;
}

bool n6_trust_lists(const uint8_t *release, const n6_trust_image_t *image, bool with_weights)
{
    n6_release_head_t head;
    memcpy(&head, release, sizeof head);
    const uint8_t *place = release + sizeof head;
    for (uint32_t i = 0; i < head.parts; i++, place += sizeof(n6_release_part_t)) {
        n6_release_part_t part;
        uint8_t digest[N6_TRUST_DIGEST_BYTES];
        memcpy(&part, place, sizeof part);
        if (memcmp(part.subject, image->subject, sizeof part.subject) != 0) {
            continue;
        }
        if (part.fixed_bytes != image->fixed[0].bytes || part.weights_bytes != image->weights.bytes) {
            return false;
        }
        hash(image->fixed, N6_TRUST_FIXED_PARTS, digest);
        if (memcmp(digest, part.fixed_sha256, sizeof digest) != 0) {
            return false;
        }
        if (!with_weights) {
            return true;
        }
        hash(&image->weights, 1u, digest);
        return memcmp(digest, part.weights_sha256, sizeof digest) == 0;
    }
    return false;
}

const char *n6_trust_text(n6_trust_status_t status)
{
    switch (status) {
    case N6_TRUST_OK:
        return "";
    case N6_TRUST_UNSIGNED:
        return "N6-FW-090 not signed: ";
    case N6_TRUST_ALTERED:
        return "N6-FW-091 altered, or signed with another key: ";
    case N6_TRUST_OTHER_BOARD:
        return "N6-FW-092 signed for another board or purpose: ";
    case N6_TRUST_OLD:
        return "N6-FW-093 older than this board accepts: ";
    }
    return "N6-FW-091 altered, or signed with another key: ";
}
