/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A vector within one page of RAM is loaded and stored with one look into the TLB; QEMU 7.2 looks once per element.
 * target/arm/mve_helper.c includes this file (build.py) in place of its own macros of these names.
 */
#define VECTOR_BYTES 16
#define ALL_LANES 0xffff

/* Return the host's address of a vector. Return NULL where access is by element: outside of RAM, across pages, on code, under a
 * watchpoint. */
static inline void *n6virt_vector_at(CPUARMState *env, uint32_t address, unsigned bytes, MMUAccessType access)
{
    if ((address & ~TARGET_PAGE_MASK) + bytes > TARGET_PAGE_SIZE) {
        return NULL;
    }
    return tlb_vaddr_to_host(env, address, access, cpu_mmu_index(env, false));
}

#undef DO_VLDR
#define DO_VLDR(OP, MSIZE, LDTYPE, ESIZE, TYPE)                                                                     \
    void HELPER(mve_##OP)(CPUARMState *env, void *vd, uint32_t address)                                             \
    {                                                                                                               \
        const uint8_t *host = n6virt_vector_at(env, address, VECTOR_BYTES / ESIZE * MSIZE, MMU_DATA_LOAD);          \
        uint16_t lanes = mve_element_mask(env), beats = mve_eci_mask(env);                                          \
        TYPE *to = vd;                                                                                              \
                                                                                                                    \
        for (unsigned e = 0; host && lanes == ALL_LANES && e < VECTOR_BYTES / ESIZE; e++) {                         \
            to[H##ESIZE(e)] = LDTYPE##_p(host + e * MSIZE);                                                         \
        }                                                                                                           \
        for (unsigned e = 0; !(host && lanes == ALL_LANES) && e < VECTOR_BYTES / ESIZE; e++) {                      \
            uint32_t lane = 1u << e * ESIZE;                                                                        \
                                                                                                                    \
            if (beats & lane) {                                                                                     \
                to[H##ESIZE(e)] = lanes & lane ? cpu_##LDTYPE##_data_ra(env, address + e * MSIZE, GETPC()) : 0;     \
            }                                                                                                       \
        }                                                                                                           \
        mve_advance_vpt(env);                                                                                       \
    }

#undef DO_VSTR
#define DO_VSTR(OP, MSIZE, STTYPE, ESIZE, TYPE)                                                                     \
    void HELPER(mve_##OP)(CPUARMState *env, void *vd, uint32_t address)                                             \
    {                                                                                                               \
        uint8_t *host = n6virt_vector_at(env, address, VECTOR_BYTES / ESIZE * MSIZE, MMU_DATA_STORE);               \
        uint16_t lanes = mve_element_mask(env);                                                                     \
        const TYPE *from = vd;                                                                                      \
                                                                                                                    \
        for (unsigned e = 0; e < VECTOR_BYTES / ESIZE; e++) {                                                       \
            if (!(lanes & 1u << e * ESIZE)) {                                                                       \
                continue;                                                                                           \
            }                                                                                                       \
            if (host) {                                                                                             \
                STTYPE##_p(host + e * MSIZE, from[H##ESIZE(e)]);                                                    \
            } else {                                                                                                \
                cpu_##STTYPE##_data_ra(env, address + e * MSIZE, from[H##ESIZE(e)], GETPC());                       \
            }                                                                                                       \
        }                                                                                                           \
        mve_advance_vpt(env);                                                                                       \
    }
