/* SPDX-License-Identifier: Apache-2.0
 *
 * Relocatable models, for both sides. A model is compiled with BUILD_AI_NETWORK_RELOC and ends with AI_RELOC_NETWORK(), which
 * creates its context, its table of entry points and its flags. A firmware compiled with LL_ATON_RT_RELOC installs it:
 *
 *     ll_aton_reloc_info info;
 *     ll_aton_reloc_get_info(file, &info);
 *     ll_aton_reloc_config config = {.exec_ram_addr = ..., .exec_ram_size = ..., .mode = AI_RELOC_RT_LOAD_MODE_COPY};
 *     ll_aton_reloc_install(file, &config, &instance);
 *
 * and runs the instance like any other. With n6build's runtime a model has the ABI of ll_aton 1.1.3-8, or of the version in
 * ll_aton_version.h. It calls only the slots 2 to 4 of the callbacks, whose position is the same in all versions.
 */
#ifndef LL_ATON_RELOC_NETWORK_H
#define LL_ATON_RELOC_NETWORK_H

#include "ll_aton_NN_interface.h"
#include "n6_reloc_format.h"

/* The functions of the firmware that a model calls. */
#define LL_ATON_RELOC_CALLBACKS 23
typedef struct {
    void (*assert_failed)(const char *file, int line, const char *function, const char *expression);
    void (*lib_error)(int error, int line, const char *function);
    void (*mcu_clean)(uintptr_t address, uint32_t size);
    void (*mcu_invalidate)(uintptr_t address, uint32_t size);
    void (*mcu_clean_invalidate)(uintptr_t address, uint32_t size);
    void (*npu_clean)(uintptr_t address, uint32_t size);
    void (*npu_clean_invalidate)(uintptr_t address, uint32_t size);
    /* Operators of ST's library that drive the NPU. */
    void (*operators[LL_ATON_RELOC_CALLBACKS - 7])(void);
} ll_aton_reloc_callbacks;

#ifdef BUILD_AI_NETWORK_RELOC

#ifndef __ARM_FP
#error "a relocatable model is compiled for the FPU: -mfloat-abi=hard"
#endif
#if defined(__ARM_FEATURE_CMSE) && __ARM_FEATURE_CMSE == 3
#define AI_RELOC_SECURE N6_RELOC_FLAG_SECURE
#else
#define AI_RELOC_SECURE 0u
#endif
#ifdef LL_ATON_EB_DBG_INFO
#define AI_RELOC_DEBUG_INFO N6_RELOC_FLAG_DEBUG_INFO
#else
#define AI_RELOC_DEBUG_INFO 0u
#endif
#define AI_RELOC_FLAGS                                                                                                 \
    (N6_RELOC_API_MAJOR << 28 | N6_RELOC_API_MINOR << 24 | N6_RELOC_FLAG_ASYNC | AI_RELOC_DEBUG_INFO | AI_RELOC_SECURE |  \
     N6_RELOC_TOOLCHAIN_GCC | N6_RELOC_FP_ABI_HARD | N6_RELOC_FLAG_FPU | N6_RELOC_CPU_CORTEX_M55)

#define AI_RELOC_KEPT(name) __attribute__((used, section(name)))
#define AI_RELOC_JOIN(a, b) a##b
#define AI_RELOC_SYMBOL(prefix, suffix) AI_RELOC_JOIN(prefix, suffix)
#define AI_RELOC_FUNCTION(what) AI_RELOC_SYMBOL(LL_ATON_##what##_, C_FCT_SUFFIX)
#define AI_RELOC_ENTRY(what) (uintptr_t) AI_RELOC_FUNCTION(what)

#define AI_RELOC_VERSION (LL_ATON_VERSION_MAJOR << 16 | LL_ATON_VERSION_MINOR << 8 | LL_ATON_VERSION_MICRO)
#if AI_RELOC_VERSION >= 0x010101
#define AI_RELOC_STRUCT_SIZES                                                                                          \
    .struct_sizes = sizeof(LL_Buffer_InfoTypeDef) | sizeof(EpochBlock_ItemTypeDef) << 8,
