/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust.h"

#include <stddef.h>
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

n6_trust_status_t n6_trust_check_claim(const n6_trust_anchor_t *anchor, const n6_trust_claim_t *claim,
                                       const n6_trust_image_t *image, uint32_t floor, bool with_weights)
{
    uint8_t digest[N6_TRUST_DIGEST_BYTES];
    const n6_trust_part_t claimed = {claim, offsetof(n6_trust_claim_t, signature)};
    if (claim->magic != N6_TRUST_CLAIM_MAGIC || claim->layout != N6_TRUST_CLAIM_LAYOUT) {
        return N6_TRUST_UNSIGNED;
    }
    if (!is_signed(anchor, &claimed, 1u, claim->signature) || claim->fixed_bytes != image->fixed[0].bytes ||
        claim->weights_bytes != image->weights.bytes) {
        return N6_TRUST_ALTERED;
    }
    hash(image->fixed, N6_TRUST_FIXED_PARTS, digest);
    if (memcmp(digest, claim->fixed_sha256, sizeof digest) != 0) {
        return N6_TRUST_ALTERED;
    }
    if (with_weights) {
        hash(&image->weights, 1u, digest);
        if (memcmp(digest, claim->weights_sha256, sizeof digest) != 0) {
            return N6_TRUST_ALTERED;
        }
    }
    if (claim->kind != (uint32_t)image->kind || memcmp(claim->board, anchor->board, sizeof anchor->board) != 0 ||
        memcmp(claim->subject, image->subject, sizeof claim->subject) != 0) {
        return N6_TRUST_OTHER_BOARD;
    }
    return claim->counter < floor ? N6_TRUST_OLD : N6_TRUST_OK;
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
        return "N6-FW-092 signed for another board, model or purpose: ";
    case N6_TRUST_OLD:
        return "N6-FW-093 older than this board accepts: ";
    }
    return "N6-FW-091 altered, or signed with another key: ";
}
