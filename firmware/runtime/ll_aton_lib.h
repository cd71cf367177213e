/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of ll_aton's library that generated code uses.
 */
#ifndef LL_ATON_LIB_H
#define LL_ATON_LIB_H

#define LL_ATON_LIB_UNUSED(x) ((void)(x))

#endif
