/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of ll_aton_npu.c, for machines without an NPU.
 */
#include "ll_aton_npu.h"

bool n6_blobs_open(void)
{
    return false;
}

bool n6_blob_run(uintptr_t blob)
{
    (void)blob;
    return false;
}
