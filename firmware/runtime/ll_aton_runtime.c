/* SPDX-License-Identifier: Apache-2.0
 *
 * The epoch loop for networks with epochs of the CPU, or of the NPU in blobs of the epoch controller. It accesses no register of
 * the NPU before the first blob.
 */
#include "ll_aton_npu.h"
#include "ll_aton_network_calls.h"
#include "ll_aton_rt_user_api.h"

static TraceRuntime_FuncPtr_t runtime_callback;
static bool npu_is_open;

/* Stop with a visible fault instead of wrong results, for example at an epoch that is neither for the CPU nor a blob. */
static void require(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void tell(const NN_Instance_TypeDef *instance, LL_ATON_RT_Callbacktype_t type,
                 const EpochBlock_ItemTypeDef *block)
{
    if (instance->exec_state.epoch_callback_function != NULL) {
        instance->exec_state.epoch_callback_function(type, instance, block);
    }
}

__attribute__((weak)) _Noreturn void n6_blob_failed(n6_blob_result_t why)
{
    (void)why;
    __builtin_trap();
}

static void require_blob(n6_blob_result_t result)
{
    if (result.status != N6_BLOB_OK) {
        n6_blob_failed(result);
    }
}

static void run_blob(const EpochBlock_ItemTypeDef *block)
{
    if (!npu_is_open) {
        require_blob(n6_blobs_open());
        npu_is_open = true;
    }
    require_blob(n6_blob_run(block->blob_address));
}

void LL_ATON_RT_SetRuntimeCallback(TraceRuntime_FuncPtr_t callback)
{
    runtime_callback = callback;
}

void LL_ATON_RT_RuntimeInit(void)
{
    if (runtime_callback != NULL) {
        runtime_callback(LL_ATON_RT_Callbacktype_RT_Init);
    }
}

void LL_ATON_RT_RuntimeDeInit(void)
{
    if (runtime_callback != NULL) {
        runtime_callback(LL_ATON_RT_Callbacktype_RT_Deinit);
    }
}

void LL_ATON_RT_SetEpochCallback(TraceEpochBlock_FuncPtr_t callback, NN_Instance_TypeDef *instance)
{
    instance->exec_state.epoch_callback_function = callback;
}

void LL_ATON_RT_Init_Network(NN_Instance_TypeDef *instance)
{
    require(call_ec_network_init(instance));
    instance->exec_state.first_epoch_block = call_epoch_block_items(instance);
    LL_ATON_RT_Reset_Network(instance);
    tell(instance, LL_ATON_RT_Callbacktype_NN_Init, NULL);
}

void LL_ATON_RT_DeInit_Network(NN_Instance_TypeDef *instance)
{
    tell(instance, LL_ATON_RT_Callbacktype_NN_DeInit, NULL);
    instance->exec_state.first_epoch_block = NULL;
    LL_ATON_RT_Reset_Network(instance);
}

void LL_ATON_RT_Reset_Network(NN_Instance_TypeDef *instance)
{
    instance->exec_state.current_epoch_block = instance->exec_state.first_epoch_block;
    instance->exec_state.inference_started = false;
}

LL_ATON_RT_RetValues_t LL_ATON_RT_RunEpochBlock(NN_Instance_TypeDef *instance)
{
    NN_Execution_State_TypeDef *state = &instance->exec_state;
    const EpochBlock_ItemTypeDef *block = state->current_epoch_block;
    if (block == NULL || EpochBlock_IsLastEpochBlock(block)) {
        return LL_ATON_RT_DONE;
    }
    if (!state->inference_started) {
        require(call_ec_inference_init(instance));
        state->inference_started = true;
    }

    require(EpochBlock_IsEpochPureSW(block) || EpochBlock_IsEpochBlob(block));
    tell(instance, LL_ATON_RT_Callbacktype_PRE_START, block);
    if (block->start_epoch_block != NULL) {
        call_epoch(instance, block->start_epoch_block, block);
    }
    if (EpochBlock_IsEpochBlob(block)) {
        run_blob(block);
    }
    tell(instance, LL_ATON_RT_Callbacktype_POST_START, block);
    tell(instance, LL_ATON_RT_Callbacktype_PRE_END, block);
    if (block->end_epoch_block != NULL) {
        call_epoch(instance, block->end_epoch_block, block);
    }
    tell(instance, LL_ATON_RT_Callbacktype_POST_END, block);

    state->current_epoch_block = block + 1;
    return EpochBlock_IsLastEpochBlock(block + 1) ? LL_ATON_RT_DONE : LL_ATON_RT_NO_WFE;
}

void LL_ATON_RT_Main(NN_Instance_TypeDef *instance)
{
    LL_ATON_RT_RuntimeInit();
    LL_ATON_RT_Init_Network(instance);
    while (LL_ATON_RT_RunEpochBlock(instance) != LL_ATON_RT_DONE) {
    }
    LL_ATON_RT_DeInit_Network(instance);
    LL_ATON_RT_RuntimeDeInit();
}
