/* SPDX-License-Identifier: Apache-2.0
 *
 * In ST's ll_aton this header declares the software operators. Networks of this backend use n6_kernels.h instead.
 */
#ifndef LL_SW_H
#define LL_SW_H

#endif
