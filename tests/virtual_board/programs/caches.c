/* SPDX-License-Identifier: Apache-2.0
 *
 * Content of the data cache and of memory, and the view of CPU and NPU, step by step; -DDOES= names the case. Exit status 0:
 * all is as expected.
 */
#include <stdint.h>

#include "n6_soc.h"

#include "finish.h"
#include "test_npu.h"

#define KEEP_CCR 0
#define CLEAN_BY_ADDRESS 1
#define OMIT_CLEAN 2
#define CLEAN_BY_SET_AND_WAY 3
#define FORGET_A_WAY 4
#define INVALIDATE_BY_ADDRESS 5
#define INVALIDATE_BY_SET_AND_WAY 6
#define READ_STALE 7
#define WRITE_UNDER_DIRTY 8
#define SWITCH_OFF 9
#define SWITCH_OFF_AND_CLEAN 10
#define SWITCH_OFF_AND_ON 11
#define RUN_CODE 12
#define RUN_CLEANED_CODE 13
#define RUN_REPLACED_CODE 14
#define USE_MPU 15
#define RESET 16
#define STOP_CLOCK 17
#define SHUT_DOWN 18
#define RISAF_FOR_OTHERS 19
#define RISAF_FOR_NPU 20
#define RISAF_ELSEWHERE 21
#define RISAF_READ_ONLY 22
#define RISAF_WITHOUT_CLOCK 23
#define OMIT_RIF 24
#define INVALIDATE_BEFORE 25
#define INVALIDATE_BEFORE_AND_WRITE 26
#define INTERLEAVE 27
#define READ_BETWEEN_WORKS 28
#define READ_BEFORE_WORK 29
#define REWRITE_BEFORE_WORK 30
#define READ_ACROSS_LINES 31
#define READ_NON_SECURE 32
#define READ_VECTOR 33
#define READ_UNCACHED 34
#define READ_WHILE_OFF 35
#define FOLLOW_RULE 36
#define DROP 37
#define DROP_AND_FILL 38
#define DROP_AND_WRITE 39
#define DROP_AND_CLEAN 40
#define RUN_HIDDEN_CODE 41

/* The place is not in a RAM that is off after reset. */
#ifndef PLACE
#define PLACE 0x34080000u
#endif
#ifndef MEMENR_BIT
#define MEMENR_BIT N6_RCC_MEMENR_AXISRAM1EN
#endif
#define MARK (PLACE + 0x1000u)
#define BYTES 256u
#define SUM(value) (BYTES * (value))

void reset(void);

__attribute__((section(".vectors"), used)) const uintptr_t vectors[16] = {STACK_TOP, (uintptr_t)reset};

static void barrier(void)
{
    __asm volatile("dsb\n\tisb" ::: "memory");
}

static void data_cache(uint32_t bits)
{
    REG(N6_SCB_CCR) = bits;
    barrier();
}

static void write_bytes(uint8_t value)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        ((volatile uint8_t *)PLACE)[i] = value; /* WRITE */
    }
}

static uint8_t read_byte(void)
{
    return *(volatile uint8_t *)PLACE; /* READ */
}

static void by_address(uint32_t operation)
{
    for (uint32_t line = PLACE; line < PLACE + BYTES; line += N6_CACHE_LINE) {
        REG(operation) = line; /* BY ADDRESS */
    }
    barrier();
}

/* Apply an operation in the order of CMSIS: from the last set and way down. */
static void by_set_and_way(uint32_t operation, uint32_t last_way)
{
    uint32_t sets = (REG(N6_SCB_CCSIDR) & N6_SCB_CCSIDR_NUMSETS) >> N6_SCB_CCSIDR_NUMSETS_POS;
    uint32_t ways = (REG(N6_SCB_CCSIDR) & N6_SCB_CCSIDR_ASSOCIATIVITY) >> N6_SCB_CCSIDR_ASSOCIATIVITY_POS;
    for (uint32_t set = sets + 1; set-- > 0;) {
        for (uint32_t way = ways + 1; way-- > last_way;) {
            REG(operation) = way << 30 | set << 5; /* BY SET AND WAY */
        }
    }
    barrier();
}

