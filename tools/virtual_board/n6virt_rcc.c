/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * RCC: the running clocks, their rates, and resets. A clock is ready as soon as it is switched on, except a PLL: it locks after
 * a time with harshness, and never if its dividers are out of range.
 */
#include "n6virt.h"

#define SET_ALIAS 0x800u
#define CLEAR_ALIAS 0x1000u
#define PLLS 4
#define DIVIDERS 20
#define PLL_BYTES 0x10u
#define FROM_DIVIDERS 3u

/* Sources of a PLL: PLLxCFGR1 SEL. */
enum { PLL_FROM_HSI, PLL_FROM_MSI, PLL_FROM_HSE };
/* CFGR1 CPUSW and SYSSW. */
enum { SWITCH_HSI, SWITCH_MSI, SWITCH_HSE };

static int64_t locked_at[PLLS]; /* guest time */

static bool is_locking(unsigned pll)
{
    return locked_at[pll] && n6virt_now() < locked_at[pll];
}

uint64_t n6virt_oscillator_hz(uint32_t on_bit)
{
    if (!n6virt_has(N6_RCC_CR, on_bit)) {
        return 0;
    }
    switch (on_bit) {
    case N6_RCC_CR_HSION:
        return N6_HSI_HZ >> n6virt_field(N6_RCC_HSICFGR, N6_RCC_HSICFGR_HSIDIV, N6_RCC_HSICFGR_HSIDIV_POS);
    case N6_RCC_CR_MSION:
        return n6virt_has(N6_RCC_MSICFGR, N6_RCC_MSICFGR_MSIFREQSEL) ? 4 * N6VIRT_MSI_HZ : N6VIRT_MSI_HZ;
    case N6_RCC_CR_HSEON:
        return N6VIRT_HSE_HZ;
    default:
        return 0;
    }
}

static uint32_t pll_register(unsigned pll, unsigned number)
{
    return n6virt_get(N6_RCC_PLL1CFGR1 + pll * PLL_BYTES + 4 * (number - 1));
}

static uint32_t part(uint32_t value, uint32_t mask, unsigned position)
{
    return (value & mask) >> position;
}

#define PART(value, register, name) part(value, N6_RCC_##register##_##name, N6_RCC_##register##_##name##_POS)

static uint64_t pll_source_hz(unsigned pll)
{
    switch (PART(pll_register(pll, 1), PLL1CFGR1, SEL)) {
    case PLL_FROM_HSI:
        return n6virt_oscillator_hz(N6_RCC_CR_HSION);
    case PLL_FROM_MSI:
        return n6virt_oscillator_hz(N6_RCC_CR_MSION);
    case PLL_FROM_HSE:
        return n6virt_oscillator_hz(N6_RCC_CR_HSEON);
    default:
        return 0;
    }
}

/* Return the rate of a PLL's comparator (below: of its oscillator); 0 if a divider is 0 or the source does not run. */
static uint64_t pll_reference_hz(unsigned pll)
{
    uint32_t divm = PART(pll_register(pll, 1), PLL1CFGR1, DIVM);

    return divm ? pll_source_hz(pll) / divm : 0;
}

static uint64_t pll_vco_hz(unsigned pll)
{
    uint64_t whole = PART(pll_register(pll, 1), PLL1CFGR1, DIVN), fraction = PART(pll_register(pll, 2), PLL1CFGR2, DIVNFRAC);

    return pll_reference_hz(pll) * ((whole << 24) + fraction) >> 24;
}

