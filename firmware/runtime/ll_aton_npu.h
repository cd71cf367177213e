/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the NPU and of blobs of its epoch controller, without interrupts: every wait is a poll with a bound.
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

/* A result. place: address of the register or blob with the error; for a blob with an error, or without an end, the label of its
 * epoch. value: that register, or the first word of the blob; IRQ for an error in a blob, CTRL for a blob that does not end. */
typedef struct {
    n6_blob_status_t status;
    uint32_t place;
    uint32_t value;
} n6_blob_result_t;

/* Start the clocks of the NPU's control units, enable its bus interfaces, mask all interrupts. Return an error if a unit's
 * VERSION differs from that of the blobs, or if a unit does not become ready. Call n6_npu_enable() and n6_npu_open_rif() before:
 * they set the clock and reset of the whole NPU, its cache and RIF. */
n6_blob_result_t n6_blobs_open(void);

/* Run a blob to its end. blob: address of its magic number, a multiple of 8, readable by the NPU. Return an error if there is no
 * blob (nothing is started), if the epoch controller reports an error, or if it does not reach the end in time (it is stopped
 * then). */
n6_blob_result_t n6_blob_run(uintptr_t blob);

/* Return an id of docs/errors.md and a text, to be followed by `place`, " is " and `value`. "" for OK. */
const char *n6_blob_text(n6_blob_status_t status);

/* Hook: called if a network cannot continue. The default is a fault. */
_Noreturn void n6_blob_failed(n6_blob_result_t why);

#endif
