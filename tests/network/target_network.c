/* SPDX-License-Identifier: Apache-2.0
 *
 * Run a compiled network on an emulated Cortex-M55, for tests: inputs and weights come from the file "memory.bin", { u32
 * address, u32 bytes, data }*, each epoch's output goes to "outputs.bin", both through semihosting. The inputs of a further
 * inference follow a part of 0 bytes.
 */
#include <stddef.h>
#include <stdint.h>

#include "ll_aton_rt_user_api.h"

LL_ATON_DECLARE_NAMED_NN_INSTANCE_AND_INTERFACE(network)

enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_READ = 0x06, SYS_EXIT_EXTENDED = 0x20, OPEN_READ_BINARY = 1, OPEN_WRITE_BINARY = 5 };

#define CCR (*(volatile uint32_t *)0xE000ED14u)
#define CCR_LOB (UINT32_C(1) << 19)
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

extern const uint32_t stack_top;

static uint32_t file;

static uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void __attribute__((noreturn)) leave(uint32_t code)
{
    const uint32_t block[] = {ADP_STOPPED_APPLICATION_EXIT, code};
    for (;;) {
        semihosting(SYS_EXIT_EXTENDED, block);
    }
}

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
                const uint32_t write[] = {file, (uint32_t)LL_Buffer_addr_start(buffer), LL_Buffer_len(buffer)};
                if (semihosting(SYS_WRITE, write) != 0) {
                    leave(8);
                }
            }
        }
    }
}

static uint32_t open_file(const char *name, uint32_t length, uint32_t mode)
{
    const uint32_t open[] = {(uint32_t)name, mode, length};
    return semihosting(SYS_OPEN, open);
}

/* Read bytes. Return whether all of them were there. */
static int read_file(uint32_t handle, void *to, uint32_t bytes)
{
    const uint32_t read[] = {handle, (uint32_t)to, bytes};
    return semihosting(SYS_READ, read) == 0;
}

/* Load memory. Return whether the file has more, for a further inference. */
static int load_memory(uint32_t memory)
{
    uint32_t part[2];
    while (read_file(memory, part, sizeof part)) {
        if (part[1] == 0) {
            return 1;
        }
        if (!read_file(memory, (void *)part[0], part[1])) {
            leave(7);
        }
    }
    return 0;
}

static void __attribute__((used, noreturn)) run(void)
{
    const uint32_t memory = open_file("memory.bin", sizeof "memory.bin" - 1, OPEN_READ_BINARY);
    int more = load_memory(memory);
    file = open_file("outputs.bin", sizeof "outputs.bin" - 1, OPEN_WRITE_BINARY);
    CCR |= CCR_LOB;
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

/* Bare: the FPU is off until CPACR is written, and a hard-float function may touch it in its prologue. */
void __attribute__((naked, noreturn)) reset(void)
{
    __asm__ volatile("ldr r0, =0xE000ED88\n"
                     "ldr r1, [r0]\n"
                     "orr r1, r1, #0xF00000\n"
                     "str r1, [r0]\n"
                     "dsb\n"
                     "isb\n"
                     "b run\n");
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};
