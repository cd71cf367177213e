/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_inference.h"

#include <string.h>

#include "n6_cache.h"
#if N6_CONFINE
#include "n6_confine.h"
#endif
#include "n6_console_lines.h"
#include "n6_crc32.h"
#include "n6_epoch_marker.h"
#include "n6_network.h"
#include "n6_network_buffers.h"
#include "n6_npu.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_soc_memories.h"

/* The number of epochs of a network whose cycles are kept. Later epochs run but are not listed. */
#define EPOCHS_LISTED 512u

/* The last entry is shared by all epochs that are not listed. */
static n6_epoch_cycles_t epoch_cycles[EPOCHS_LISTED + 1u];
/* The cycles of the running epoch. */
static n6_epoch_cycles_t *running = &epoch_cycles[EPOCHS_LISTED];
/* The cycle count at the latest step of the running epoch. */
static uint32_t stepped;
/* The marker of the running network, without a place. */
static uint32_t network_marker;
/* The end marker (with N6_EPOCH_MARKER_ENDED) of the block that has begun and not ended; 0: none. */
static uint32_t open_marker;

static uint32_t cycles_now(void)
{
    return N6_REG32(N6_DWT_CYCCNT);
}

static void put_marker(uint32_t marker)
{
    N6_REG32(N6_ITM_STIM0 + 4u * N6_EPOCH_MARKER_PORT) = marker;
}

static void end_marked_epoch(void)
{
    if (open_marker != 0u) {
        put_marker(open_marker);
        open_marker = 0u;
    }
}

/* Networks and blocks beyond the range of a marker share the last number. */
static void begin_marked_epoch(uint32_t place)
{
    end_marked_epoch();
    uint32_t marker = network_marker | (place < N6_EPOCH_MARKER_PLACE_MAX ? place : N6_EPOCH_MARKER_PLACE_MAX);
    put_marker(marker);
    open_marker = marker | N6_EPOCH_MARKER_ENDED;
}

static void on_epoch(LL_ATON_RT_Callbacktype_t type, const NN_Instance_TypeDef *instance, const EpochBlock_ItemTypeDef *block)
{
    uint32_t passed = cycles_now() - stepped;
    switch (type) {
    case LL_ATON_RT_Callbacktype_PRE_START:
        /* For a hybrid epoch ST's runtime runs internal blocks from a separate table. They are part of that epoch. */
        if ((block->flags & EpochBlock_Flags_internal) == 0u) {
            uint32_t index = (uint32_t)(block - instance->exec_state.first_epoch_block);
            running = &epoch_cycles[index < EPOCHS_LISTED ? index : EPOCHS_LISTED];
            *running = (n6_epoch_cycles_t){0u, 0u, 0u};
            begin_marked_epoch(index);
        }
        break;
    case LL_ATON_RT_Callbacktype_POST_START:
        running->start += passed;
        break;
    case LL_ATON_RT_Callbacktype_PRE_END:
        running->core += passed;
        break;
    case LL_ATON_RT_Callbacktype_POST_END:
        running->end += passed;
        /* A hybrid epoch continues in the blocks inserted after it, until the next epoch begins. */
        if ((block->flags & (EpochBlock_Flags_internal | EpochBlock_Flags_hybrid)) == 0u) {
            end_marked_epoch();
        }
        break;
    default:
        break;
    }
    stepped = cycles_now();
}

uint32_t n6_inference_epochs(const EpochBlock_ItemTypeDef *epochs)
{
    uint32_t count = 0;
    while (!EpochBlock_IsLastEpochBlock(&epochs[count])) {
        count++;
    }
    return count;
}

void n6_inference_open(void)
{
    N6_REG32(N6_DCB_DEMCR) |= N6_DCB_DEMCR_TRCENA;
    N6_REG32(N6_DWT_CYCCNT) = 0u;
    N6_REG32(N6_DWT_CTRL) |= N6_DWT_CTRL_CYCCNTENA;
    LL_ATON_RT_RuntimeInit();
}

/* Pass the application's buffers to the network. Call it before Init_Network, which writes their addresses into blobs. */
static int give_own_buffers(const n6_plan_network_t *network)
{
    for (uint32_t i = 0; i < network->own_buffer_count; i++) {
        const n6_plan_own_buffer_t *own = &network->own_buffers[i];
        LL_ATON_User_IO_Result_t result =
            own->is_input ? n6_network_set_input(network->instance, own->index, own->data, own->bytes)
                          : n6_network_set_output(network->instance, own->index, own->data, own->bytes);
        if (result != LL_ATON_User_IO_NOERROR) {
            return 0;
        }
    }
    return 1;
}

int n6_inference_begin(const n6_plan_network_t *network)
{
    if (!give_own_buffers(network)) {
        return 0;
    }
    LL_ATON_RT_SetEpochCallback(on_epoch, network->instance);
    LL_ATON_RT_Init_Network(network->instance);
    return 1;
}

