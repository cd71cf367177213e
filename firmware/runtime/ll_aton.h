/* SPDX-License-Identifier: Apache-2.0
 *
 * ST's ll_aton declares the NPU's units here. This runtime
 * leaves them to the blobs of the epoch controller (ll_aton_npu.h).
 */
#ifndef LL_ATON_H
#define LL_ATON_H

#include "ll_aton_NN_interface.h"
#include "ll_aton_platform.h"

#endif