#else
#define AI_RELOC_STRUCT_SIZES
#endif
#if AI_RELOC_VERSION >= 0x010103
#define AI_RELOC_ENCRYPTION_ENTRIES AI_RELOC_ENTRY(WeightEncryption_Info), AI_RELOC_ENTRY(BlobEncryption_Info),
#else
#define AI_RELOC_ENCRYPTION_ENTRIES
#endif

/* The context for the linker, with pointers, which the linker writes as link addresses. */
typedef struct {
    uint32_t state, file, ram, rom;
    const ll_aton_reloc_callbacks *callbacks;
    const char *name;
    uint32_t activation_bytes, params_bytes, external_ram_bytes;
    const char *version_text;
    uint32_t version, version_dev, params_file_bytes, params_file_crc32;
#if AI_RELOC_VERSION >= 0x010101
    uint32_t struct_sizes;
#endif
    uint32_t instance;
    const NN_Interface_TypeDef *interface;
} ll_aton_reloc_linked_context;

extern ll_aton_reloc_linked_context _network_rt_ctx;

/* Omit the internal buffers, a large table that no application needs. */
#define AI_RELOC_NETWORK()                                                                                             \
    extern const LL_Streng_EncryptionTypedef *AI_RELOC_FUNCTION(WeightEncryption_Info)(void);                          \
    extern const LL_Streng_EncryptionTypedef *AI_RELOC_FUNCTION(BlobEncryption_Info)(void);                            \
    static const LL_Buffer_InfoTypeDef *ai_reloc_no_internal_buffers(void) { return NULL; }                            \
    static const NN_Interface_TypeDef ai_reloc_interface = {                                                           \
        .network_name = C_NAME,                                                                                        \
        .ec_network_init = AI_RELOC_FUNCTION(EC_Network_Init),                                                         \
        .ec_inference_init = AI_RELOC_FUNCTION(EC_Inference_Init),                                                     \
        .input_setter = AI_RELOC_FUNCTION(Set_User_Input_Buffer),                                                      \
        .input_getter = AI_RELOC_FUNCTION(Get_User_Input_Buffer),                                                      \
        .output_setter = AI_RELOC_FUNCTION(Set_User_Output_Buffer),                                                    \
        .output_getter = AI_RELOC_FUNCTION(Get_User_Output_Buffer),                                                    \
        .epoch_block_items = AI_RELOC_FUNCTION(EpochBlockItems),                                                       \
        .output_buffers_info = AI_RELOC_FUNCTION(Output_Buffers_Info),                                                 \
        .input_buffers_info = AI_RELOC_FUNCTION(Input_Buffers_Info),                                                   \
        .internal_buffers_info = ai_reloc_no_internal_buffers,                                                         \
    };                                                                                                                 \
    AI_RELOC_KEPT(".network_rt_ctx") ll_aton_reloc_linked_context _network_rt_ctx = {                                  \
        .name = C_NAME,                                                                                                \
        .activation_bytes = ACTS_SZ,                                                                                   \
        .params_bytes = PARAMS_SZ,                                                                                     \
        .external_ram_bytes = EXT_RAM_SZ,                                                                              \
        .version_text = RUNTIME_DESC,                                                                                  \
        .version = RUNTIME_VERSION,                                                                                    \
        .version_dev = RUNTIME_VERSION_DEV,                                                                            \
        .params_file_bytes = PARAMS_BIN_SZ,                                                                            \
        .params_file_crc32 = PARAMS_BIN_CRC32,                                                                         \
        AI_RELOC_STRUCT_SIZES                                                                                          \
        .interface = &ai_reloc_interface,                                                                              \
    };                                                                                                                 \
    AI_RELOC_KEPT(".network_entries") const uintptr_t _network_entries[] = {                                           \
        AI_RELOC_ENTRY(EC_Network_Init),        AI_RELOC_ENTRY(EC_Inference_Init),                                     \
        AI_RELOC_ENTRY(Set_User_Input_Buffer),  AI_RELOC_ENTRY(Get_User_Input_Buffer),                                 \
        AI_RELOC_ENTRY(Set_User_Output_Buffer), AI_RELOC_ENTRY(Get_User_Output_Buffer),                                \
        AI_RELOC_ENTRY(EpochBlockItems),        AI_RELOC_ENTRY(Output_Buffers_Info),                                   \
        AI_RELOC_ENTRY(Input_Buffers_Info),     (uintptr_t)ai_reloc_no_internal_buffers,                               \
        AI_RELOC_ENCRYPTION_ENTRIES                                                                                    \
        (uintptr_t)&_network_rt_ctx,                                                                                   \
    };                                                                                                                 \
    AI_RELOC_KEPT(".network_flags") const uint32_t _network_flags = AI_RELOC_FLAGS

