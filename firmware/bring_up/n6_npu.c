/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_npu.h"

#include "n6_reg.h"
#include "n6_soc_npu.h"
#include "n6_soc_rif.h"
#include "n6_soc_system.h"

#define POLLS 100000u

static void pulse_reset(uint32_t bits)
{
    N6_REG32(N6_RCC_AHB5RSTSR) = bits;
    n6_barrier();
    N6_REG32(N6_RCC_AHB5RSTCR) = bits;
    n6_barrier();
}

bool n6_npu_enable(void)
{
    n6_enable(N6_RCC_MEMENSR, N6_RCC_MEMENR, N6_RCC_MEMENR_CACHEAXIRAMEN);
    n6_enable(N6_RCC_AHB5ENSR, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_NPUEN | N6_RCC_AHB5ENR_CACHEAXIEN);
    pulse_reset(N6_RCC_AHB5RSTR_NPURST | N6_RCC_AHB5RSTR_CACHEAXIRST);
    if (!n6_wait_for(N6_CACHEAXI_SR, N6_CACHEAXI_SR_BUSYF, 0u, POLLS)) {
        return false;
    }
    N6_REG32(N6_CACHEAXI_CR1) = N6_CACHEAXI_CR1_EN;
    N6_REG32(N6_RCC_MEMLPENSR) = N6_RCC_MEMLPENR_AXISRAM1LPEN | N6_RCC_MEMLPENR_AXISRAM2LPEN | N6_RCC_MEMLPENR_FLEXRAMLPEN |
                                 N6_RCC_MEMLPENR_CACHEAXIRAMLPEN;
    N6_REG32(N6_RCC_AHB5LPENSR) = N6_RCC_AHB5LPENR_XSPI2LPEN | N6_RCC_AHB5LPENR_XSPIMLPEN | N6_RCC_AHB5LPENR_CACHEAXILPEN |
                                  N6_RCC_AHB5LPENR_NPULPEN;
    return true;
}

#define CLEAN_AND_INVALIDATE 3

/* Clean and invalidate a range, in the order of ST's HAL. */
bool n6_npu_cache_clean_invalidate(uintptr_t address, uint32_t bytes)
{
    if (bytes == 0u) {
        return true;
    }
    if (!n6_wait_for(N6_CACHEAXI_SR, N6_CACHEAXI_SR_BUSYF | N6_CACHEAXI_SR_BUSYCMDF, 0u, POLLS)) {
        return false;
    }
    N6_REG32(N6_CACHEAXI_FCR) = N6_CACHEAXI_FCR_CBSYENDF | N6_CACHEAXI_FCR_CCMDENDF;
    N6_REG32(N6_CACHEAXI_CMDRSADDRR) = (uint32_t)address;
    N6_REG32(N6_CACHEAXI_CMDREADDRR) = (uint32_t)address + bytes - 1u;
    n6_modify(N6_CACHEAXI_CR2, N6_CACHEAXI_CR2_CACHECMD, N6_FIELD(N6_CACHEAXI_CR2_CACHECMD, CLEAN_AND_INVALIDATE));
    n6_modify(N6_CACHEAXI_CR2, 0u, N6_CACHEAXI_CR2_STARTCMD);
    return n6_wait_for(N6_CACHEAXI_SR, N6_CACHEAXI_SR_CMDENDF, N6_CACHEAXI_SR_CMDENDF, POLLS);
}

void n6_npu_open_rif(void)
{
    n6_enable(N6_RCC_AHB3ENSR, N6_RCC_AHB3ENR, N6_RCC_AHB3ENR_RIFSCEN);
    N6_REG32(N6_RIFSC_RIMC_ATTR1) = N6_FIELD(N6_RIFSC_RIMC_ATTR1_MCID, 1) | N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV;
    n6_modify(N6_RIFSC_SECCFGR3, 0u, N6_RIFSC_SECCFGR3_NPU);
    n6_modify(N6_RIFSC_PRIVCFGR3, 0u, N6_RIFSC_PRIVCFGR3_NPU);
    n6_barrier();
}
