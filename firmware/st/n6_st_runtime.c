/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_st_runtime.h"

#include "ll_aton_version.h"
#include "npu_cache.h"

/* Networks with relocatable blobs, or with buffers of the application, clean the NPU's cache through the driver, which needs an
 * instance before. Before ll_aton 1.1.3 (Core 3.0) a separate call creates it. */
#define HAS_INIT (LL_ATON_VERSION_MAJOR == 1 && (LL_ATON_VERSION_MINOR < 1 || LL_ATON_VERSION_MICRO < 3))

void n6_st_runtime_open(void)
{
    /* Reference the system calls here: their library precedes newlib, which needs them, so the linker must take them before. */
    __asm volatile("" ::"r"(n6_system_calls));
#if HAS_INIT
    npu_cache_init();
#endif
    npu_cache_enable();
}