/* Return the reason why a PLL does not lock, or NULL. */
static const char *pll_unlocked(unsigned pll)
{
    uint64_t reference = pll_reference_hz(pll), vco = pll_vco_hz(pll);

    if (n6virt_has(N6_RCC_PLL1CFGR1 + pll * PLL_BYTES, N6_RCC_PLL1CFGR1_BYP)) {
        return pll_source_hz(pll) ? NULL : "its source does not run";
    }
    if (!pll_source_hz(pll)) {
        return "its source does not run";
    }
    if (reference < N6VIRT_PLL_REFERENCE_MIN || reference > N6VIRT_PLL_REFERENCE_MAX) {
        return "its input behind DIVM is out of range";
    }
    return vco < N6VIRT_PLL_VCO_MIN || vco > N6VIRT_PLL_VCO_MAX ? "its oscillator, input times DIVN, is out of range" : NULL;
}

static uint64_t pll_hz(unsigned pll)
{
    uint32_t post = pll_register(pll, 3), pdiv1 = PART(post, PLL1CFGR3, PDIV1), pdiv2 = PART(post, PLL1CFGR3, PDIV2);

    /* After reset all PLLs are off and in bypass: the source goes around them. */
    if (n6virt_has(N6_RCC_PLL1CFGR1 + pll * PLL_BYTES, N6_RCC_PLL1CFGR1_BYP)) {
        return pll_source_hz(pll);
    }
    if (!n6virt_has(N6_RCC_CR, N6_RCC_CR_PLL1ON << pll) || pll_unlocked(pll) || is_locking(pll)) {
        return 0;
    }
    return post & N6_RCC_PLL1CFGR3_PDIVEN && pdiv1 && pdiv2 ? pll_vco_hz(pll) / pdiv1 / pdiv2 : 0;
}

uint64_t n6virt_ic_hz(unsigned number)
{
    uint32_t configuration = n6virt_get(N6_RCC_IC1CFGR + 4 * (number - 1));

    if (!n6virt_has(N6_RCC_DIVENR, 1u << (number - 1))) {
        return 0;
    }
    return pll_hz(PART(configuration, IC1CFGR, SEL)) / (PART(configuration, IC1CFGR, INT) + 1);
}

/* Choices that MDF1SEL, ADF1SEL, SAI1SEL and SAI2SEL have in common. The others, a pin and another block's clock, do not run.
 * */
enum { AUDIO_FROM_BUS, AUDIO_FROM_PER, AUDIO_FROM_IC7, AUDIO_FROM_IC8, AUDIO_FROM_MSI, AUDIO_FROM_HSI };

uint64_t n6virt_audio_hz(uint32_t choice, uint64_t bus_hz)
{
    switch (choice) {
    case AUDIO_FROM_BUS:
        return bus_hz;
    case AUDIO_FROM_IC7:
        return n6virt_ic_hz(7);
    case AUDIO_FROM_IC8:
        return n6virt_ic_hz(8);
    case AUDIO_FROM_MSI:
        return n6virt_oscillator_hz(N6_RCC_CR_MSION);
    case AUDIO_FROM_PER: /* per_ck: of HSI after reset */
    case AUDIO_FROM_HSI:
        return n6virt_oscillator_hz(N6_RCC_CR_HSION);
    default:
        return 0;
    }
}

static uint64_t switched_hz(uint32_t choice, unsigned divider)
{
    switch (choice) {
    case SWITCH_HSI:
        return n6virt_oscillator_hz(N6_RCC_CR_HSION);
    case SWITCH_MSI:
        return n6virt_oscillator_hz(N6_RCC_CR_MSION);
    case SWITCH_HSE:
        return n6virt_oscillator_hz(N6_RCC_CR_HSEON);
    default:
        return n6virt_ic_hz(divider);
    }
}

uint64_t n6virt_cpu_hz(void)
{
    return switched_hz(PART(n6virt_get(N6_RCC_CFGR1), CFGR1, CPUSW), 1);
}

int64_t n6virt_after_us(uint32_t us)
{
    return n6virt_now() + (int64_t)((uint64_t)us * n6virt_cpu_hz() / 1000000u);
}

static uint64_t bus_hz(void)
{
    return switched_hz(PART(n6virt_get(N6_RCC_CFGR1), CFGR1, SYSSW), 2);
}

