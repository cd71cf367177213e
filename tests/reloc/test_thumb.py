"""Functions that return the address of a table, as compilers write them."""

from __future__ import annotations

import struct
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.place.reloc.thumb import NotConstantError, returned_address

CODE, DATA = 0x20000100, 0x40000000
GOT = {DATA + 0x10: 0x40000800, DATA + 0x14: 0x20000444}


class OutsideError(Exception):
    """An access outside the model."""


def carried_out(code: bytes) -> int:
    def read(address: int) -> int:
        if address in GOT:
            return GOT[address]
        if not CODE <= address < CODE + len(code):
            raise OutsideError
        return int.from_bytes(code[address - CODE :][:4], "little")

    return returned_address(CODE | 1, read)


# Registers and forms differ with the compiler and its options.
FORMS = {
    "gcc -Os": ("014b59f803007047" + "10000000", 0x40000800),
    "the other register": ("0149" + "59f80100" + "7047" + "14000000", 0x20000444),
    "nothing": ("0020" + "7047", 0),
    "gcc -O0, with a frame": ("80b400af034b59f803301846bd465df8047b7047" + "10000000", 0x40000800),
    "push and pop of lr": ("10b5024b59f8030010bd00bf" + "10000000", 0x40000800),
    "movw, movt, add to r9": ("40f20000" + "c0f20000" + "4844" + "7047", DATA),
    "adr to pc": ("01a0" + "7047" + "00bf00bf", CODE + 8),
    "behind bti and pac": ("aff30f80" + "aff31d80" + "014b59f80300" + "7047" + "10000000", 0x40000800),
    "ldr.w from a literal": ("dff80830" + "59f80300" + "7047" + "00bf" + "10000000", 0x40000800),
    "over a branch": ("00e0" + "7047" + "0020" + "7047", 0),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form(name: str) -> None:
    code, expected = FORMS[name]
    assert carried_out(bytes.fromhex(code)) == expected


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("fee7", "has more than 64 instructions"),
        ("1846", "uses r3, which has no value"),
        ("00df", "has the instruction 0xDF00"),
        ("01f001f8", "has the instruction 0xF001 0xF801"),
        ("8847", "has the instruction 0x4788"),
        ("4b46" + "1847", "calls another function"),
        ("4b46" + "1860", "writes to 0x40000000"),
    ],
)
def test_what_is_no_constant(code: str, said: str) -> None:
    with pytest.raises(NotConstantError, match=said):
        carried_out(bytes.fromhex(code))


@given(st.binary(min_size=2, max_size=80))
def test_any_bytes_end(code: bytes) -> None:
    with suppress(NotConstantError, OutsideError):
        assert 0 <= carried_out(code) < 1 << 32


SOURCE = """
static const int *const table[] = {0, 0};
const void *function(void) { return table; }
"""


@pytest.mark.parametrize("level", ["-Os", "-O0", "-O3", "-O2 -fno-omit-frame-pointer"])
def test_what_the_compiler_makes_of_it(level: str, tmp_path: Path) -> None:
    """The code reads the address from the GOT, as in a relocatable model.

    The test fills in the GOT's word.
    """
    (tmp_path / "f.c").write_text(SOURCE)
    pic = ("-fpic", "-msingle-pic-base", "-mpic-register=r9", "-mno-pic-data-is-text-relative")
    gcc = ("arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", *pic, *level.split())
    subprocess.run([*gcc, "-c", "f.c", "-o", "f.o"], cwd=tmp_path, check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", "f.o", "f.bin"], cwd=tmp_path, check=True)
    code = (tmp_path / "f.bin").read_bytes()
    # The last word is the offset in the GOT, which the linker would fill in.
    code = code[:-4] + struct.pack("<I", 0x10)
    assert carried_out(code) == 0x40000800