static void open_npu(void)
{
    REG(N6_RCC_AHB5ENSR) = N6_RCC_AHB5ENR_NPUEN;
    REG(N6_RCC_AHB3ENSR) = N6_RCC_AHB3ENR_RIFSCEN;
    if (DOES == OMIT_RIF) {
        return;
    }
    REG(N6_RIFSC_RIMC_ATTR1) = 1u << N6_RIFSC_RIMC_ATTR1_MCID_POS | N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV;
    REG(N6_RIFSC_SECCFGR3) = N6_RIFSC_SECCFGR3_NPU;
    REG(N6_RIFSC_PRIVCFGR3) = N6_RIFSC_PRIVCFGR3_NPU;
}

static uint32_t npu_sum(void)
{
    return test_npu_sum(PLACE, BYTES);
}

static uint32_t keep_ccr(void)
{
    uint32_t before = REG(N6_SCB_CCR);
    data_cache(before | N6_SCB_CCR_IC | N6_SCB_CCR_DC | N6_SCB_CCR_UNALIGN_TRP);
    REG(N6_SCB_CCR + 0x20000u) |= N6_SCB_CCR_IC;
    uint32_t secure = REG(N6_SCB_CCR) ^ before, other = REG(N6_SCB_CCR + 0x20000u);
    data_cache(before);
    return secure != (N6_SCB_CCR_IC | N6_SCB_CCR_DC | N6_SCB_CCR_UNALIGN_TRP) || (other & N6_SCB_CCR_DC) || !(other & N6_SCB_CCR_IC) ||
           REG(N6_SCB_CCR) != before;
}

/* Put twos into memory at the place, and threes into the cache. */
static void make_dirty(void)
{
    write_bytes(2);
    data_cache(N6_SCB_CCR_DC);
    write_bytes(3);
}

/* Run code in the middle of some pages that are dirty in a cache that is off. */
static uint32_t run_hidden_code(void)
{
    const uint32_t end = PLACE + 0x1000u;
    for (uint32_t at = PLACE; at < end; at += 2u) {
        *(volatile uint16_t *)at = 0x4770u; /* BX LR */
    }
    data_cache(N6_SCB_CCR_DC);
    for (uint32_t at = PLACE + N6_CACHE_LINE; at < end; at += 2u) {
        *(volatile uint16_t *)at = 0xDEADu;
    }
    data_cache(0);
    ((void (*)(void))(PLACE + 0x821u))(); /* HIDDEN */
    return 0;
}

/* Invalidate once, for all that the NPU writes, as for an epoch. */
static uint32_t invalidate_before(void)
{
    make_dirty();
    by_address(N6_SCB_DCIMVAC);
    test_npu_fill(PLACE, BYTES, 5);
    if (read_byte() != 5) {
        return 1;
    }
    /* The read has brought the line into the cache. */
    test_npu_fill(PLACE, BYTES, 6);
    if (read_byte() != 5) {
        return 2;
    }
    by_address(N6_SCB_DCIMVAC);
    return read_byte() != 6;
}

static uint8_t byte_at(uint32_t offset)
{
    return ((volatile uint8_t *)PLACE)[offset];
}

/* Invalidate once for three works that write 12, 3 and 3 bytes of each 18, as ST's concatenation does. */
static uint32_t interleave(void)
{
    static const uint8_t sizes[] = {12, 3, 3};

    make_dirty();
    by_address(N6_SCB_DCIMVAC);
    for (uint32_t piece = 0, begin = 0; piece < 3; begin += sizes[piece++]) {
        for (uint32_t at = begin; at + sizes[piece] <= BYTES; at += 18) {
            test_npu_fill(PLACE + at, sizes[piece], (uint8_t)(5 + piece));
        }
    }
    for (uint32_t i = 0; i < BYTES / 18 * 18; i++) {
        if (byte_at(i) != (i % 18 < 12 ? 5 : i % 18 < 15 ? 6 : 7)) {
            return 1;
        }
    }
    return 0;
}

/* The read comes after another work of the NPU, and before its next work on the same line. */
static uint32_t read_between_works(void)
{
    make_dirty();
    by_address(N6_SCB_DCIMVAC);
    test_npu_fill(PLACE, BYTES, 5);
    test_npu_fill(MARK, BYTES, 1);
    if (read_byte() != 5) {
        return 1;
    }
    test_npu_fill(PLACE, BYTES, 6);
    if (read_byte() != 5 || byte_at(N6_CACHE_LINE) != 6) {
        return 2;
    }
    by_address(N6_SCB_DCIMVAC);
    return read_byte() != 6;
}

static uint32_t read_word(uint32_t address)
{
    uint32_t word;

    __asm volatile("ldr %0, [%1]" : "=r"(word) : "r"(address) : "memory");
    return word;
}

