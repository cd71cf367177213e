/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between a generated network and its runtime, compatible in source and layout with ll_aton 1.1.3 for bare metal.
 * Enumerations have the width of the ABI (one byte on arm-none-eabi, so do not use -fno-short-enums).
 */
#ifndef LL_ATON_NN_INTERFACE_H
#define LL_ATON_NN_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ll_aton_version.h"

/* Encryption of blobs and weights, since ll_aton 1.1.3. n6build encrypts nothing. */
typedef struct {
    unsigned int enable;
    uint64_t encryption_id;
    unsigned int rounds;
    unsigned int key_sel;
    unsigned int increment;
} LL_Streng_EncryptionTypedef;

/* Epochs */

/* From ll_aton 1.1.3-262 on, the functions of an epoch also get the instance. For relocatable models for such a firmware. */
#if (LL_ATON_VERSION_MAJOR << 16 | LL_ATON_VERSION_MINOR << 8 | LL_ATON_VERSION_MICRO) >= 0x010103 && LL_ATON_VERSION_DEV >= 262
struct NN_Instance_Struct;
typedef void (*EpochBlock_FuncPtr_t)(const void *epoch_block, const struct NN_Instance_Struct *instance);
#else
typedef void (*EpochBlock_FuncPtr_t)(const void *epoch_block);
#endif

typedef enum {
    EpochBlock_Flags_NONE = 0,
    EpochBlock_Flags_epoch_start = 1 << 0,
    EpochBlock_Flags_epoch_end = 1 << 1,
    EpochBlock_Flags_blob = 1 << 2,
    EpochBlock_Flags_last_eb = 1 << 3, /* ends the list; not an epoch itself */
    EpochBlock_Flags_pure_hw = 1 << 4,
    EpochBlock_Flags_pure_sw = 1 << 5,
    EpochBlock_Flags_hybrid = 1 << 6,
    EpochBlock_Flags_internal = 1 << 7,
} EpochBlock_Flags_t;

typedef struct {
    EpochBlock_FuncPtr_t start_epoch_block;
    EpochBlock_FuncPtr_t end_epoch_block;
    uintptr_t blob_address;
    uint32_t wait_mask;
    uint16_t flags;
#ifdef LL_ATON_EB_DBG_INFO
    /* 48 bytes in total, as in ST's models. The order of the fields is a guess: only a debugger reads them. */
    int16_t epoch_num;
    int16_t last_epoch_num;
    uint32_t reserved[2];
    uint64_t estimated_npu_cycles;
    uint64_t estimated_tot_cycles;
#endif
} EpochBlock_ItemTypeDef;

static inline bool EpochBlock_IsLastEpochBlock(const EpochBlock_ItemTypeDef *block)
{
    return (block->flags & EpochBlock_Flags_last_eb) != 0;
}

static inline bool EpochBlock_IsEpochStart(const EpochBlock_ItemTypeDef *block)
{
    return (block->flags & EpochBlock_Flags_epoch_start) != 0;
}

static inline bool EpochBlock_IsEpochEnd(const EpochBlock_ItemTypeDef *block)
{
    return (block->flags & EpochBlock_Flags_epoch_end) != 0;
}

static inline bool EpochBlock_IsEpochBlob(const EpochBlock_ItemTypeDef *block)
{
    return (block->flags & EpochBlock_Flags_blob) != 0;
}

static inline bool EpochBlock_IsEpochPureSW(const EpochBlock_ItemTypeDef *block)
{
    return (block->flags & EpochBlock_Flags_pure_sw) != 0;
}

/* Buffers */

typedef union {
    unsigned char *p;
    uintptr_t i;
} __LL_address_t;

typedef enum {
    DataType_UNDEFINED = 0,
    DataType_FLOAT = 1,
    DataType_UINT8 = 6,
    DataType_INT8 = 7,
    DataType_UINT16 = 8,
    DataType_INT16 = 9,
    DataType_INT32 = 10,
    DataType_FXP = 11,
} Buffer_DataType_TypeDef;

typedef enum {
    CHPos_UNDEFINED = 0,
    CHPos_First = 1,
    CHPos_Last = 2,
    CHPos_Mixed = 3,
} Buffer_CHPos_TypeDef;

/* A buffer: bytes [offset_start, offset_end) from addr_base. A list of buffers ends with a name of NULL. mem_shape is the
 * shape for the application; scale and offset point to one value, or are NULL if the buffer is not quantised. */
typedef struct {
    const char *name;
    __LL_address_t addr_base;
    uint32_t offset_start;
    uint32_t offset_end;
    uint32_t offset_limit;
    uint8_t is_user_allocated; /* addr_base then points to the address */
    uint8_t is_param;
    uint16_t epoch;
    uint32_t batch;
    const uint32_t *mem_shape;
    uint16_t mem_ndims;
    Buffer_CHPos_TypeDef chpos;
    Buffer_DataType_TypeDef type;
    int8_t Qm;
    int8_t Qn;
    uint8_t Qunsigned;
    uint8_t ndims;
    uint8_t nbits;
    uint8_t per_channel;
    const uint32_t *shape;
    const float *scale;
    const int16_t *offset;
} LL_Buffer_InfoTypeDef;

