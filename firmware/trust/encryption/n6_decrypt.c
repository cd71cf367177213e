/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_decrypt.h"

#include <string.h>

#include "bearssl_block.h"
#include "bearssl_hash.h"
#include "n6_trust_fuses.h"
#include "n6_trust_key.h"

#define KEY_WORDS (N6_ENCRYPTION_KEY_BYTES / 4u)

/* Overwrite a secret. Volatile: the compiler would omit writes to memory that nobody reads. */
static void wipe(void *secret, uint32_t bytes)
{
    volatile uint8_t *byte = secret;
    for (uint32_t i = 0; i < bytes; i++) {
        byte[i] = 0u;
    }
}

static uint32_t mark_of(const uint32_t key[KEY_WORDS])
{
    uint8_t digest[br_sha256_SIZE];
    uint32_t mark;
    br_sha256_context context;
    br_sha256_init(&context);
    br_sha256_update(&context, key, N6_ENCRYPTION_KEY_BYTES);
    br_sha256_out(&context, digest);
    memcpy(&mark, digest, sizeof mark);
    wipe(&context, sizeof context);
    return mark;
}

n6_decrypt_status_t n6_decrypt(void *data, uint32_t bytes, const n6_encryption_t *record)
{
    n6_decrypt_status_t status = N6_DECRYPT_OK;
    uint32_t key[KEY_WORDS];
    uint32_t any = 0;
    if (record->magic != N6_ENCRYPTION_MAGIC) {
        return status;
    }
    for (uint32_t i = 0; i < KEY_WORDS; i++) {
        key[i] = n6_trust_fuses(N6_ENCRYPTION_KEY_WORD + i);
        any |= key[i];
    }
    if (any == 0u) {
        status = N6_DECRYPT_NO_KEY;
    } else if (mark_of(key) != record->mark) {
        status = N6_DECRYPT_OTHER_KEY;
    } else {
        br_aes_ct_ctr_keys stream;
        br_aes_ct_ctr_init(&stream, key, sizeof key);
        br_aes_ct_ctr_run(&stream, record->nonce, 0u, data, bytes);
        wipe(&stream, sizeof stream);
    }
    wipe(key, sizeof key);
    return status;
}

const char *n6_decrypt_text(n6_decrypt_status_t status)
{
    switch (status) {
    case N6_DECRYPT_OK:
        return "";
    case N6_DECRYPT_NO_KEY:
        return N6_DECRYPT_NO_KEY_TEXT;
    case N6_DECRYPT_OTHER_KEY:
        return N6_DECRYPT_OTHER_KEY_TEXT;
    }
    return "";
}
