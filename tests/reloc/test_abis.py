"""Models of all four ABIs are read; only the right release's loader installs them."""

from __future__ import annotations

import itertools

import pytest
from n6build.compile.ll_aton import Version
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.loader import Firmware, Placement, Refusal, install
from n6build.place.reloc.model_format import abi_of
from n6build.place.reloc.reader import parse_reloc_file
from n6build.place.reloc.reloc_text import as_text, summary
from n6build.place.reloc.verify import errors, ram_of, verify

from reloc.synthetic import Pool, synthetic_model

VERSIONS: list[Version] = [(1, 1, 0, 31), (1, 1, 1, 14), (1, 1, 3, 8), (1, 1, 3, 275)]
RAM = ram_of(load_board("nucleo-n657"))
PLACE = Placement(file=0x71000000, exec_ram=0x34100000, exec_ram_bytes=1 << 16)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_model_of_each_abi_is_read(version: Version) -> None:
    model = parse_reloc_file(synthetic_model(version), "network_rel.bin")
    assert model.abi is abi_of(version)
    assert (model.name, model.version_text, model.version) == ("network", "GIT (RELOC.GCC)", version)
    assert [(pool.name, pool.size) for pool in model.pools] == [("xSPI2", 61), ("AXISRAM5", 352_800)]
    assert verify(model, None, RAM) == []
    assert "RESET.ACTIV.WRITE" in as_text(model)


@pytest.mark.parametrize(("model_of", "firmware_of"), list(itertools.product(VERSIONS, repeat=2)))
def test_which_loader_takes_which_model(model_of: Version, firmware_of: Version) -> None:
    model = parse_reloc_file(synthetic_model(model_of), "network_rel.bin")
    for place in (PLACE, Placement(**{**PLACE.__dict__, "mode": "xip"})):
        if model_of[:3] == firmware_of[:3]:
            install(model, Firmware(firmware_of), place)
        else:
            with pytest.raises(Refusal):
                install(model, Firmware(firmware_of), place)
    # C and D differ only in the last number: a loader confuses them, these tools do not.
    assert (not errors(verify(model, None, RAM, firmware_of))) == (model_of == firmware_of)


def test_the_summary_has_the_form_of_st_s() -> None:
    model = parse_reloc_file(synthetic_model((1, 1, 1, 14)), "network_rel.bin")
    lines = summary(model).splitlines()
    assert lines[0] == f"   XIP size      = {model.xip_bytes:<9,} (0x{model.xip_bytes:x}) data+got+bss sections"
    assert lines[3] == "   PARAMS size   = 64        (0x40)"
    assert lines[5].startswith("   ┌───")
    assert "RELOC.PARAM.0.RCACHED" in lines[8]
    assert "RESET.ACTIV.WRITE" in lines[9]
    assert lines[-1].startswith("    Table: mempool c-descriptors (off=400")


@pytest.mark.parametrize(
    ("pools", "words"),
    [
        ((Pool("a", 0x02030200, 0, 0x34200000, 64), Pool("b", 0x03020200, 0, 0x34200020, 64)), "overlap by 32 bytes"),
        ((Pool("a", 0x01010500, 0, 0, 61), Pool("b", 0x01010500, 0, 0, 8)), "are both segment 0"),
        ((Pool("a", 0x02010100, 0, 0x71000000, 61),), "is not in RAM"),
        ((Pool("a", 0x02030200, 8, 0x34200000, 64),), "reads 8 bytes beyond the end of the weights"),
    ],
)
def test_pools_that_cannot_be(pools: tuple[Pool, ...], words: str) -> None:
    model = parse_reloc_file(synthetic_model((1, 1, 3, 8), pools), "network_rel.bin")
    assert any(words in finding.what for finding in errors(verify(model, None, RAM)))


@pytest.mark.parametrize(("more_code", "is_sound"), [(4, False), (8, True), (60, False)])
def test_code_of_half_a_double_word_is_refused(more_code: int, is_sound: bool) -> None:
    """A loader that copies the code places the data right behind it.

    So the code's size must be a multiple of 8.
    """
    model = parse_reloc_file(synthetic_model((1, 1, 3, 8), more_code=more_code), "network_rel.bin")
    said = f"its read-only part has {model.read_only_bytes} bytes, not a multiple of 8"
    assert [finding.what for finding in errors(verify(model, None, RAM))] == ([] if is_sound else [said])


def test_too_many_pools_are_refused() -> None:
    from n6build.base.errors import N6Error

    many = tuple(Pool(f"p{number}", 0x03020200, 0, 0x34200000 + 64 * number, 64) for number in range(10))
    with pytest.raises(N6Error, match="N6-RELOC-033: has more than 9 memory pools"):
        parse_reloc_file(synthetic_model((1, 1, 3, 8), many), "network_rel.bin")
    assert len(parse_reloc_file(synthetic_model((1, 1, 3, 8), many[:9]), "network_rel.bin").pools) == 9
