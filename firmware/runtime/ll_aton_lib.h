/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code needs of ll_aton's library.
 */
#ifndef LL_ATON_LIB_H
#define LL_ATON_LIB_H

#define LL_ATON_LIB_UNUSED(x) ((void)(x))

#endif