static void read_vector(uint32_t address)
{
    REG(0xE000ED88u) |= 0xF00000u; /* CPACR: FPU and MVE */
    barrier();
    __asm volatile("vldrb.u8 q0, [%0]" : : "r"(address) : "q0", "memory");
}

/* Use the MPU: the place is not cacheable. */
static void cache_place(uint32_t cacheable)
{
    REG(N6_MPU_MAIR0) = 0x44ff;
    REG(N6_MPU_RNR) = 3;
    REG(N6_MPU_RBAR) = PLACE | 1u << 1;
    REG(N6_MPU_RLAR) = (PLACE + BYTES - 32) | 1u << N6_MPU_RLAR_ATTRINDX_POS | N6_MPU_RLAR_EN;
    REG(N6_MPU_CTRL) = cacheable ? 0 : N6_MPU_CTRL_ENABLE | 1u << 2; /* the rest has its default */
    barrier();
}

/* Access the lines between their invalidation and the NPU's work. Lines that the CPU touched keep their twos; the third line has
 * the NPU's fives in all cases. */
static uint32_t access_before_work(void)
{
    uint32_t first = 2, second = 5;

    make_dirty();
    by_address(N6_SCB_DCIMVAC);
    switch (DOES) {
    case READ_BEFORE_WORK:
        first = read_byte();
        break;
    case REWRITE_BEFORE_WORK:
        *(volatile uint8_t *)PLACE = 2;
        break;
    case READ_ACROSS_LINES:
        read_word(PLACE + N6_CACHE_LINE - 2);
        second = 2;
        break;
    case READ_NON_SECURE:
        read_word(PLACE & ~0x10000000u);
        break;
    case READ_VECTOR:
        read_vector(PLACE + N6_CACHE_LINE - 8);
        second = 2;
        break;
    case READ_UNCACHED:
        cache_place(0);
        first = read_byte() + 3;
        cache_place(1);
        break;
    case READ_WHILE_OFF:
        data_cache(0);
        first = read_byte() + 3;
        data_cache(N6_SCB_CCR_DC);
        break;
    }
    test_npu_fill(PLACE, BYTES, 5);
    return read_byte() != first || byte_at(N6_CACHE_LINE) != second || byte_at(2 * N6_CACHE_LINE) != 5;
}

#ifndef STRIDE
#define STRIDE N6_CACHE_LINE
#endif
#define LINES 200u

/* Carry out 20,000 accesses in a random order, and compare each read with the rule: a line is outside from its invalidation until
 * the CPU touches it. */
static uint32_t follow_rule(void)
{
    static uint8_t memory[LINES], view[LINES], is_inside[LINES];
    uint32_t random = 1;

    for (uint32_t i = 0; i < LINES; i++) {
        test_npu_fill(PLACE + i * STRIDE, N6_CACHE_LINE, 0);
        memory[i] = view[i] = 0;
        is_inside[i] = 1;
    }
    data_cache(N6_SCB_CCR_DC);
    for (uint32_t step = 1; step <= 20000; step++) {
        random = random * 1664525u + 1013904223u;
        uint32_t i = (random >> 8) % LINES, place = PLACE + i * STRIDE, what = random >> 29;

        if (what < 2) {
            REG(N6_SCB_DCIMVAC) = place;
            is_inside[i] = 0;
            continue;
        }
        if (what < 5) {
            memory[i]++;
            test_npu_fill(place, N6_CACHE_LINE, memory[i]);
            continue;
        }
        view[i] = is_inside[i] ? view[i] : memory[i];
        is_inside[i] = 1;
        if (((volatile uint8_t *)place)[random >> 16 & (N6_CACHE_LINE - 1)] != view[i]) {
            return 1;
        }
        if (what == 7) {
            memory[i] = ++view[i];
            for (uint32_t byte = 0; byte < N6_CACHE_LINE; byte++) {
                ((volatile uint8_t *)place)[byte] = view[i];
            }
            REG(N6_SCB_DCCMVAC) = place;
        }
    }
    return 0;
}

static uint32_t read_stale(void)
{
    write_bytes(2);
    data_cache(N6_SCB_CCR_DC);
    test_npu_fill(PLACE, BYTES, 5);
    if (read_byte() != 2) {
        return 1;
    }
    by_address(N6_SCB_DCIMVAC);
    return read_byte() != 5;
}

static uint32_t switch_off_and_on(void)
{
    make_dirty();
    data_cache(0);
    data_cache(N6_SCB_CCR_DC);
    return read_byte() != 3;
}

