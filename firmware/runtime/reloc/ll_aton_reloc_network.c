/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader of relocatable models, in the order of ST's loader: checks, memory pools, code, data, then every word with a link
 * address. It trusts only data that n6_reloc_check() has checked.
 */
#include "ll_aton_reloc_network.h"

#include <stdbool.h>
#include <string.h>

#include "ll_aton_caches_interface.h"
#include "ll_aton_network_calls.h"
#if N6_CONFINE
#include "ll_aton_reloc_confine.h"
#endif
#include "n6_reloc_check.h"

/* The lower bound of external memory. Cached pools are in external memory. */
#define EXTERNAL_MEMORY 0x60000000u

/* The addresses of a model's segments at run time; 0: no such segment. */
typedef struct {
    uintptr_t rom;
    uintptr_t ram;
    uintptr_t params;
    uintptr_t external_ram;
    uint32_t rom_bytes;
    uint32_t ram_bytes;
    uint32_t params_bytes;
    uint32_t external_ram_bytes;
} bases_t;

static uint32_t up8(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

static const n6_reloc_header_t *header_at(uintptr_t file)
{
    return (const n6_reloc_header_t *)file;
}

int ll_aton_reloc_get_info(uintptr_t file, ll_aton_reloc_info *info)
{
    const n6_reloc_header_t *model = header_at(file);
    if (file % 4u != 0u || model->magic != N6_RELOC_MAGIC) {
        return AI_RELOC_RT_ERR_INVALID_BIN;
    }
    const n6_reloc_context_t *context = n6_reloc_context(model, N6_RELOC_OFFSET_MASK);
    if (context == NULL) {
        return AI_RELOC_RT_ERR_INVALID_BIN;
    }
    uint32_t ram = up8(N6_RELOC_OFFSET(model->bss_end));
    uint32_t read_only = up8(N6_RELOC_OFFSET(model->data_image));
    *info = (ll_aton_reloc_info){
        .c_name = (const char *)(file + N6_RELOC_OFFSET(context->name)),
        .variant = model->flags,
        .code_sz = read_only,
        .params_off = model->params_offset,
        .params_sz = context->params_bytes,
        .acts_sz = context->activation_bytes,
        .ext_ram_sz = up8(context->external_ram_bytes),
        .rt_ram_xip = ram,
        .rt_ram_copy = ram + read_only,
        .rt_version = context->version,
        .rt_version_extra = context->version_dev,
    };
    return AI_RELOC_RT_ERR_NONE;
}

static int check_config(const ll_aton_reloc_config *config, const ll_aton_reloc_info *info)
{
    bool copies = (config->mode & AI_RELOC_RT_LOAD_MODE_COPY) != 0u;
    if (!copies && (config->mode & AI_RELOC_RT_LOAD_MODE_XIP) == 0u) {
        return AI_RELOC_RT_ERR_ARG;
    }
    if (config->exec_ram_addr == 0u || config->exec_ram_addr % 8u != 0u ||
        config->exec_ram_size < (copies ? info->rt_ram_copy : info->rt_ram_xip)) {
        return AI_RELOC_RT_ERR_MEMORY;
    }
    return config->ext_ram_addr % 8u != 0u || config->ext_param_addr % 8u != 0u ? AI_RELOC_RT_ERR_PARAM_ADDR
                                                                                 : AI_RELOC_RT_ERR_NONE;
}

/* Place a pool that is a segment: weights in flash, or external RAM. */
static int place_segment(const n6_reloc_pool_t *pool, const ll_aton_reloc_config *config, uintptr_t params, bases_t *bases)
{
    bool cached = (pool->flags & N6_RELOC_POOL_CACHED) != 0u;
    uint32_t content = N6_RELOC_POOL_CONTENT(pool->flags);
    if (N6_RELOC_POOL_ID(pool->flags) == 0u) {
        if (content != N6_RELOC_POOL_PARAM || (pool->flags & N6_RELOC_POOL_WRITE) != 0u) {
            return AI_RELOC_RT_ERR_PARAM_DESC;
        }
        bases->params = params + pool->offset_in_params;
        bases->params_bytes = up8(pool->bytes);
        return cached && bases->params <= EXTERNAL_MEMORY ? AI_RELOC_RT_ERR_PARAM_ADDR : AI_RELOC_RT_ERR_NONE;
    }
    if (N6_RELOC_POOL_ID(pool->flags) != 1u) {
        return AI_RELOC_RT_ERR_PARAM_DESC;
    }
    if (config->ext_ram_addr == 0u || config->ext_ram_size < up8(pool->bytes) || (cached && config->ext_ram_addr <= EXTERNAL_MEMORY)) {
        return AI_RELOC_RT_ERR_PARAM_ADDR;
    }
    bases->external_ram = config->ext_ram_addr;
    bases->external_ram_bytes = config->ext_ram_size;
    if (content == N6_RELOC_POOL_MIXED) {
        memcpy((void *)config->ext_ram_addr, (const void *)(params + pool->offset_in_params), up8(pool->bytes));
    } else if ((config->mode & AI_RELOC_RT_LOAD_MODE_CLEAR) != 0u) {
        memset((void *)config->ext_ram_addr, 0, up8(pool->bytes));
    }
    return AI_RELOC_RT_ERR_NONE;
}

static int place_pools(const n6_reloc_header_t *model, const ll_aton_reloc_config *config, bases_t *bases)
{
    uintptr_t params = config->ext_param_addr;
    if (params == 0u) {
        if (model->params_offset == 0u) {
            return AI_RELOC_RT_ERR_PARAM_ADDR;
        }
        params = (uintptr_t)model + model->params_offset;
    }
    for (const n6_reloc_pool_t *pool = n6_reloc_pools(model); pool->flags != 0u; pool++) {
        int result = AI_RELOC_RT_ERR_NONE;
        switch (N6_RELOC_POOL_TYPE(pool->flags)) {
        case N6_RELOC_POOL_RELOC:
            result = place_segment(pool, config, params, bases);
            break;
        case N6_RELOC_POOL_COPY:
            memcpy((void *)(uintptr_t)pool->destination, (const void *)(params + pool->offset_in_params), up8(pool->bytes));
            break;
        case N6_RELOC_POOL_RESET:
            if ((config->mode & AI_RELOC_RT_LOAD_MODE_CLEAR) != 0u) {
                memset((void *)(uintptr_t)pool->destination, 0, up8(pool->bytes));
            }
            break;
        default:
            result = AI_RELOC_RT_ERR_PARAM_DESC;
        }
        if (result != AI_RELOC_RT_ERR_NONE) {
            return result;
        }
    }
    return AI_RELOC_RT_ERR_NONE;
}

/* Rebase a word. Return false if it is not a link address of this model. 0 is a null pointer and stays. */
static bool rebase(const bases_t *bases, uint32_t *word)
{
    uint32_t offset = N6_RELOC_OFFSET(*word);
    uintptr_t base = 0u;
    bool inside = true;
    switch (N6_RELOC_SEGMENT(*word)) {
    case N6_RELOC_SEGMENT_FLASH:
        base = bases->rom;
        inside = offset <= bases->rom_bytes;
        break;
    case N6_RELOC_SEGMENT_RAM:
        base = bases->ram;
        inside = offset <= bases->ram_bytes;
        break;
    case N6_RELOC_SEGMENT_PARAM_0:
        base = bases->params;
        inside = offset <= bases->params_bytes;
        break;
    case N6_RELOC_SEGMENT_PARAM_1:
        base = bases->external_ram;
        inside = offset <= bases->external_ram_bytes;
        break;
    default:
        return *word == 0u;
    }
    *word = base + offset;
    return base != 0u && inside;
}

static bool relocate(const n6_reloc_header_t *model, const bases_t *bases)
{
    for (uint32_t offset = N6_RELOC_OFFSET(model->got_start); offset < N6_RELOC_OFFSET(model->got_end); offset += 4u) {
        if (!rebase(bases, (uint32_t *)(bases->ram + offset))) {
            return false;
        }
    }
    const uint32_t *places = (const uint32_t *)((uintptr_t)model + N6_RELOC_OFFSET(model->rel_start));
    const uint32_t *end = (const uint32_t *)((uintptr_t)model + N6_RELOC_OFFSET(model->rel_end));
    uint32_t image = N6_RELOC_OFFSET(model->bss_start);
    for (; places < end; places++) {
        uint32_t offset = N6_RELOC_OFFSET(*places);
        if (N6_RELOC_SEGMENT(*places) != N6_RELOC_SEGMENT_RAM || offset % 4u != 0u || offset >= image ||
            !rebase(bases, (uint32_t *)(bases->ram + offset))) {
            return false;
        }
    }
    return true;
}

#if !N6_CONFINE
static void not_offered(void)
{
    __builtin_trap();
}

static void assert_failed(const char *file, int line, const char *function, const char *expression)
{
    (void)file;
    (void)line;
    (void)function;
    (void)expression;
    __builtin_trap();
}

static void lib_error(int error, int line, const char *function)
{
    (void)error;
    (void)line;
    (void)function;
    __builtin_trap();
}

/* Do nothing: the NPU's cache serves the NPU, and no epoch of this runtime uses it. */
static void no_npu_cache(uintptr_t address, uint32_t size)
{
    (void)address;
    (void)size;
}

#define FOUR(x) x, x, x, x
static const ll_aton_reloc_callbacks callbacks = {
    .assert_failed = assert_failed,
    .lib_error = lib_error,
    .mcu_clean = LL_ATON_Cache_MCU_Clean_Range,
    .mcu_invalidate = LL_ATON_Cache_MCU_Invalidate_Range,
    .mcu_clean_invalidate = LL_ATON_Cache_MCU_Clean_Invalidate_Range,
    .npu_clean = no_npu_cache,
    .npu_clean_invalidate = no_npu_cache,
    .operators = {FOUR(not_offered), FOUR(not_offered), FOUR(not_offered), FOUR(not_offered)},
};
#endif

static n6_reloc_context_t *context_of(const NN_Instance_TypeDef *instance)
{
    return (n6_reloc_context_t *)(uintptr_t)instance->exec_state.inst_reloc;
}

static uint32_t context_address(const n6_reloc_header_t *model)
{
    return N6_RELOC_OFFSET(model->entries[N6_RELOC_CONTEXT_WORD - sizeof *model / 4u]);
}

int ll_aton_reloc_install(uintptr_t file, const ll_aton_reloc_config *config, NN_Instance_TypeDef *instance)
{
    const n6_reloc_header_t *model = header_at(file);
    ll_aton_reloc_info info;
    if (n6_reloc_check(model, N6_RELOC_OFFSET_MASK) != N6_RELOC_FITS || ll_aton_reloc_get_info(file, &info) != AI_RELOC_RT_ERR_NONE) {
        return AI_RELOC_RT_ERR_INVALID_BIN;
    }
    int result = check_config(config, &info);
    if (result != AI_RELOC_RT_ERR_NONE) {
        return result;
    }
    bool copies = (config->mode & AI_RELOC_RT_LOAD_MODE_COPY) != 0u;
    uint32_t read_only = N6_RELOC_OFFSET(model->data_image);
    bases_t bases = {
        .rom = copies ? config->exec_ram_addr : file,
        .ram = copies ? config->exec_ram_addr + read_only : config->exec_ram_addr,
        .rom_bytes = read_only,
        .ram_bytes = N6_RELOC_OFFSET(model->bss_end),
    };
    result = place_pools(model, config, &bases);
    if (result != AI_RELOC_RT_ERR_NONE) {
        return result;
    }
    if (copies) {
        memcpy((void *)bases.rom, (const void *)file, read_only);
    }
    uint32_t image = N6_RELOC_OFFSET(model->bss_start);
    memcpy((void *)bases.ram, (const void *)(file + read_only), image);
    memset((void *)(bases.ram + image), 0, bases.ram_bytes - image);
    if (!relocate(model, &bases)) {
        return AI_RELOC_RT_ERR_INVALID_BIN;
    }
    n6_reloc_context_t *context = (n6_reloc_context_t *)(bases.ram + context_address(model));
    context->file = file;
    context->ram = bases.ram;
    context->rom = bases.rom;
#if N6_CONFINE
    context->callbacks = (uint32_t)(uintptr_t)&n6_confine_callbacks;
#else
    context->callbacks = (uint32_t)(uintptr_t)&callbacks;
#endif
    context->instance = (uint32_t)(uintptr_t)instance;
    *instance = (NN_Instance_TypeDef){.network = (const NN_Interface_TypeDef *)(uintptr_t)context->interface};
    instance->exec_state.inst_reloc = (uint32_t)(uintptr_t)context;
    return AI_RELOC_RT_ERR_NONE;
}

#if N6_CONFINE
static uint32_t call(const NN_Instance_TypeDef *instance, uint32_t a, uint32_t b, uint32_t c, uintptr_t function)
{
    const uint32_t arguments[] = {a, b, c};
    return n6_confine_call(n6_confine_of(instance), arguments, function, context_of(instance)->ram);
}
#else
#define IN_REGISTER __attribute__((unused))

/* Call a function of the model. r0 to r2: arguments. r3: the function. On the stack: the static base, expected in r9. */
__attribute__((naked, noinline)) static uint32_t call_with_base(uint32_t a IN_REGISTER, uint32_t b IN_REGISTER,
                                                                uint32_t c IN_REGISTER, uintptr_t function IN_REGISTER,
                                                                uintptr_t base IN_REGISTER)
{
    __asm volatile("push {r9, lr}\n"
                   "ldr r9, [sp, #8]\n"
                   "blx r3\n"
                   "pop {r9, pc}\n");
}

static uint32_t call(const NN_Instance_TypeDef *instance, uint32_t a, uint32_t b, uint32_t c, uintptr_t function)
{
    return call_with_base(a, b, c, function, context_of(instance)->ram);
}
#endif

/* Call an entry point of an installed model with its static base. */
static uint32_t call_entry(const NN_Instance_TypeDef *instance, n6_reloc_entry_t entry, uint32_t a, uint32_t b, uint32_t c)
{
    const n6_reloc_context_t *context = context_of(instance);
    const n6_reloc_header_t *model = header_at(context->rom);
    return call(instance, a, b, c, context->rom + N6_RELOC_OFFSET(model->entries[entry]));
}

static bool is_linked(const NN_Instance_TypeDef *instance)
{
    return instance->exec_state.inst_reloc == 0u;
}

bool call_ec_network_init(const NN_Instance_TypeDef *instance)
{
    return is_linked(instance) ? instance->network->ec_network_init()
                               : (bool)(call_entry(instance, N6_RELOC_EC_NETWORK_INIT, 0u, 0u, 0u) & 0xFFu);
}

bool call_ec_inference_init(const NN_Instance_TypeDef *instance)
{
    return is_linked(instance) ? instance->network->ec_inference_init()
                               : (bool)(call_entry(instance, N6_RELOC_EC_INFERENCE_INIT, 0u, 0u, 0u) & 0xFFu);
}

const EpochBlock_ItemTypeDef *call_epoch_block_items(const NN_Instance_TypeDef *instance)
{
    return is_linked(instance)
               ? instance->network->epoch_block_items()
               : (const EpochBlock_ItemTypeDef *)(uintptr_t)call_entry(instance, N6_RELOC_EPOCH_ITEMS, 0u, 0u, 0u);
}

void call_epoch(const NN_Instance_TypeDef *instance, EpochBlock_FuncPtr_t function, const EpochBlock_ItemTypeDef *block)
{
    if (is_linked(instance)) {
        function(block);
    } else {
        /* The second argument exists from ll_aton 1.1.3-262 on; older epochs ignore it. */
        (void)call(instance, (uint32_t)(uintptr_t)block, (uint32_t)(uintptr_t)instance, 0u, (uintptr_t)function);
    }
}

static const LL_Buffer_InfoTypeDef *buffers(const NN_Instance_TypeDef *instance, n6_reloc_entry_t entry, int32_t num)
{
    const LL_Buffer_InfoTypeDef *list =
        (const LL_Buffer_InfoTypeDef *)(uintptr_t)call_entry(instance, entry, 0u, 0u, 0u);
#if N6_CONFINE
    list = n6_confine_check_buffers(n6_confine_of(instance), list);
#endif
    return num < 0 ? list : list + num;
}

const LL_Buffer_InfoTypeDef *ll_aton_reloc_get_input_buffers_info(const NN_Instance_TypeDef *instance, int32_t num)
{
    return buffers(instance, N6_RELOC_INPUT_BUFFERS_INFO, num);
}

const LL_Buffer_InfoTypeDef *ll_aton_reloc_get_output_buffers_info(const NN_Instance_TypeDef *instance, int32_t num)
{
    return buffers(instance, N6_RELOC_OUTPUT_BUFFERS_INFO, num);
}

LL_ATON_User_IO_Result_t ll_aton_reloc_set_input(const NN_Instance_TypeDef *instance, uint32_t num, void *buffer, uint32_t size)
{
    return (LL_ATON_User_IO_Result_t)call_entry(instance, N6_RELOC_INPUT_SETTER, num, (uint32_t)(uintptr_t)buffer, size);
}

LL_ATON_User_IO_Result_t ll_aton_reloc_set_output(const NN_Instance_TypeDef *instance, uint32_t num, void *buffer, uint32_t size)
{
    return (LL_ATON_User_IO_Result_t)call_entry(instance, N6_RELOC_OUTPUT_SETTER, num, (uint32_t)(uintptr_t)buffer, size);
}
