/* SPDX-License-Identifier: Apache-2.0
 *
 * Replacement of ll_aton_npu.c for machines without an NPU.
 */
#include "ll_aton_npu.h"

n6_blob_result_t n6_blobs_open(void)
{
    return (n6_blob_result_t){N6_BLOB_UNIT_NOT_READY, 0u, 0u};
}

n6_blob_result_t n6_blob_run(uintptr_t blob)
{
    (void)blob;
    return n6_blobs_open();
}
