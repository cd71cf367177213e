/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface for an application that runs a network:
 *
 *     LL_ATON_DECLARE_NAMED_NN_INSTANCE_AND_INTERFACE(network)
 *
 *     LL_ATON_RT_RuntimeInit();
 *     LL_ATON_RT_Init_Network(&NN_Instance_network);
 *     for each inference: fill the buffers of LL_ATON_Input_Buffers_Info_network();
 *         while (LL_ATON_RT_RunEpochBlock(&NN_Instance_network) != LL_ATON_RT_DONE) { }
 *         read those of LL_ATON_Output_Buffers_Info_network(), then LL_ATON_RT_Reset_Network(&NN_Instance_network);
 */
#ifndef LL_ATON_RT_USER_API_H
#define LL_ATON_RT_USER_API_H

#include "ll_aton_NN_interface.h"
#include "ll_aton_caches_interface.h"
#include "ll_aton_platform.h"

typedef enum {
    LL_ATON_RT_NO_WFE = 0, /* call again */
    LL_ATON_RT_WFE,        /* wait for an event first; never with epochs of the CPU */
    LL_ATON_RT_DONE,       /* all epochs have run */
} LL_ATON_RT_RetValues_t;

#define LL_ATON_DECLARE_NAMED_NN_INTERFACE(name)                                                                       \
    LL_ATON_DECLARE_NAMED_NN_PROTOS(name);                                                                             \
    static const NN_Interface_TypeDef NN_Interface_##name = {                                                          \
        .network_name = #name,                                                                                         \
        .ec_network_init = LL_ATON_EC_Network_Init_##name,                                                             \
        .ec_inference_init = LL_ATON_EC_Inference_Init_##name,                                                         \
        .input_setter = LL_ATON_Set_User_Input_Buffer_##name,                                                          \
        .input_getter = LL_ATON_Get_User_Input_Buffer_##name,                                                          \
        .output_setter = LL_ATON_Set_User_Output_Buffer_##name,                                                        \
        .output_getter = LL_ATON_Get_User_Output_Buffer_##name,                                                        \
        .epoch_block_items = LL_ATON_EpochBlockItems_##name,                                                           \
        .output_buffers_info = LL_ATON_Output_Buffers_Info_##name,                                                     \
        .input_buffers_info = LL_ATON_Input_Buffers_Info_##name,                                                       \
        .internal_buffers_info = LL_ATON_Internal_Buffers_Info_##name,                                                 \
    }

#define LL_ATON_DECLARE_NAMED_NN_INSTANCE(name, interface)                                                             \
    static NN_Instance_TypeDef NN_Instance_##name = {.network = (interface), .exec_state = {0}}

#define LL_ATON_DECLARE_NAMED_NN_INSTANCE_AND_INTERFACE(name)                                                          \
    LL_ATON_DECLARE_NAMED_NN_INTERFACE(name);                                                                          \
    LL_ATON_DECLARE_NAMED_NN_INSTANCE(name, &NN_Interface_##name);

void LL_ATON_RT_RuntimeInit(void);
void LL_ATON_RT_RuntimeDeInit(void);

/* Set the callback for RT_Init and RT_Deinit; NULL: none. */
void LL_ATON_RT_SetRuntimeCallback(TraceRuntime_FuncPtr_t callback);

/* Set the callback for the four steps of each epoch, and for NN_Init and NN_DeInit (with block NULL); NULL: none. POST_END
 * follows when an epoch's output is complete. Init_Network and Reset_Network keep the callback. */
void LL_ATON_RT_SetEpochCallback(TraceEpochBlock_FuncPtr_t callback, NN_Instance_TypeDef *instance);

void LL_ATON_RT_Init_Network(NN_Instance_TypeDef *instance);
void LL_ATON_RT_DeInit_Network(NN_Instance_TypeDef *instance);

/* Prepare the network for another inference. */
void LL_ATON_RT_Reset_Network(NN_Instance_TypeDef *instance);

/* Run one epoch. After LL_ATON_RT_DONE, and for an instance that is not initialised, only return
 * LL_ATON_RT_DONE. */
LL_ATON_RT_RetValues_t LL_ATON_RT_RunEpochBlock(NN_Instance_TypeDef *instance);

/* Make one inference, from RuntimeInit to RuntimeDeInit. */
void LL_ATON_RT_Main(NN_Instance_TypeDef *instance);

static inline const LL_Buffer_InfoTypeDef *LL_ATON_Input_Buffers_Info(const NN_Instance_TypeDef *instance)
{
    return instance->network->input_buffers_info();
}

static inline const LL_Buffer_InfoTypeDef *LL_ATON_Output_Buffers_Info(const NN_Instance_TypeDef *instance)
{
    return instance->network->output_buffers_info();
}

static inline const LL_Buffer_InfoTypeDef *LL_ATON_Internal_Buffers_Info(const NN_Instance_TypeDef *instance)
{
    return instance->network->internal_buffers_info();
}

#endif
