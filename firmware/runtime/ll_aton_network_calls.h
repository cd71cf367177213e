/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls from the epoch loop to a network: direct if it is linked into the firmware, through the loader if it was installed.
 */
#ifndef LL_ATON_NETWORK_CALLS_H
#define LL_ATON_NETWORK_CALLS_H

#include "ll_aton_NN_interface.h"

#ifdef LL_ATON_RT_RELOC

/* The loader defines them (reloc/ll_aton_reloc_network.c): the runtime knows nothing of relocatable models. */
bool call_ec_network_init(const NN_Instance_TypeDef *instance);
bool call_ec_inference_init(const NN_Instance_TypeDef *instance);
const EpochBlock_ItemTypeDef *call_epoch_block_items(const NN_Instance_TypeDef *instance);
void call_epoch(const NN_Instance_TypeDef *instance, EpochBlock_FuncPtr_t function, const EpochBlock_ItemTypeDef *block);

#else

static inline bool call_ec_network_init(const NN_Instance_TypeDef *instance)
{
    return instance->network->ec_network_init();
}

static inline bool call_ec_inference_init(const NN_Instance_TypeDef *instance)
{
    return instance->network->ec_inference_init();
}

static inline const EpochBlock_ItemTypeDef *call_epoch_block_items(const NN_Instance_TypeDef *instance)
{
    return instance->network->epoch_block_items();
}

static inline void call_epoch(const NN_Instance_TypeDef *instance, EpochBlock_FuncPtr_t function,
                              const EpochBlock_ItemTypeDef *block)
{
    (void)instance;
    function(block);
}

#endif
#endif