/* Write the code: movs r0, #value; bx lr */
static void write_code(uint32_t place, uint32_t value)
{
    *(volatile uint32_t *)place = 0x47702000u | value;
}

static uint32_t call(uint32_t place)
{
    return ((uint32_t(*)(void))(place | 1u))(); /* CALL */
}

static uint32_t run_code(uint32_t cleans)
{
    write_code(PLACE, 7);
    data_cache(N6_SCB_CCR_DC);
    write_code(PLACE, 8);
    if (cleans) {
        by_address(N6_SCB_DCCMVAU);
    }
    REG(N6_SCB_ICIALLU) = 0;
    barrier();
    return call(PLACE) != (cleans ? 8u : 7u);
}

static uint32_t run_replaced_code(void)
{
    uint32_t before = run_code(1);
    write_code(PLACE, 9);
    by_address(N6_SCB_DCCMVAU);
    REG(N6_SCB_ICIALLU) = 0;
    barrier();
    return before || call(PLACE) != 9u;
}

/* Use the MPU: the second half of the place is not cacheable. */
static uint32_t use_mpu(void)
{
    REG(N6_MPU_MAIR0) = 0x44ff;
    REG(N6_MPU_RNR) = 3;
    REG(N6_MPU_RBAR) = (PLACE + BYTES / 2) | 1u << 1;
    REG(N6_MPU_RLAR) = (PLACE + BYTES - 32) | 1u << N6_MPU_RLAR_ATTRINDX_POS | N6_MPU_RLAR_EN;
    REG(N6_MPU_CTRL) = N6_MPU_CTRL_ENABLE | 1u << 2; /* the rest has its default */
    barrier();
    make_dirty();
    if (test_npu_sum(PLACE + BYTES / 2, BYTES / 2) != 3u * BYTES / 2) {
        return 1;
    }
    REG(N6_MPU_CTRL) = 0;
    barrier();
    /* The read now comes from the cache, which has held the line since it was switched on. */
    return ((volatile uint8_t *)PLACE)[BYTES - 1] != 2;
}

static uint32_t reset_with_dirty_lines(void)
{
    if (REG(MARK) == 0x600DF00D) {
        return read_byte() != 2 || (REG(N6_SCB_CCR) & N6_SCB_CCR_DC);
    }
    REG(MARK) = 0x600DF00D;
    make_dirty();
    REG(N6_SCB_AIRCR) = 0x05FA0000 | N6_SCB_AIRCR_SYSRESETREQ;
    for (;;) {
    }
}

static uint32_t stop_clock(void)
{
    write_bytes(2);
    REG(N6_RCC_MEMENCR) = MEMENR_BIT;
    if (read_byte() != 0) {
        return 1;
    }
    REG(N6_RCC_MEMENSR) = MEMENR_BIT;
    return read_byte() != 2;
}

static uint32_t shut_down(void)
{
    REG(N6_RCC_AHB2ENSR) = N6_RCC_AHB2ENR_RAMCFGEN;
    write_bytes(2);
    REG(N6_RAMCFG_SRAM1_CR) = N6_RAMCFG_CR_SRAMSD;
    REG(N6_RAMCFG_SRAM1_CR) = 0;
    return read_byte() == 2;
}

/* Open a region around the place for one compartment. Return the NPU's sum. */
static uint32_t use_risaf(uint32_t cid, uint32_t offset, uint32_t rights)
{
    if (DOES != RISAF_WITHOUT_CLOCK) {
        REG(N6_RCC_AHB3ENSR) = N6_RCC_AHB3ENR_RISAFEN;
    }
    write_bytes(2);
    REG(N6_RISAF2_REG1_STARTR) = PLACE - N6_AXISRAM1_BASE + offset; /* RISAF */
    REG(N6_RISAF2_REG1_ENDR) = PLACE - N6_AXISRAM1_BASE + offset + 0xfffu;
    REG(N6_RISAF2_REG1_CIDCFGR) = rights << cid;
    REG(N6_RISAF2_REG1_CFGR) = N6_RISAF_REG1_CFGR_BREN | N6_RISAF_REG1_CFGR_SEC;
    return npu_sum();
}

#define READS (1u << N6_RISAF_REG1_CIDCFGR_RDENC_POS)
#define READS_AND_WRITES (READS | 1u << N6_RISAF_REG1_CIDCFGR_WRENC_POS)

