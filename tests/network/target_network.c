/* SPDX-License-Identifier: Apache-2.0
 *
 * Run a compiled network on an emulated Cortex-M55, for tests: inputs and weights come from the file "memory.bin", { u32
 * address, u32 bytes, data }*, each epoch's output goes to "outputs.bin", both through semihosting. The inputs of a further
 * inference follow a part of 0 bytes.
 */
#include <stddef.h>
#include <stdint.h>

#include "../bare_metal.h"
#include "ll_aton_rt_user_api.h"

LL_ATON_DECLARE_NAMED_NN_INSTANCE_AND_INTERFACE(network)

static uint32_t file;

static void fault(void)
{
    leave(9);
}

static void on_epoch(LL_ATON_RT_Callbacktype_t type, const NN_Instance_TypeDef *instance,
                     const EpochBlock_ItemTypeDef *block)
{
    if (type != LL_ATON_RT_Callbacktype_POST_END) {
        return;
    }
    const uint32_t epoch = (uint32_t)(block - instance->network->epoch_block_items()) + 1;
    const LL_Buffer_InfoTypeDef *const lists[] = {LL_ATON_Output_Buffers_Info(instance),
                                                  LL_ATON_Internal_Buffers_Info(instance)};
    for (uint32_t list = 0; list < 2; list++) {
        for (const LL_Buffer_InfoTypeDef *buffer = lists[list]; buffer->name != NULL; buffer++) {
            if (buffer->epoch == epoch && buffer->scale != NULL) {
                write_file(file, (const void *)LL_Buffer_addr_start(buffer), LL_Buffer_len(buffer));
            }
        }
    }
}

/* Load memory. Return whether the file has more, for a further inference. */
static int load_memory(uint32_t memory)
{
    uint32_t part[2];
    while (read_file(memory, part, sizeof part) == 0) {
        if (part[1] == 0) {
            return 1;
        }
        if (read_file(memory, (void *)part[0], part[1]) != 0) {
            leave(7);
        }
    }
    return 0;
}

int main(void)
{
    const uint32_t memory = open_file("memory.bin", sizeof "memory.bin" - 1, OPEN_READ_BINARY);
    int more = load_memory(memory);
    file = open_file("outputs.bin", sizeof "outputs.bin" - 1, OPEN_WRITE_BINARY);
    SCB_CCR |= SCB_CCR_LOB;
    LL_ATON_RT_RuntimeInit();
    LL_ATON_RT_SetEpochCallback(on_epoch, &NN_Instance_network);
    LL_ATON_RT_Init_Network(&NN_Instance_network);
    for (;; more = load_memory(memory)) {
        while (LL_ATON_RT_RunEpochBlock(&NN_Instance_network) != LL_ATON_RT_DONE) {
        }
        if (!more) {
            leave(0);
        }
        LL_ATON_RT_Reset_Network(&NN_Instance_network);
    }
}