uint64_t n6virt_ahb_hz(void)
{
    return bus_hz() >> PART(n6virt_get(N6_RCC_CFGR2), CFGR2, HPRE);
}

uint64_t n6virt_apb_hz(unsigned number)
{
    uint32_t dividers = n6virt_get(N6_RCC_CFGR2);
    uint64_t hz = n6virt_ahb_hz();

    switch (number) {
    case 1:
        return hz >> PART(dividers, CFGR2, PPRE1);
    case 2:
        return hz >> PART(dividers, CFGR2, PPRE2);
    case 4:
        return hz >> PART(dividers, CFGR2, PPRE4);
    default:
        return hz >> PART(dividers, CFGR2, PPRE5);
    }
}

uint64_t n6virt_timer_hz(void)
{
    return bus_hz() >> PART(n6virt_get(N6_RCC_CFGR2), CFGR2, TIMPRE);
}

uint64_t n6virt_per_hz(void)
{
    static const unsigned dividers[] = {19, 5, 10, 15, 20};
    uint32_t choice = PART(n6virt_get(N6_RCC_CCIPR7), CCIPR7, PERSEL);

    if (!n6virt_has(N6_RCC_MISCENR, N6_RCC_MISCENR_PEREN)) {
        return 0;
    }
    return choice < FROM_DIVIDERS ? switched_hz(choice, 0) : n6virt_ic_hz(dividers[choice - FROM_DIVIDERS]);
}

/* Flags of HWRSR survive every reset but that at power-on. INFERRED: each reset inside the chip is seen at its pin, too. */
static uint32_t reset_flags = N6_RCC_HWRSR_PORRSTF | N6_RCC_HWRSR_BORRSTF | N6_RCC_HWRSR_PINRSTF;

void n6virt_system_reset(uint32_t reason)
{
    reset_flags |= reason | N6_RCC_HWRSR_PINRSTF;
    n6virt_reset_machine();
}

/* Return the ready bits: all that is switched on, except a PLL that cannot lock. */
static uint32_t ready(void)
{
    uint32_t on = n6virt_get(N6_RCC_CR);

    for (unsigned pll = 0; pll < PLLS; pll++) {
        if (on & N6_RCC_CR_PLL1ON << pll && (pll_unlocked(pll) || is_locking(pll))) {
            on &= ~(N6_RCC_CR_PLL1ON << pll);
        }
    }
    return on;
}

static uint32_t rcc_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    uint32_t address = block->base + offset, value;

    if (offset >= SET_ALIAS) {
        return n6virt_get(block->base + offset % SET_ALIAS);
    }
    value = n6virt_get(address);
    switch (address) {
    case N6_RCC_SR:
        return ready();
    case N6_RCC_HWRSR:
        return reset_flags;
    case N6_RCC_CFGR1: /* a selected clock is in use at once */
        return (value & ~(N6_RCC_CFGR1_CPUSWS | N6_RCC_CFGR1_SYSSWS)) | (value & (N6_RCC_CFGR1_CPUSW | N6_RCC_CFGR1_SYSSW)) << 4;
    default:
        return value;
    }
}

/* Return where to look for a divider that does not run. */
static const char *why_stopped(void)
{
    static char text[64];

    for (unsigned pll = 0; pll < PLLS; pll++) {
        if (is_locking(pll)) {
            snprintf(text, sizeof(text), "PLL%u has not locked yet: wait for RCC SR", pll + 1);
            return text;
        }
    }
    return "RCC CR, DIVENR";
}

/* Report a switch to a clock that does not run: real clocks would stop, and the chip with them. */
static void check_switch(uint32_t value)
{
    if (PART(value, CFGR1, CPUSW) == FROM_DIVIDERS && !n6virt_ic_hz(1)) {
        n6virt_finding("clock", N6_RCC_CFGR1, "The CPU is switched to IC1, which does not run (%s)", why_stopped());
    }
    if (PART(value, CFGR1, SYSSW) == FROM_DIVIDERS && !(n6virt_ic_hz(2) && n6virt_ic_hz(6) && n6virt_ic_hz(11))) {
        n6virt_finding("clock", N6_RCC_CFGR1, "The buses are switched to IC2, IC6 and IC11, which do not all run (%s)", why_stopped());
    }
}

