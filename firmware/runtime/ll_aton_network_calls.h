/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls from the epoch loop to a network: direct if it is linked into the firmware, through the loader if it was installed.
 */
#ifndef LL_ATON_NETWORK_CALLS_H
#define LL_ATON_NETWORK_CALLS_H

#include "ll_aton_NN_interface.h"

#ifdef LL_ATON_RT_RELOC

#include "ll_aton_reloc_network.h"

static inline bool call_ec_network_init(const NN_Instance_TypeDef *instance)
{
    return instance->exec_state.inst_reloc == 0u ? instance->network->ec_network_init()
                                                 : (bool)(ll_aton_reloc_call_entry(instance, N6_RELOC_EC_NETWORK_INIT, 0u, 0u, 0u) & 0xFFu);
}

static inline bool call_ec_inference_init(const NN_Instance_TypeDef *instance)
{
    return instance->exec_state.inst_reloc == 0u
               ? instance->network->ec_inference_init()
               : (bool)(ll_aton_reloc_call_entry(instance, N6_RELOC_EC_INFERENCE_INIT, 0u, 0u, 0u) & 0xFFu);
}

static inline const EpochBlock_ItemTypeDef *call_epoch_block_items(const NN_Instance_TypeDef *instance)
{
    return instance->exec_state.inst_reloc == 0u
               ? instance->network->epoch_block_items()
               : (const EpochBlock_ItemTypeDef *)(uintptr_t)ll_aton_reloc_call_entry(instance, N6_RELOC_EPOCH_ITEMS, 0u, 0u, 0u);
}

static inline void call_epoch(const NN_Instance_TypeDef *instance, EpochBlock_FuncPtr_t function,
                              const EpochBlock_ItemTypeDef *block)
{
    if (instance->exec_state.inst_reloc == 0u) {
        function(block);
    } else {
        ll_aton_reloc_call_epoch(instance, function, block);
    }
}

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
