/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the configuration of a model where code is compiled that all models are linked with. The header of Core 2.1 wants
 * these two even there, where nothing has a use for them.
 */
#ifndef N6_RELOC_ANY_CONF_H
#define N6_RELOC_ANY_CONF_H

#define EXT_RAM_SZ 0
#define PARAMS_BIN_SZ 0

#endif
