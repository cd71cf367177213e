"""Images made for deltas: an edit changes only the sectors that it is in.

The sectors behind the edit stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from elf_symbols import symbols_of
from elftools.elf.elffile import ELFFile
from firmware_build import BOARD, bring_up, build, image_of
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import appli_ram, program_script

SECTOR = 64 << 10
FILES, FUNCTIONS = 6, 50


def source_of(folder: Path, number: int, *, body: str = "", constant: str = "") -> Path:
    """Write functions that use their own tables, strings and variables.

    The addresses of these are in the code.
    """
    lines = ["#include <stdint.h>", '#include "n6_console.h"']
    for index in range(FUNCTIONS):
        name = f"{number}_{index}"
        table = ", ".join(str((index * 37 + word * 11 + number) & 0xFFFF) for word in range(250))
        extra = body if index == FUNCTIONS // 2 else ""
        lines += [
            f"static const uint32_t table_{name}[250] = {{{table}}};",
            f"static volatile uint32_t variable_{name};",
            f"uint32_t function_{name}(uint32_t x);",
            f'uint32_t function_{name}(uint32_t x) {{ {extra} variable_{name} += x; n6_put("{name}{constant}");'
            f" return table_{name}[x % 250u] + variable_{name}; }}",
        ]
    path = folder / f"part{number}.c"
    path.write_text("\n".join(lines))
    return path


def main_of(folder: Path) -> Path:
    calls = [f"function_{number}_{index}" for number in range(FILES) for index in range(FUNCTIONS)]
    lines = ["#include <stdint.h>", 'const char n6_program[] = "appli";']
    lines += [f"uint32_t {call}(uint32_t x);" for call in calls]
    lines += ["int main(void) { uint32_t sum = 0;", *(f"sum += {call}(sum);" for call in calls), "return (int)sum; }"]
    path = folder / "main.c"
    path.write_text("\n".join(lines))
    return path


@dataclass(frozen=True)
class Image:
    """An image with the places of the application's own code and constants.

    Attributes:
        data: The whole image.
        code: Offsets in the image of the first byte and of the end of the application's code.
        constants: The same offsets of its constants.
    """

    data: bytes
    code: tuple[int, int]
    constants: tuple[int, int]


def image(folder: Path, **last: str) -> Image:
    """Build an image.

    Args:
        last: Edits of the file that is linked last.
    """
    folder.mkdir()
    sources = [source_of(folder, number, **(last if number == FILES - 1 else {})) for number in range(FILES)]
    # The application comes last: the edited file and the code that calls it.
    elf = build(
        folder,
        "large",
        [*bring_up(), *sources[:-1], main_of(folder), sources[-1]],
        program_script(appli_ram(BOARD.soc)),
        ["-O2"],
    )
    with elf.open("rb") as file:
        symbols = {symbol.name: symbol["st_value"] for symbol in symbols_of(ELFFile(file))}
        sections = {section.name: section for section in ELFFile(file).iter_sections()}
    start = BOARD.soc.load_and_run.load_address
    ends = {name: sections[name]["sh_addr"] + sections[name]["sh_size"] - start for name in (".text", ".rodata")}
    code = (symbols["main"] - 1 - start, ends[".text"])
    constants = (symbols[f"table_{FILES - 1}_0"] - start, ends[".rodata"])
    return Image(image_of(elf, BinaryType.SSBL), code, constants)


def sectors(old: bytes, new: bytes) -> set[int]:
    """Return the sectors that a flash would program."""
    size = max(len(old), len(new))
    return {
        at // SECTOR
        for at in range(0, size, SECTOR)
        if old[at : at + SECTOR].ljust(SECTOR, b"\xff") != new[at : at + SECTOR].ljust(SECTOR, b"\xff")
    }


def spanned(part: tuple[int, int]) -> set[int]:
    return set(range(part[0] // SECTOR, (part[1] - 1) // SECTOR + 1))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return image(tmp_path_factory.mktemp("delta") / "before")


def test_a_large_image_is_one(before: Image) -> None:
    assert len(before.data) > 5 * SECTOR
    assert len(spanned(before.code)) <= 2


# The first sector changes, too: its header holds the sum of all bytes.
@pytest.mark.parametrize(
    "edit",
    [{"body": "x ^= 1u;"}, {"body": "for (uint32_t i = 0; i < x; i++) { x = x * 3u + i; n6_put_u32(x); }"}],
    ids=["a few instructions", "a loop"],
)
def test_code_that_grows_changes_the_application_s_sectors_alone(
    edit: dict[str, str], before: Image, tmp_path: Path
) -> None:
    after = image(tmp_path / "after", **edit)
    assert sectors(before.data, after.data) <= {0} | spanned(before.code) | spanned(after.code)


def test_strings_that_grow_move_no_code(before: Image, tmp_path: Path) -> None:
    after = image(tmp_path / "after", constant="!")
    assert sectors(before.data, after.data) <= {0} | spanned(before.code) | spanned(before.constants)


def test_the_same_program_is_the_same_image(before: Image, tmp_path: Path) -> None:
    assert sectors(before.data, image(tmp_path / "after").data) == set()
