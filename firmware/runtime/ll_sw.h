/* SPDX-License-Identifier: Apache-2.0
 *
 * ST's ll_aton declares its software operators here; networks of this backend call n6_kernels.h instead.
 */
#ifndef LL_SW_H
#define LL_SW_H

#endif
