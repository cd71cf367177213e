/* SPDX-License-Identifier: Apache-2.0
 *
 * Decryption of a part that was copied from flash to RAM: AES-256 in counter mode, by BearSSL in constant time.
 */
#ifndef N6_DECRYPT_H
#define N6_DECRYPT_H

#include <stdint.h>

#include "n6_encryption_format.h"

typedef enum {
    N6_DECRYPT_OK,        /* also for a part that is not encrypted */
    N6_DECRYPT_NO_KEY,    /* the fuse words of the key are 0 */
    N6_DECRYPT_OTHER_KEY, /* the part is encrypted with another key */
} n6_decrypt_status_t;

/* The errors (id and text) of a part that this board cannot decrypt. */
#define N6_DECRYPT_NO_KEY_TEXT "N6-FW-097 encrypted, but the fuses of this board have no key: "
#define N6_DECRYPT_OTHER_KEY_TEXT "N6-FW-098 encrypted with another key than that in the fuses of this board: "

/* Decrypt a part in RAM. record: a copy of its record. The caller cleans the cache lines of the part. */
n6_decrypt_status_t n6_decrypt(void *data, uint32_t bytes, const n6_encryption_t *record);

/* Return the error of a status, to be followed by the name of the part; "" for N6_DECRYPT_OK. */
const char *n6_decrypt_text(n6_decrypt_status_t status);

#endif
