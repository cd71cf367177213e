/* SPDX-License-Identifier: Apache-2.0
 *
 * The application interface of ll_aton: ST's or n6build's, in any release.
 */
#ifndef N6_LL_ATON_H
#define N6_LL_ATON_H

#include "ll_aton_version.h"

#define N6_LL_ATON_WORD(major, minor, micro) ((major) << 16 | (minor) << 8 | (micro))
#define N6_LL_ATON_IS_FROM(major, minor, micro)                                                                        \
    (N6_LL_ATON_WORD(LL_ATON_VERSION_MAJOR, LL_ATON_VERSION_MINOR, LL_ATON_VERSION_MICRO) >=                           \
     N6_LL_ATON_WORD(major, minor, micro))

/* A separate header since 1.1.1 (Core 2.2). Core 2.0 and 2.1 declare all in the header of the runtime. */
#if N6_LL_ATON_IS_FROM(1, 1, 1)
#include "ll_aton_rt_user_api.h"
#else
#include "ll_aton_runtime.h"
#endif

#endif
