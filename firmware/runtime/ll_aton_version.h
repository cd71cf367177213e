/* SPDX-License-Identifier: Apache-2.0
 *
 * The version of ll_aton whose interface this runtime provides. A generated network.c checks all four numbers. For a firmware
 * with another version, a relocatable model is compiled with the numbers of that firmware on the command line.
 */
#ifndef LL_ATON_VERSION_H
#define LL_ATON_VERSION_H

#ifndef LL_ATON_VERSION_MAJOR
#define LL_ATON_VERSION_MAJOR 1
#define LL_ATON_VERSION_MINOR 1
#define LL_ATON_VERSION_MICRO 3
#define LL_ATON_VERSION_DEV 8
#endif
#define LL_ATON_VERSION_NAME "n6build"

#endif
