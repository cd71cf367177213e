/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of signed images: ECDSA P-256 over SHA-256, by BearSSL. This code is independent of the chip, so that tests on a
 * host can give it crafted images.
 */
#ifndef N6_TRUST_H
#define N6_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_trust_claim.h"

/* The value of N6_TRUST for trust=full: verify the digest of all weights at every start. */
#define N6_TRUST_FULL 2

typedef enum {
    N6_TRUST_OK,
    N6_TRUST_UNSIGNED,    /* no signature */
    N6_TRUST_ALTERED,     /* a signature of another key, or over other bytes */
    N6_TRUST_OTHER_BOARD, /* signed for another board, or for another model or as another kind of image */
    N6_TRUST_OLD,         /* the security counter is below the floor */
} n6_trust_status_t;

#define N6_TRUST_POINT_BYTES 65u

/* The trust anchor of a board: a public key (uncompressed point), and the identity of the board. */
typedef struct {
    uint8_t point[N6_TRUST_POINT_BYTES];
    uint8_t board[N6_TRUST_BOARD_BYTES];
} n6_trust_anchor_t;

/* Generated into n6_trust_key.h, and compiled into the programs of a board. */
extern const n6_trust_anchor_t n6_trust_anchor;

typedef struct {
    const void *data;
    uint32_t bytes;
} n6_trust_part_t;

#define N6_TRUST_FIXED_PARTS 3u

/* An image in a flash slot. subject: N6_TRUST_SUBJECT_BYTES, the model and the part of it that the program expects. fixed: its code, its trailer without the fields set at programming, the input of its self-test;
 * weights: the rest of the file. */
typedef struct {
    n6_trust_kind_t kind;
    const uint8_t *subject;
    n6_trust_part_t fixed[N6_TRUST_FIXED_PARTS];
    n6_trust_part_t weights;
} n6_trust_image_t;

/* Verify an Appli with its header, before any use of it. floor: the lowest accepted security counter. */
n6_trust_status_t n6_trust_check_appli(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t bytes, uint32_t floor);

/* Verify a claim and its image. claim: a copy that does not change. with_weights: compare the digest of the weights too. */
n6_trust_status_t n6_trust_check_claim(const n6_trust_anchor_t *anchor, const n6_trust_claim_t *claim,
                                       const n6_trust_image_t *image, uint32_t floor, bool with_weights);

/* Return the error of a status (id and text), to be followed by the name of the image; "" for N6_TRUST_OK. */
const char *n6_trust_text(n6_trust_status_t status);

#endif
