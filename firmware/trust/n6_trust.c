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

/* Steps of n6_trust_check_appli(). Their sum differs from that of any other steps. */
#define STEP_SIGNATURE 0x1B56C4E9u
#define STEP_PADDING 0x2E8D3A71u
#define STEP_PURPOSE 0x46D1B80Bu
#define STEP_FLOOR 0x71A90F5Du
#define STEP_KEY 0x5D0E62B3u
#define ALL_STEPS (STEP_SIGNATURE + STEP_PADDING + STEP_PURPOSE + STEP_FLOOR + STEP_KEY)
#define HALF_SIGNATURE (N6_TRUST_SIGNATURE_BYTES / 2u)

/* What the first check leaves for the second: the steps that it has passed, the bytes that it has digested, and the abscissa that
 * must be r. Volatile, so that each step is counted where it ends. */
static volatile struct {
    uint32_t steps;
    uint32_t bytes;
    uint8_t abscissa[HALF_SIGNATURE];
} first_check;

static const uint8_t *point_in_use;

/* Compute the point of a signature for BearSSL, x*Q + y*G, and once more as y*G + x*Q for the second check.
 *
 * Without the addition, only one of the points is left, and for that one anybody can forge a signature. The exchanged sum is then
 * left with the other point: no forged signature holds for both. */
static uint32_t multiply_and_add(unsigned char *point, const unsigned char *other, size_t bytes, const unsigned char *x,
                                 size_t x_bytes, const unsigned char *y, size_t y_bytes, int curve)
{
    unsigned char exchanged[N6_TRUST_POINT_BYTES];
    size_t generator_bytes;
    memcpy(exchanged, br_ec_p256_m31.generator(curve, &generator_bytes), sizeof exchanged);
    uint32_t valid = br_ec_p256_m31.muladd(point, other, bytes, x, x_bytes, y, y_bytes, curve);
    valid &= br_ec_p256_m31.muladd(exchanged, point_in_use, bytes, y, y_bytes, x, x_bytes, curve);
    for (uint32_t i = 0; i < HALF_SIGNATURE; i++) {
        first_check.abscissa[i] = exchanged[1u + i];
    }
    return valid;
}

static bool is_signed(const uint8_t *point, const n6_trust_part_t *parts, uint32_t count, const uint8_t *signature)
{
    uint8_t digest[N6_TRUST_DIGEST_BYTES];
    br_ec_impl curve = br_ec_p256_m31;
    curve.muladd = multiply_and_add;
    point_in_use = point;
    /* BearSSL only reads the key, although the type is not const. */
    br_ec_public_key key = {
        .curve = BR_EC_secp256r1, .q = (unsigned char *)(uintptr_t)point, .qlen = N6_TRUST_POINT_BYTES};
    hash(parts, count, digest);
    return br_ecdsa_i31_vrfy_raw(&curve, digest, sizeof digest, &key, signature, N6_TRUST_SIGNATURE_BYTES) == 1u;
}

/* Return the number of the key that an Appli names. The signature covers it. */
static uint32_t key_of(const uint8_t *image)
{
    uint32_t number;
    memcpy(&number, image + N6_TRUST_APPLI_KEY_OFFSET, sizeof number);
    return number;
}

n6_trust_status_t n6_trust_check_appli(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t bytes, uint32_t floor,
                                       uint32_t revoked)
{
    n6_boot_header_t header;
    first_check.steps = 0u;
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
    const uint32_t key = key_of(image);
    if (header.image_bytes != bytes - N6_BOOT_HEADER_BYTES || key >= anchor->keys ||
        !is_signed(anchor->points[key], parts, 2u, header.signature)) {
        return N6_TRUST_ALTERED;
    }
    first_check.bytes = bytes;
    first_check.steps += STEP_SIGNATURE;
    if (!is_zero(rest, sizeof header.signature - N6_TRUST_SIGNATURE_BYTES) ||
        !is_zero(image + covered_end, sizeof header - covered_end)) {
        return N6_TRUST_ALTERED;
    }
    first_check.steps += STEP_PADDING;
    if (header.binary_type != N6_BOOT_BINARY_SSBL ||
        memcmp(image + N6_TRUST_APPLI_BOARD_OFFSET, anchor->board, sizeof anchor->board) != 0) {
        return N6_TRUST_OTHER_BOARD;
    }
    first_check.steps += STEP_PURPOSE;
    if (header.image_version < floor) {
        return N6_TRUST_OLD;
    }
    first_check.steps += STEP_FLOOR;
    if ((revoked >> key & 1u) != 0u) {
        return N6_TRUST_REVOKED;
    }
    first_check.steps += STEP_KEY;
    return N6_TRUST_OK;
}

/* No branch decides here: each difference sets bits, and a skipped instruction loses one of them at most. */
uint32_t n6_trust_check_again(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t counted, uint32_t revoked)
{
    const volatile n6_boot_header_t *header = (const volatile void *)image;
    const uint32_t covered_end = N6_BOOT_SIGNED_OFFSET + N6_BOOT_SIGNED_BYTES;
    uint32_t wrong = first_check.steps ^ ALL_STEPS;
    wrong |= first_check.bytes ^ (header->image_bytes + N6_BOOT_HEADER_BYTES);
    wrong |= header->binary_type ^ N6_BOOT_BINARY_SSBL;
    for (uint32_t i = 0; i < HALF_SIGNATURE; i++) {
        /* The abscissa is below the order of the curve but for one signature in 2^128. */
        wrong |= (uint32_t)(first_check.abscissa[i] ^ header->signature[i]);
    }
    for (uint32_t i = N6_TRUST_SIGNATURE_BYTES; i < sizeof header->signature; i++) {
        wrong |= header->signature[i];
    }
    for (uint32_t i = covered_end; i < sizeof *header; i++) {
        wrong |= image[i];
    }
    for (uint32_t i = 0; i < sizeof anchor->board; i++) {
        wrong |= (uint32_t)(image[N6_TRUST_APPLI_BOARD_OFFSET + i] ^ anchor->board[i]);
    }
    uint32_t floor = 0;
    for (; counted != 0u; counted &= counted - 1u) {
        floor++;
    }
    wrong |= (uint32_t)(header->image_version < floor);
    const uint32_t key = *(const volatile uint32_t *)(const volatile void *)(image + N6_TRUST_APPLI_KEY_OFFSET);
    wrong |= (uint32_t)(key >= anchor->keys) | (revoked >> (key & 31u) & 1u);
    return N6_TRUST_SURE ^ wrong;
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
    case N6_TRUST_REVOKED:
        return "N6-FW-096 signed with a revoked key: ";
    }
    return "N6-FW-091 altered, or signed with another key: ";
}
