/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of a release: the signature of the Appli (ECDSA P-256 over SHA-256, by BearSSL), and the digests of all parts that
 * the Appli lists. This code is independent of the chip, so that tests on a host can give it crafted images.
 */
#ifndef N6_TRUST_H
#define N6_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_release_format.h"

/* The value of N6_TRUST for trust=full: verify the digest of all weights at every start. */
#define N6_TRUST_FULL 2

/* A skipped instruction leaves a register as it was. So neither 0 nor 1, nor an address in RAM, is a success, and the two
 * successes are the complements of each other. */
typedef enum {
    N6_TRUST_OK = 0x3A5C96E1,
    N6_TRUST_UNSIGNED = 1, /* no signature */
    N6_TRUST_ALTERED,     /* a signature of another key, or over other bytes */
    N6_TRUST_OTHER_BOARD, /* signed for another board, or as another kind of image */
    N6_TRUST_OLD,         /* the security counter is below the floor */
    N6_TRUST_REVOKED,     /* the fuses revoke the key */
} n6_trust_status_t;

/* The only success of n6_trust_check_again(). */
#define N6_TRUST_SURE 0xC5A3691Eu

#define N6_TRUST_POINT_BYTES 65u

/* The trust anchor of a board: its public keys (uncompressed points), whose numbers are in Applis and fuses, and its identity. */
typedef struct {
    const uint8_t (*points)[N6_TRUST_POINT_BYTES];
    uint32_t keys;
    uint8_t board[N6_TRUST_BOARD_BYTES];
} n6_trust_anchor_t;

/* Generated into n6_trust_key.h, and compiled into the programs of a board. */
extern const n6_trust_anchor_t n6_trust_anchor;

typedef struct {
    const void *data;
    uint32_t bytes;
} n6_trust_part_t;

#define N6_TRUST_FIXED_PARTS 3u

/* An image in a flash slot. subject: N6_RELEASE_SUBJECT_BYTES, the model and its part. fixed: its code, its trailer without the
 * fields set at programming, the input of its self-test; weights: the rest of the file. */
typedef struct {
    const uint8_t *subject;
    n6_trust_part_t fixed[N6_TRUST_FIXED_PARTS];
    n6_trust_part_t weights;
} n6_trust_image_t;

/* The release of an Appli, generated into n6_release.c: a head, then its parts. It is verified with the Appli. */
extern const uint8_t n6_release[];

/* The error of an image that the release does not list, to be followed by the name of the image. */
#define N6_TRUST_NOT_LISTED "N6-FW-095 altered, or of another release: "

/* Verify an Appli with its header, before any use of it. floor: the lowest accepted security counter. revoked: a bit for each key
 * that signs no more. */
n6_trust_status_t n6_trust_check_appli(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t bytes, uint32_t floor,
                                       uint32_t revoked);

/* Check the same Appli again, immediately before its start, with other code: this function calls none of the first check. Of the
 * signature it compares a second result, which n6_trust_check_appli() has left. Return N6_TRUST_SURE, or any other number.
 * counted: the fuse word whose bits are the floor. */
uint32_t n6_trust_check_again(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t counted, uint32_t revoked);

/* Return true if a release lists exactly this image. with_weights: compare the digest of the weights too. */
bool n6_trust_lists(const uint8_t *release, const n6_trust_image_t *image, bool with_weights);

/* Return the error of a status (id and text), to be followed by the name of the image; "" for N6_TRUST_OK. */
const char *n6_trust_text(n6_trust_status_t status);

#endif
