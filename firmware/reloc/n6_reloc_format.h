/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a relocatable model, reloc API 8.0: little endian, words of 32 bits. It is linked at artificial addresses: bits
 * 31..28 name the segment, bits 27..0 are the offset in it. The number of entry points follows from the version of ll_aton with
 * which model and firmware are compiled.
 */
#ifndef N6_RELOC_FORMAT_H
#define N6_RELOC_FORMAT_H

#include <stdint.h>

#include "ll_aton_version.h"

#define N6_RELOC_MAGIC 0x4E49424Eu /* "NBIN" */
#define N6_RELOC_API_MAJOR 8u
#define N6_RELOC_API_MINOR 0u

/* Flags, from the top: API major and minor (4 bits each), then single bits, tool-chain, FP ABI, and the CPU's part number. */
#define N6_RELOC_FLAG_ASYNC (1u << 22)
#define N6_RELOC_FLAG_DEBUG_INFO (1u << 21)
#define N6_RELOC_FLAG_SECURE (1u << 20)
#define N6_RELOC_TOOLCHAIN_GCC (8u << 16)
#define N6_RELOC_FP_ABI_HARD (2u << 13)
#define N6_RELOC_FLAG_FPU (1u << 12)
#define N6_RELOC_CPU_MASK 0xFFFu
#define N6_RELOC_CPU_CORTEX_M55 0xD22u

#define N6_RELOC_OFFSET_MASK 0x0FFFFFFFu
#define N6_RELOC_OFFSET(address) ((address) & N6_RELOC_OFFSET_MASK)
#define N6_RELOC_SEGMENT(address) ((address) >> 28)
#define N6_RELOC_SEGMENT_FLASH 0x2u
#define N6_RELOC_SEGMENT_RAM 0x4u
#define N6_RELOC_SEGMENT_PARAM_0 0x8u /* weights, read only */
#define N6_RELOC_SEGMENT_PARAM_1 0x9u /* external RAM */

#define N6_RELOC_VERSION(major, minor, micro) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(micro) << 8)
#define N6_RELOC_OWN_VERSION N6_RELOC_VERSION(LL_ATON_VERSION_MAJOR, LL_ATON_VERSION_MINOR, LL_ATON_VERSION_MICRO)

/* The entry points, in their order in the file. */
typedef enum {
    N6_RELOC_EC_NETWORK_INIT,
    N6_RELOC_EC_INFERENCE_INIT,
    N6_RELOC_INPUT_SETTER,
    N6_RELOC_INPUT_GETTER,
    N6_RELOC_OUTPUT_SETTER,
    N6_RELOC_OUTPUT_GETTER,
    N6_RELOC_EPOCH_ITEMS,
    N6_RELOC_OUTPUT_BUFFERS_INFO,
    N6_RELOC_INPUT_BUFFERS_INFO,
    N6_RELOC_INTERNAL_BUFFERS_INFO,
    N6_RELOC_WEIGHT_ENCRYPTION_INFO, /* from ll_aton 1.1.3 on */
    N6_RELOC_BLOB_ENCRYPTION_INFO,
} n6_reloc_entry_t;

/* The header. All words but `magic`, `flags` and `params_offset` are link addresses. `params_offset` is a plain offset in the
 * file; 0 if the weights are a separate file. The context's address follows the entry points: word 23 up to ll_aton 1.1.1, word
 * 25 from 1.1.3 on. */
typedef struct {
    uint32_t magic;
    uint32_t flags;
    uint32_t data_start;
    uint32_t data_end;
    uint32_t data_image;
    uint32_t bss_start;
    uint32_t bss_end;
    uint32_t got_start;
    uint32_t got_end;
    uint32_t rel_start;
    uint32_t rel_end;
    uint32_t pools;
    uint32_t params_offset;
    uint32_t entries[];
} n6_reloc_header_t;

#define N6_RELOC_CONTEXT_WORD_OLD 23u
#define N6_RELOC_CONTEXT_WORD 25u

/* The data that firmware and model share at run time. Names are addresses. */
typedef struct {
    uint32_t state;
    uint32_t file;
    uint32_t ram;
    uint32_t rom;
    uint32_t callbacks;
    uint32_t name;
    uint32_t activation_bytes;
    uint32_t params_bytes;
    uint32_t external_ram_bytes;
    uint32_t version_text;
    uint32_t version;
    uint32_t version_dev;
    uint32_t params_file_bytes;
    uint32_t params_file_crc32;
    uint32_t struct_sizes; /* from ll_aton 1.1.1 on: sizeof(LL_Buffer_InfoTypeDef), sizeof(epoch block item) << 8 */
    uint32_t instance;
    uint32_t interface;
} n6_reloc_context_t;

/* A memory pool. A list of pools ends with an entry of flags 0. */
typedef struct {
    uint32_t name;
    uint32_t flags;
    uint32_t offset_in_params;
    uint32_t destination;
    uint32_t bytes;
} n6_reloc_pool_t;

#define N6_RELOC_POOLS_MAX 9u
#define N6_RELOC_POOL_TYPE(flags) ((flags) >> 24)
#define N6_RELOC_POOL_RELOC 1u /* its segment is placed */
#define N6_RELOC_POOL_COPY 2u  /* its content is copied to its address */
#define N6_RELOC_POOL_RESET 3u /* it is cleared if requested */
#define N6_RELOC_POOL_CONTENT(flags) ((flags) >> 16 & 0xFFu)
#define N6_RELOC_POOL_PARAM 1u
#define N6_RELOC_POOL_ACTIVATIONS 2u
#define N6_RELOC_POOL_MIXED 3u
#define N6_RELOC_POOL_WRITE (2u << 8)
#define N6_RELOC_POOL_CACHED (4u << 8)
#define N6_RELOC_POOL_ID(flags) ((flags) & 0xFFu)

#endif
