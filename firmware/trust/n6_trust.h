/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an image is what the owner of a key has signed: ECDSA P-256 over SHA-256, by BearSSL. Nothing here knows a chip, so
 * that tests give the same code crafted images on a host.
 */
#ifndef N6_TRUST_H
#define N6_TRUST_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_trust_claim.h"

/* What N6_TRUST is for trust=full: with the digest of all weights, at every start. */
#define N6_TRUST_FULL 2

typedef enum {
    N6_TRUST_OK,
    N6_TRUST_UNSIGNED,    /* there is no signature */
    N6_TRUST_ALTERED,     /* a signature of another key, or over other bytes */
    N6_TRUST_OTHER_BOARD, /* signed for another board, or as another kind of image */
    N6_TRUST_OLD,         /* its security counter is below the floor */
} n6_trust_status_t;

#define N6_TRUST_POINT_BYTES 65u

/* What a board believes: a public key (uncompressed point), and what it is itself. */
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

/* An image in a flash slot. fixed: its code, its trailer without what changes when it is programmed, the input of its self-test;
 * weights: what is left of the file. */
typedef struct {
    n6_trust_kind_t kind;
    n6_trust_part_t fixed[N6_TRUST_FIXED_PARTS];
    n6_trust_part_t weights;
} n6_trust_image_t;

/* An Appli, header and all, of which nothing was used. floor: the lowest security counter that is accepted. */
n6_trust_status_t n6_trust_check_appli(const n6_trust_anchor_t *anchor, const uint8_t *image, uint32_t bytes, uint32_t floor);

/* claim: a copy that stays as it is. with_weights: whether their digest is compared, too. */
n6_trust_status_t n6_trust_check_claim(const n6_trust_anchor_t *anchor, const n6_trust_claim_t *claim,
                                       const n6_trust_image_t *image, uint32_t floor, bool with_weights);

/* Id and words, in front of the name of the image. */
const char *n6_trust_text(n6_trust_status_t status);

#endif