void n6_inference_restart(const n6_plan_network_t *network)
{
    if (network->keeps_state) {
        LL_ATON_RT_DeInit_Network(network->instance);
        (void)n6_inference_begin(network);
    }
}

/* Write a buffer from the NPU's cache to memory, where the CPU reads it. Only external RAM is behind that cache. */
static void empty_npu_cache(const LL_Buffer_InfoTypeDef *buffer)
{
    uintptr_t start = (uintptr_t)LL_Buffer_addr_start(buffer);
    if (start - N6_XSPI1_WINDOW_BASE < N6_XSPI1_WINDOW_SIZE) {
        (void)n6_npu_cache_clean_invalidate(start, LL_Buffer_len(buffer));
    }
}

/* Write back and invalidate the outputs. Before an inference, so that no dirty line later overwrites an output of the NPU. After
 * an inference, so that the CPU reads memory and not stale cache lines. */
static void synchronise_outputs(const n6_plan_network_t *network)
{
    for (const LL_Buffer_InfoTypeDef *buffer = n6_network_outputs(network->instance); buffer->name != NULL; buffer++) {
        empty_npu_cache(buffer);
        n6_dcache_clean_invalidate((uintptr_t)LL_Buffer_addr_start(buffer), LL_Buffer_len(buffer));
    }
}

static int fill_inputs(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes)
{
    uint32_t used = 0;
    for (const LL_Buffer_InfoTypeDef *buffer = n6_network_inputs(network->instance); buffer->name != NULL; buffer++) {
        uint32_t bytes = LL_Buffer_len(buffer);
        if (buffer->is_param) {
            continue;
        }
        /* Before the CPU writes the buffer: the NPU's lines must not be written over the input later. */
        empty_npu_cache(buffer);
        if (input == NULL) {
            memset(LL_Buffer_addr_start(buffer), 0, bytes);
        } else if (used + bytes <= input_bytes) {
            memcpy(LL_Buffer_addr_start(buffer), input + used, bytes);
        } else {
            return 0;
        }
        /* An epoch of the NPU reads memory, not the CPU's cache. */
        n6_dcache_clean_invalidate((uintptr_t)LL_Buffer_addr_start(buffer), bytes);
        used += bytes;
    }
    return input == NULL || used == input_bytes;
}

static uint32_t largest(const LL_Buffer_InfoTypeDef *buffer)
{
    const uint8_t *data = LL_Buffer_addr_start(buffer);
    uint32_t bytes = LL_Buffer_len(buffer);
    uint32_t best = 0;
    if (buffer->type == DataType_FLOAT) {
        const float *values = (const float *)(const void *)data;
        for (uint32_t i = 1; i < bytes / sizeof *values; i++) {
            best = values[i] > values[best] ? i : best;
        }
    } else {
        const int sign = buffer->type == DataType_INT8 ? 0x80 : 0;
        for (uint32_t i = 1; i < bytes; i++) {
            best = (data[i] ^ sign) > (data[best] ^ sign) ? i : best;
        }
    }
    return best;
}

static void put_epochs(const n6_plan_network_t *network, uint32_t number)
{
    uint32_t count = n6_inference_epochs(network->instance->exec_state.first_epoch_block);
    for (uint32_t epoch = 0; epoch < count && epoch < EPOCHS_LISTED; epoch++) {
        /* The position: ST's numbers are only in debug builds, and in the table of network.c. */
        N6_LINE(run_epoch, .run = number, .epoch = epoch + 1u, .start = epoch_cycles[epoch].start,
                .core = epoch_cycles[epoch].core, .end = epoch_cycles[epoch].end);
    }
}

static void put_results(const n6_plan_network_t *network, uint32_t number, uint32_t cycles)
{
    uint32_t index = 0;
    for (const LL_Buffer_InfoTypeDef *buffer = n6_network_outputs(network->instance); buffer->name != NULL;
         buffer++, index++) {
        N6_LINE(run_output, .run = number, .output = index, .data = LL_Buffer_addr_start(buffer),
                .data_bytes = LL_Buffer_len(buffer));
        if (index == 0u && network->is_classification) {
            N6_LINE(run_class, .run = number, .best = largest(buffer));
        }
    }
    N6_LINE(run_cycles, .run = number, .cycles = cycles);
}

N6_WEAK void n6_network_wait(void)
{
    __asm volatile("wfe");
}

static void run_blocks(const n6_plan_network_t *network)
{
    LL_ATON_RT_RetValues_t state;
    uint32_t index = network->index < N6_EPOCH_MARKER_NETWORK_MAX ? network->index : N6_EPOCH_MARKER_NETWORK_MAX;
    network_marker = index << N6_EPOCH_MARKER_NETWORK_POS;
    do {
        state = LL_ATON_RT_RunEpochBlock(network->instance);
        if (state == LL_ATON_RT_WFE) {
            n6_network_wait();
        }
    } while (state != LL_ATON_RT_DONE);
    end_marked_epoch();
}