static inline unsigned char *LL_Buffer_addr_base(const LL_Buffer_InfoTypeDef *buffer)
{
    return buffer->is_user_allocated ? *(unsigned char **)buffer->addr_base.p : buffer->addr_base.p;
}

static inline unsigned char *LL_Buffer_addr_start(const LL_Buffer_InfoTypeDef *buffer)
{
    return LL_Buffer_addr_base(buffer) + buffer->offset_start;
}

static inline unsigned char *LL_Buffer_addr_end(const LL_Buffer_InfoTypeDef *buffer)
{
    return LL_Buffer_addr_base(buffer) + buffer->offset_end;
}

static inline uint32_t LL_Buffer_len(const LL_Buffer_InfoTypeDef *buffer)
{
    return buffer->offset_end - buffer->offset_start;
}

typedef enum {
    LL_ATON_User_IO_NOERROR,
    LL_ATON_User_IO_WRONG_ALIGN,
    LL_ATON_User_IO_WRONG_SIZE,
    LL_ATON_User_IO_WRONG_INDEX,
} LL_ATON_User_IO_Result_t;

/* Callbacks */

typedef enum {
    LL_ATON_RT_Callbacktype_PRE_START,
    LL_ATON_RT_Callbacktype_POST_START,
    LL_ATON_RT_Callbacktype_PRE_END,
    LL_ATON_RT_Callbacktype_POST_END,
    LL_ATON_RT_Callbacktype_NN_Init,
    LL_ATON_RT_Callbacktype_NN_DeInit,
    LL_ATON_RT_Callbacktype_RT_Init,
    LL_ATON_RT_Callbacktype_RT_Deinit,
} LL_ATON_RT_Callbacktype_t;

struct NN_Instance_Struct;

typedef void (*TraceRuntime_FuncPtr_t)(LL_ATON_RT_Callbacktype_t type);
typedef void (*TraceEpochBlock_FuncPtr_t)(LL_ATON_RT_Callbacktype_t type, const struct NN_Instance_Struct *instance,
                                          const EpochBlock_ItemTypeDef *block);

/* Networks */

/* The functions of one network.c. */
typedef struct {
    const char *network_name;
    bool (*ec_network_init)(void);
    bool (*ec_inference_init)(void);
    LL_ATON_User_IO_Result_t (*input_setter)(uint32_t num, void *buffer, uint32_t size);
    void *(*input_getter)(uint32_t num);
    LL_ATON_User_IO_Result_t (*output_setter)(uint32_t num, void *buffer, uint32_t size);
    void *(*output_getter)(uint32_t num);
    const EpochBlock_ItemTypeDef *(*epoch_block_items)(void);
    const LL_Buffer_InfoTypeDef *(*output_buffers_info)(void);
    const LL_Buffer_InfoTypeDef *(*input_buffers_info)(void);
    const LL_Buffer_InfoTypeDef *(*internal_buffers_info)(void);
} NN_Interface_TypeDef;

/* The progress of an inference. current_epoch_block is NULL before Init_Network. */
typedef struct {
    const EpochBlock_ItemTypeDef *first_epoch_block;
    const EpochBlock_ItemTypeDef *current_epoch_block;
    TraceEpochBlock_FuncPtr_t epoch_callback_function;
    bool inference_started;
#ifdef LL_ATON_RT_RELOC
    uint32_t inst_reloc; /* address of the context of an installed model; 0: the network is linked into the firmware */
#endif
} NN_Execution_State_TypeDef;

typedef struct NN_Instance_Struct {
    const NN_Interface_TypeDef *network;
    NN_Execution_State_TypeDef exec_state;
} NN_Instance_TypeDef;

#define LL_ATON_DECLARE_NAMED_NN_PROTOS(name)                                                                          \
    bool LL_ATON_EC_Network_Init_##name(void);                                                                         \
    bool LL_ATON_EC_Inference_Init_##name(void);                                                                       \
    LL_ATON_User_IO_Result_t LL_ATON_Set_User_Input_Buffer_##name(uint32_t num, void *buffer, uint32_t size);          \
    void *LL_ATON_Get_User_Input_Buffer_##name(uint32_t num);                                                          \
    LL_ATON_User_IO_Result_t LL_ATON_Set_User_Output_Buffer_##name(uint32_t num, void *buffer, uint32_t size);         \
    void *LL_ATON_Get_User_Output_Buffer_##name(uint32_t num);                                                         \
    const EpochBlock_ItemTypeDef *LL_ATON_EpochBlockItems_##name(void);                                                \
    const LL_Buffer_InfoTypeDef *LL_ATON_Output_Buffers_Info_##name(void);                                             \
    const LL_Buffer_InfoTypeDef *LL_ATON_Input_Buffers_Info_##name(void);                                              \
    const LL_Buffer_InfoTypeDef *LL_ATON_Internal_Buffers_Info_##name(void)

#endif