static uint32_t does(void)
{
    switch (DOES) {
    case KEEP_CCR:
        return keep_ccr();
    case CLEAN_BY_ADDRESS:
        make_dirty();
        by_address(N6_SCB_DCCMVAC);
        return npu_sum() != SUM(3);
    case OMIT_CLEAN:
    case OMIT_RIF:
        make_dirty();
        return npu_sum() != (DOES == OMIT_RIF ? 0u : SUM(2));
    case CLEAN_BY_SET_AND_WAY:
        make_dirty();
        by_set_and_way(N6_SCB_DCCSW, 0);
        return npu_sum() != SUM(3) || read_byte() != 3;
    case FORGET_A_WAY:
        make_dirty();
        by_set_and_way(N6_SCB_DCCSW, 1);
        return npu_sum() != SUM(2);
    case DROP:
    case DROP_AND_CLEAN:
        make_dirty();
        by_address(N6_SCB_DCIMVAC);
        if (DOES == DROP_AND_CLEAN) {
            by_address(N6_SCB_DCCMVAC);
        }
        return npu_sum() != SUM(2);
    case DROP_AND_FILL:
        make_dirty();
        by_address(N6_SCB_DCIMVAC);
        test_npu_fill(PLACE, BYTES, 5);
        return npu_sum() != SUM(5);
    case DROP_AND_WRITE:
        make_dirty();
        by_address(N6_SCB_DCIMVAC);
        write_bytes(3);
        by_address(N6_SCB_DCCMVAC);
        return npu_sum() != SUM(3);
    case RUN_HIDDEN_CODE:
        return run_hidden_code();
    case INVALIDATE_BY_ADDRESS:
        make_dirty();
        by_address(N6_SCB_DCIMVAC);
        return read_byte() != 2;
    case INVALIDATE_BY_SET_AND_WAY:
        make_dirty();
        by_address(N6_SCB_DCCMVAC);
        write_bytes(4);
        by_set_and_way(N6_SCB_DCISW, 0);
        return read_byte() != 3;
    case READ_STALE:
        return read_stale();
    case INVALIDATE_BEFORE:
        return invalidate_before();
    case INTERLEAVE:
        return interleave();
    case READ_BETWEEN_WORKS:
        return read_between_works();
    case READ_BEFORE_WORK:
    case REWRITE_BEFORE_WORK:
    case READ_ACROSS_LINES:
    case READ_NON_SECURE:
    case READ_VECTOR:
    case READ_UNCACHED:
    case READ_WHILE_OFF:
        return access_before_work();
    case FOLLOW_RULE:
        return follow_rule();
    case INVALIDATE_BEFORE_AND_WRITE:
        make_dirty();
        by_address(N6_SCB_DCIMVAC);
        write_bytes(4);
        by_address(N6_SCB_DCCMVAC);
        test_npu_fill(PLACE, BYTES, 5);
        return read_byte() != 4;
    case WRITE_UNDER_DIRTY:
        make_dirty();
        test_npu_fill(PLACE, BYTES, 5);
        by_address(N6_SCB_DCCMVAC);
        return npu_sum() != SUM(3);
    case SWITCH_OFF:
        make_dirty();
        data_cache(0);
        return read_byte() != 2;
    case SWITCH_OFF_AND_CLEAN:
        make_dirty();
        data_cache(0);
        by_set_and_way(N6_SCB_DCCISW, 0);
        return read_byte() != 3 || npu_sum() != SUM(3);
    case SWITCH_OFF_AND_ON:
        return switch_off_and_on();
    case RUN_CODE:
        return run_code(0);
    case RUN_CLEANED_CODE:
        return run_code(1);
    case RUN_REPLACED_CODE:
        return run_replaced_code();
    case USE_MPU:
        return use_mpu();
    case RESET:
        return reset_with_dirty_lines();
    case STOP_CLOCK:
        return stop_clock();
    case SHUT_DOWN:
        return shut_down();
    case RISAF_FOR_OTHERS:
        return use_risaf(2, 0, READS_AND_WRITES) != 0;
    case RISAF_FOR_NPU:
    case RISAF_WITHOUT_CLOCK:
        return use_risaf(1, 0, READS_AND_WRITES) != SUM(2);
    case RISAF_ELSEWHERE:
        return use_risaf(2, 0x1000, READS_AND_WRITES) != SUM(2);
    case RISAF_READ_ONLY:
        if (use_risaf(1, 0, READS) != SUM(2)) {
            return 1;
        }
        test_npu_fill(PLACE, BYTES, 5);
        return read_byte() != 2;
    default:
        return 99;
    }
}

void reset(void)
{
    open_npu();
    finish(does());
}
