/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the callback of n6_inference.c, as ST's runtime makes them for a network of two epochs. The first epoch is hybrid:
 * the blocks that do its part on the NPU are in a table of their own, which is the current one while they run. The timed steps
 * take far longer than a callback.
 */
#include "n6_console.h"
#include "n6_fault.h"
#include "n6_inference.h"

#define SHORT 1000u
#define LONG 10000u

const char n6_program[] = "appli";

static const EpochBlock_ItemTypeDef items[] = {
    {.flags = EpochBlock_Flags_epoch_start | EpochBlock_Flags_epoch_end | EpochBlock_Flags_hybrid},
    {.flags = EpochBlock_Flags_epoch_start | EpochBlock_Flags_epoch_end | EpochBlock_Flags_pure_sw},
    {.flags = EpochBlock_Flags_last_eb},
};
static const EpochBlock_ItemTypeDef inserted[] = {
    {.flags = EpochBlock_Flags_internal},
    {.flags = EpochBlock_Flags_internal},
    {.flags = EpochBlock_Flags_last_eb},
};
static const LL_Buffer_InfoTypeDef no_buffers[] = {{.name = NULL}};

static const LL_Buffer_InfoTypeDef *buffers(void)
{
    return no_buffers;
}

static const NN_Interface_TypeDef interface = {.input_buffers_info = buffers, .output_buffers_info = buffers};
static NN_Instance_TypeDef instance = {.network = &interface};

/* Number of blocks that have run to their end. */
volatile uint32_t ended_blocks;

static void spend(uint32_t turns)
{
    for (volatile uint32_t i = 0; i < turns; i++) {
    }
}

static void step(LL_ATON_RT_Callbacktype_t type, const EpochBlock_ItemTypeDef *block)
{
    instance.exec_state.epoch_callback_function(type, &instance, block);
}

static void run(const EpochBlock_ItemTypeDef *block, uint32_t core, uint32_t end)
{
    step(LL_ATON_RT_Callbacktype_PRE_START, block);
    step(LL_ATON_RT_Callbacktype_POST_START, block);
    spend(core);
    step(LL_ATON_RT_Callbacktype_PRE_END, block);
    spend(end);
    ended_blocks++;
    step(LL_ATON_RT_Callbacktype_POST_END, block);
}

LL_ATON_RT_RetValues_t LL_ATON_RT_RunEpochBlock(NN_Instance_TypeDef *unused)
{
    (void)unused;
    run(&items[0], 0u, SHORT);
    instance.exec_state.first_epoch_block = inserted;
    run(&inserted[0], LONG, 0u);
    run(&inserted[1], LONG, 0u);
    instance.exec_state.first_epoch_block = items;
    run(&items[1], 0u, LONG);
    return LL_ATON_RT_DONE;
}

void LL_ATON_RT_RuntimeInit(void)
{
}

void LL_ATON_RT_SetEpochCallback(TraceEpochBlock_FuncPtr_t callback, NN_Instance_TypeDef *of)
{
    of->exec_state.epoch_callback_function = callback;
}

void LL_ATON_RT_Init_Network(NN_Instance_TypeDef *of)
{
    of->exec_state.first_epoch_block = items;
    of->exec_state.epoch_callback_function(LL_ATON_RT_Callbacktype_NN_Init, of, NULL);
}

void LL_ATON_RT_DeInit_Network(NN_Instance_TypeDef *unused)
{
    (void)unused;
}

void LL_ATON_RT_Reset_Network(NN_Instance_TypeDef *unused)
{
    (void)unused;
}

int main(void)
{
    const n6_plan_network_t network = {.model = "hybrid", .instance = &instance};
    n6_console_open();
    n6_inference_open();
    if (n6_inference_begin(&network)) {
        (void)n6_inference_run(&network, 0u, NULL, 0u, 0);
        (void)n6_inference_run(&network, 1u, NULL, 0u, 1);
    }
    n6_put("n6 done runs=2");
    n6_put_end();
    return 0;
}