static void note_locking(uint32_t switched_on)
{
    for (unsigned pll = 0; pll < PLLS && n6virt_is_harsh(); pll++) {
        if (switched_on & N6_RCC_CR_PLL1ON << pll) {
            locked_at[pll] = n6virt_after_us(N6VIRT_PLL_LOCK_US);
        }
    }
}

/* Report dividers that are switched on before their PLL has locked: their clock is not yet that of the PLL. */
static void check_dividers(uint32_t switched_on)
{
    for (unsigned divider = 0; divider < DIVIDERS; divider++) {
        unsigned pll = PART(n6virt_get(N6_RCC_IC1CFGR + 4 * divider), IC1CFGR, SEL);

        if (switched_on >> divider & 1 && n6virt_has(N6_RCC_CR, N6_RCC_CR_PLL1ON << pll) && is_locking(pll)) {
            n6virt_finding("clock", N6_RCC_DIVENR, "IC%u is switched on before PLL%u has locked: wait for RCC SR", divider + 1, pll + 1);
        }
    }
}

static void check_plls(uint32_t switched_on)
{
    for (unsigned pll = 0; pll < PLLS; pll++) {
        const char *reason = pll_unlocked(pll);

        if (switched_on & N6_RCC_CR_PLL1ON << pll && reason) {
            n6virt_finding("clock", N6_RCC_CR, "PLL%u does not lock: %s (%" PRIu64 " Hz behind DIVM, oscillator at %" PRIu64 " Hz)",
                           pll + 1, reason, pll_reference_hz(pll), pll_vco_hz(pll));
        }
    }
}

/* What blocks do when they are reset. */
#define MOST_RESETS 8

static struct {
    uint32_t bit;
    void (*reset)(void);
} resets[MOST_RESETS];
static unsigned reset_count;

void n6virt_on_block_reset(uint32_t bit, void (*reset)(void))
{
    g_assert(reset_count < MOST_RESETS);
    resets[reset_count].bit = bit;
    resets[reset_count++].reset = reset;
}

static void reset_blocks(uint32_t value)
{
    for (unsigned i = 0; i < reset_count; i++) {
        if (value & resets[i].bit) {
            resets[i].reset();
        }
    }
}

static void rcc_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    uint32_t address = block->base + offset % SET_ALIAS, before = n6virt_get(address);

    if (offset >= CLEAR_ALIAS) {
        value = before & ~value;
    } else if (offset >= SET_ALIAS) {
        value |= before;
    }
    n6virt_set(address, value);
    switch (address) {
    case N6_RCC_HWRSR:
        reset_flags = value & N6_RCC_HWRSR_RMVF ? 0 : reset_flags;
        break;
    case N6_RCC_CR:
        note_locking(value & ~before);
        check_plls(value & ~before);
        break;
    case N6_RCC_DIVENR:
        check_dividers(value & ~before);
        break;
    case N6_RCC_MEMENR:
        n6virt_ram_update();
        break;
    case N6_RCC_CFGR1:
        check_switch(value);
        break;
    case N6_RCC_AHB5RSTR:
        reset_blocks(value);
        break;
    }
}

/* The model covers the whole block: registers without a case here select a clock or reset of another block, whose model reads
 * them. */
static const N6VirtModel rcc = {.read = rcc_read, .write = rcc_write};

static void start(void)
{
    n6virt_model(N6_RCC_BASE, &rcc);
}

static void reset(void)
{
    memset(locked_at, 0, sizeof(locked_at));
    n6virt_ram_update();
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
