/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the NPU and runs blobs of its epoch controller, without interrupts: every wait is a poll with a bound.
 */
#ifndef LL_ATON_NPU_H
#define LL_ATON_NPU_H

#include <stdbool.h>
#include <stdint.h>

/* Clocks of the NPU's control units on, its bus interfaces on, all interrupts masked. False where a unit's VERSION is not the one
 * that blobs are written for, or a unit does not become ready. Clock and reset of the NPU as a whole, its cache and RIF come before:
 * n6_npu_enable(), n6_npu_open_rif(). */
bool n6_blobs_open(void);

/* Runs a blob to its end. blob: address of its magic number, a multiple of 8, which the NPU can read. False where the epoch controller
 * reports an error, or has not come to the end in time; it is then stopped. */
bool n6_blob_run(uintptr_t blob);

#endif
