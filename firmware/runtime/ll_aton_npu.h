/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the NPU and runs blobs of its epoch controller, without interrupts: every wait is a poll with a bound.
 */
#ifndef LL_ATON_NPU_H
#define LL_ATON_NPU_H

#include <stdint.h>

typedef enum {
    N6_BLOB_OK,
    N6_BLOB_UNIT_NOT_READY,
    N6_BLOB_OTHER_VERSION,
    N6_BLOB_NONE,
    N6_BLOB_ERROR,
    N6_BLOB_TOO_LONG,
} n6_blob_status_t;

/* What went wrong. place: address of the register or of the blob that says so; for an error of a blob, and one that does not end,
 * the label of its epoch. value: of that register, or the first word of the blob; of IRQ for an error, of CTRL for no end. */
typedef struct {
    n6_blob_status_t status;
    uint32_t place;
    uint32_t value;
} n6_blob_result_t;

/* Clocks of the NPU's control units on, its bus interfaces on, all interrupts masked. Not OK where a unit's VERSION is not the one
 * that blobs are written for, or a unit does not become ready. Clock and reset of the NPU as a whole, its cache and RIF come before:
 * n6_npu_enable(), n6_npu_open_rif(). */
n6_blob_result_t n6_blobs_open(void);

/* Runs a blob to its end. blob: address of its magic number, a multiple of 8, which the NPU can read. Not OK where there is no blob,
 * which is then not started, where the epoch controller reports an error, or has not come to the end in time; it is then stopped. */
n6_blob_result_t n6_blob_run(uintptr_t blob);

/* An id of docs/errors.md and words, to be followed by `place`, " is " and `value`. "" for OK. */
const char *n6_blob_text(n6_blob_status_t status);

/* Hook: a network cannot go on. By default a fault. */
_Noreturn void n6_blob_failed(n6_blob_result_t why);

#endif