#if N6_CONFINE
static void run_argument(void *network)
{
    run_blocks(network);
}
#endif

static void run_epochs(const n6_plan_network_t *network)
{
#if N6_CONFINE
    /* The model determines the number of blocks. */
    n6_confine_run(run_argument, (void *)(uintptr_t)network);
#else
    run_blocks(network);
#endif
}

int n6_inference_compute(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes)
{
    if (!fill_inputs(network, input, input_bytes)) {
        return 0;
    }
    synchronise_outputs(network);
    run_epochs(network);
    synchronise_outputs(network);
    LL_ATON_RT_Reset_Network(network->instance);
    return 1;
}

int n6_inference_try(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes, uint32_t *outputs_crc32)
{
    if (!n6_inference_compute(network, input, input_bytes)) {
        return 0;
    }
    *outputs_crc32 = 0u;
    for (const LL_Buffer_InfoTypeDef *buffer = n6_network_outputs(network->instance); buffer->name != NULL; buffer++) {
        *outputs_crc32 ^= n6_crc32(LL_Buffer_addr_start(buffer), LL_Buffer_len(buffer));
    }
    return 1;
}

int n6_inference_run(const n6_plan_network_t *network, uint32_t number, const uint8_t *input, uint32_t input_bytes,
                     int lists_epochs)
{
    if (!fill_inputs(network, input, input_bytes)) {
        return 0;
    }
    synchronise_outputs(network);
    N6_LINE(run_begin, .run = number);
    uint32_t began = cycles_now();
    run_epochs(network);
    uint32_t cycles = cycles_now() - began;
    synchronise_outputs(network);
    if (lists_epochs) {
        put_epochs(network, number);
    }
    put_results(network, number, cycles);
    LL_ATON_RT_Reset_Network(network->instance);
    return 1;
}

static uint32_t bytes_of(const LL_Buffer_InfoTypeDef *buffers)
{
    uint32_t bytes = 0;
    for (; buffers->name != NULL; buffers++) {
        bytes += buffers->is_param ? 0u : LL_Buffer_len(buffers);
    }
    return bytes;
}

uint32_t n6_inference_input_bytes(const n6_plan_network_t *network)
{
    return bytes_of(n6_network_inputs(network->instance));
}

uint32_t n6_inference_output_bytes(const n6_plan_network_t *network)
{
    return bytes_of(n6_network_outputs(network->instance));
}

/* Visit the part of each buffer in [offset, offset + bytes), with the buffers regarded as one row of bytes. */
static int for_each_part(const LL_Buffer_InfoTypeDef *buffers, uint32_t offset, uint32_t bytes,
                         void (*visit)(uint8_t *place, uint8_t *data, uint32_t bytes), uint8_t *data)
{
    uint32_t whole = bytes_of(buffers), start = 0;
    if (offset > whole || bytes > whole - offset) {
        return 0;
    }
    for (; buffers->name != NULL && bytes != 0u; buffers++) {
        uint32_t length = buffers->is_param ? 0u : LL_Buffer_len(buffers);
        if (offset < start + length) {
            uint32_t part = start + length - offset < bytes ? start + length - offset : bytes;
            visit(LL_Buffer_addr_start(buffers) + (offset - start), data, part);
            offset += part;
            data += part;
            bytes -= part;
        }
        start += length;
    }
    return 1;
}

static void write_part(uint8_t *place, uint8_t *data, uint32_t bytes)
{
    memcpy(place, data, bytes);
    n6_dcache_clean_invalidate((uintptr_t)place, bytes);
}

static void read_part(uint8_t *place, uint8_t *data, uint32_t bytes)
{
    memcpy(data, place, bytes);
}

int n6_inference_write_input(const n6_plan_network_t *network, uint32_t offset, const uint8_t *data, uint32_t bytes)
{
    return for_each_part(n6_network_inputs(network->instance), offset, bytes, write_part, (uint8_t *)(uintptr_t)data);
}

int n6_inference_read_output(const n6_plan_network_t *network, uint32_t offset, uint8_t *data, uint32_t bytes)
{
    return for_each_part(n6_network_outputs(network->instance), offset, bytes, read_part, data);
}

uint32_t n6_inference_execute(const n6_plan_network_t *network)
{
    synchronise_outputs(network);
    uint32_t began = cycles_now();
    run_epochs(network);
    uint32_t cycles = cycles_now() - began;
    synchronise_outputs(network);
    LL_ATON_RT_Reset_Network(network->instance);
    return cycles;
}

n6_epoch_cycles_t n6_inference_epoch_cycles(uint32_t epoch)
{
    return epoch < EPOCHS_LISTED ? epoch_cycles[epoch] : (n6_epoch_cycles_t){0u, 0u, 0u};
}
