"""The harshness of a virtual board: its seed, and symbols of a program."""

from __future__ import annotations

from pathlib import Path

import pytest
from firmware_build import build_fsbl
from n6build.base.errors import N6Error
from n6build.board.virtual_board.memory_symbols import memory_properties
from n6build.describe.choices import choices_of
from n6build.describe.project_settings import resolve

from virtual_board.small_programs import PROGRAMS, boot_program


@pytest.mark.parametrize(("text", "seed"), [("", 0), ("0", 0), ("1", 1), ("4294967295", 4294967295)])
def test_the_option_is_a_seed(text: str, seed: int) -> None:
    assert choices_of(resolve({"harsh": text}, {}, Path()), Path()).harsh == seed


@pytest.mark.parametrize("text", ["yes", "-1", "4294967296", "1.5", "0x1"])
def test_the_option_refuses_another_text(text: str) -> None:
    with pytest.raises(N6Error, match="N6-OPTION-002"):
        choices_of(resolve({"harsh": text}, {}, Path()), Path())


def test_a_program_names_its_bss_and_its_stack(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAMS / "says_hello.c", ["-DDOES=NOTHING"])
    found = memory_properties([elf, tmp_path / "none.elf", Path(__file__)])
    main, first, end = (int(number, 16) for number in found["zeroed"].split(":"))
    limit, top = (int(number, 16) for number in found["stacks"].split(":"))
    assert main % 2 == 0
    assert first < end
    assert limit < top


# Data that nothing wrote: a word of FLEXRAM, which keeps its content over a reset of the system.
def test_ram_holds_other_words_with_each_seed(tmp_path: Path) -> None:
    words = set()
    for harsh in (0, 1, 2):
        result = boot_program(tmp_path, "says_hello.c", "DOES=SHOW_RAM", harsh=harsh)
        assert result.findings == ()
        words.add(result.lines[0])
    assert len(words) == 3
    assert "flexram=0x00000000" in words
