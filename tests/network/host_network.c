/* SPDX-License-Identifier: Apache-2.0
 *
 * Run a compiled network on the host, for tests: one inference, with a call after each epoch.
 */
#include "ll_aton_rt_user_api.h"

LL_ATON_DECLARE_NAMED_NN_INSTANCE_AND_INTERFACE(network)

typedef void (*after_epoch_t)(uint32_t index);

static after_epoch_t after_epoch;
static uint32_t epochs_done;

static void on_epoch(LL_ATON_RT_Callbacktype_t type, const NN_Instance_TypeDef *instance,
                     const EpochBlock_ItemTypeDef *block)
{
    (void)instance;
    (void)block;
    if (type == LL_ATON_RT_Callbacktype_POST_END) {
        after_epoch(++epochs_done);
    }
}

static uint32_t run_epochs(void)
{
    epochs_done = 0;
    while (LL_ATON_RT_RunEpochBlock(&NN_Instance_network) != LL_ATON_RT_DONE) {
    }
    return epochs_done;
}

/* Run an inference. Return the number of epochs. */
uint32_t host_run(after_epoch_t callback)
{
    after_epoch = callback;
    LL_ATON_RT_RuntimeInit();
    LL_ATON_RT_SetEpochCallback(on_epoch, &NN_Instance_network);
    LL_ATON_RT_Init_Network(&NN_Instance_network);
    return run_epochs();
}

/* Run a further inference, without initialising the network again. */
uint32_t host_run_again(after_epoch_t callback)
{
    after_epoch = callback;
    LL_ATON_RT_Reset_Network(&NN_Instance_network);
    return run_epochs();
}

void host_end(void)
{
    LL_ATON_RT_DeInit_Network(&NN_Instance_network);
    LL_ATON_RT_RuntimeDeInit();
}

/* Return a buffer, or NULL behind the last one. kind: 0 inputs, 1 outputs, 2 internal buffers. */
static const LL_Buffer_InfoTypeDef *info(uint32_t kind, uint32_t index)
{
    const LL_Buffer_InfoTypeDef *list = kind == 0   ? LL_ATON_Input_Buffers_Info_network()
                                        : kind == 1 ? LL_ATON_Output_Buffers_Info_network()
                                                    : LL_ATON_Internal_Buffers_Info_network();
    for (uint32_t i = 0; list[i].name != NULL; i++) {
        if (i == index) {
            return &list[i];
        }
    }
    return NULL;
}

const char *host_buffer_name(uint32_t kind, uint32_t index)
{
    const LL_Buffer_InfoTypeDef *buffer = info(kind, index);
    return buffer != NULL ? buffer->name : NULL;
}

uintptr_t host_buffer_address(uint32_t kind, uint32_t index)
{
    return (uintptr_t)LL_Buffer_addr_start(info(kind, index));
}

uint32_t host_buffer_bytes(uint32_t kind, uint32_t index)
{
    return LL_Buffer_len(info(kind, index));
}

uint32_t host_buffer_is_param(uint32_t kind, uint32_t index)
{
    return info(kind, index)->is_param;
}
