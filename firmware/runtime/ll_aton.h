/* SPDX-License-Identifier: Apache-2.0
 *
 * In ST's ll_aton this header declares the units of the NPU. In this runtime
 * only the blobs of the epoch controller use them (ll_aton_npu.h).
 */
#ifndef LL_ATON_H
#define LL_ATON_H

#include "ll_aton_NN_interface.h"
#include "ll_aton_platform.h"

#endif
