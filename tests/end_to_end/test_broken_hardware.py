"""Reports of the firmware about faulty hardware and faulty models.

The virtual board and n6build's models are not faulty. So each case changes the firmware in one
place: it then leaves out a setting, or takes a sound value for a fault.
"""

from __future__ import annotations

import pytest

from end_to_end.conftest import Project

RELOC = ("loader=reloc",)
MODEL = "appli_reloc/n6_model.c"
PSRAM = "bring_up/n6_xspi_psram.c"
NPU, FOR_NPU = "runtime/ll_aton_npu.c", ("backend=neural_art",)
EXTRAM = ("board=stm32n6570-dk", "profile=extram")
# Each case has a source, its old text, its new text, and options.
CASES = {
    "N6-FW-003": ("bring_up/n6_xspi_nor.c", "&write, 1u, value)", "&write, 1u, value & 0u)", ()),
    "N6-FW-004": (
        "bring_up/n6_clock.c",
        "N6_RCC_CFGR1_CPUSWS | N6_RCC_CFGR1_SYSSWS, 0u, POLLS",
        "N6_RCC_CFGR1_CPUSWS | N6_RCC_CFGR1_SYSSWS, ~0u, POLLS",
        (),
    ),
    "N6-FW-005": ("bring_up/n6_clock.c", "    N6_REG32(N6_RCC_CSR) = pll->on;\n", "", ("clock=hsi",)),
    "N6-FW-006": ("bring_up/n6_clock.c", "    N6_REG32(N6_RCC_CSR) = pll->on;\n", "", ()),
    "N6-FW-024": ("appli/n6_memory.c", "n6_axisram_enable(bank->rcc_enable_mask,", "n6_axisram_enable(0u,", ()),
    "N6-FW-025": (
        "appli/n6_memory.c",
        "offset < image->bytes; offset += 4u",
        "offset + 4u < image->bytes; offset += 4u",
        ("profile=noextmem",),
    ),
    "N6-FW-026": ("appli/n6_appli.c", "input, vectors->bytes_each, i", "input, vectors->bytes_each - 1u, i", ()),
    "N6-FW-027": (
        "bring_up/n6_npu.c",
        "N6_CACHEAXI_SR, N6_CACHEAXI_SR_BUSYF, 0u",
        "N6_CACHEAXI_SR, N6_CACHEAXI_SR_BUSYF, ~0u",
        (),
    ),
    "N6-FW-028": ("appli/n6_inference.c", "if (!give_own_buffers(network))", "if (give_own_buffers(network))", ()),
    "N6-FW-030": (PSRAM, "N6_RCC_CCIPR6_XSPI1SEL, 0u);", "N6_RCC_CCIPR6_XSPI1SEL, N6_RCC_CCIPR6_XSPI1SEL);", EXTRAM),
    "N6-FW-031": (PSRAM, "n6_modify(N6_PWR_SVMCR3, 0u, N6_PSRAM_SUPPLY);", "", EXTRAM),
    "N6-FW-032": (PSRAM, "kept != registers[i].value", "kept == registers[i].value", EXTRAM),
    "N6-FW-033": (PSRAM, "put(LAST_WORD, last);", "put(LAST_WORD, first);", EXTRAM),
    "N6-FW-034": (PSRAM, "N6_XSPIM_CR_MUXEN)) != 0u", "N6_XSPIM_CR_MUXEN)) == 0u", EXTRAM),
    "N6-FW-040": (MODEL, "n6_reloc_check(header, slot->file_bytes)", "n6_reloc_check(header, 8u)", RELOC),
    "N6-FW-043": ("reloc/n6_reloc_check.c", "(reg(CPACR) & CPACR_CP10_CP11) !=", "(0u & CPACR_CP10_CP11) !=", RELOC),
    "N6-FW-044": (
        "reloc/n6_reloc_check.c",
        "#if defined(__ARM_FEATURE_CMSE) && __ARM_FEATURE_CMSE == 3",
        "#if 0",
        RELOC,
    ),
    "N6-FW-053": (MODEL, "if (!EpochBlock_IsEpochPureSW(epochs))", "if (EpochBlock_IsEpochPureSW(epochs))", RELOC),
    "N6-FW-054": (
        MODEL,
        "input, trailer->test_input_bytes, &crc32",
        "input, trailer->test_input_bytes + 1u, &crc32",
        RELOC,
    ),
    "N6-FW-060": (NPU, "bits[i], 0u, READY_POLLS", "bits[i], bits[i], READY_POLLS", FOR_NPU),
    "N6-FW-061": (NPU, "!= units[i].expected", "== units[i].expected", FOR_NPU),
    "N6-FW-062": (NPU, "first != N6_NPU_BLOB_MAGIC", "first == N6_NPU_BLOB_MAGIC", FOR_NPU),
    "N6-FW-063": (NPU, "(reported & ERRORS) != 0u", "(reported & ERRORS) == 0u", FOR_NPU),
    "N6-FW-064": (NPU, "polls < BLOB_POLLS", "polls + BLOB_POLLS < 1u", FOR_NPU),
    "N6-FW-085": (
        "trial/fsbl/n6_trial_appli.c",
        "if (refusal.why[0] != '\\0') {\n        N6_LINE",
        "if (refusal.why[0] != '\\1') {\n        N6_LINE",
        (*RELOC, "trial=on"),
    ),
    "N6-FW-084": (MODEL, "if (!confine(slot,", "if (confine(slot,", (*RELOC, "confine=on")),
    "N6-FW-057": (MODEL, "!= model->name_crc32", "!= model->name_crc32 + 1u", RELOC),
}


# These cases run always: the FSBL, the PSRAM, and a relocatable model.
_ALWAYS = ("N6-FW-005", "N6-FW-031", "N6-FW-057")


@pytest.mark.parametrize(
    "id", [each if each in _ALWAYS else pytest.param(each, marks=pytest.mark.slow) for each in CASES]
)
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_is_said_by_its_id(id: str, project: Project) -> None:
    file, old, new, options = CASES[id]
    project.replace(f"firmware/{file}", old, new)
    assert id in project.scons("model=keyword", *options, "probe=virtual", "flash", "run").refused().output