#else

#define AI_RELOC_RT_LOAD_MODE_XIP 1u   /* code runs in the file */
#define AI_RELOC_RT_LOAD_MODE_COPY 2u  /* code runs in the executable RAM, too */
#define AI_RELOC_RT_LOAD_MODE_CLEAR 4u /* activations begin as zeros */

enum {
    AI_RELOC_RT_ERR_NONE = 0,
    AI_RELOC_RT_ERR_INVALID_BIN = -1,
    AI_RELOC_RT_ERR_MEMORY = -2,
    AI_RELOC_RT_ERR_ARG = -4,
    AI_RELOC_RT_ERR_PARAM_ADDR = -7,
    AI_RELOC_RT_ERR_PARAM_DESC = -8,
};

/* Addresses are aligned to 32 bytes. ext_param_addr: of weights in a separate file, otherwise 0. */
typedef struct {
    uintptr_t exec_ram_addr;
    uint32_t exec_ram_size;
    uintptr_t ext_ram_addr;
    uint32_t ext_ram_size;
    uintptr_t ext_param_addr;
    uint32_t mode;
} ll_aton_reloc_config;

/* rt_ram_xip, rt_ram_copy: executable RAM that an installation uses, in bytes. */
typedef struct {
    const char *c_name;
    uint32_t variant;
    uint32_t code_sz;
    uint32_t params_off;
    uint32_t params_sz;
    uint32_t acts_sz;
    uint32_t ext_ram_sz;
    uint32_t rt_ram_xip;
    uint32_t rt_ram_copy;
    uint32_t rt_version;
    uint32_t rt_version_extra;
} ll_aton_reloc_info;

/* Read the properties of a model. Return AI_RELOC_RT_ERR_INVALID_BIN if there is no model. */
int ll_aton_reloc_get_info(uintptr_t file, ll_aton_reloc_info *info);

/* Install a model and its pools, through the CPU's D-cache. The caller must clean the D-cache for the NPU, and invalidate the
 * I-cache. Return AI_RELOC_RT_ERR_* on an error; executable RAM and pools may then have been written. */
int ll_aton_reloc_install(uintptr_t file, const ll_aton_reloc_config *config, NN_Instance_TypeDef *instance);

/* Return the list of buffers. num: the first buffer of the list; -1: all. */
const LL_Buffer_InfoTypeDef *ll_aton_reloc_get_input_buffers_info(const NN_Instance_TypeDef *instance, int32_t num);
const LL_Buffer_InfoTypeDef *ll_aton_reloc_get_output_buffers_info(const NN_Instance_TypeDef *instance, int32_t num);

LL_ATON_User_IO_Result_t ll_aton_reloc_set_input(const NN_Instance_TypeDef *instance, uint32_t num, void *buffer, uint32_t size);
LL_ATON_User_IO_Result_t ll_aton_reloc_set_output(const NN_Instance_TypeDef *instance, uint32_t num, void *buffer, uint32_t size);

#endif
#endif
