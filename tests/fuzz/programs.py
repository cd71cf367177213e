"""Fuzz targets for programs and images, of n6build and third-party."""

from __future__ import annotations

import struct
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from firmware_build import compiler
from image.test_declarations import SCRIPT
from image.test_foreign import elf, hex_of, program
from image.test_haar_cascade import NEWER, OLDER
from n6build.base.intel_hex import read_intel_hex
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.boards import load_board
from n6build.place.image.boot_header import check_foreign_header, with_boot_header
from n6build.place.image.declarations import Declarations
from n6build.place.image.elf_reader import allocated_sections, bytes_at, labels_of, loaded_parts, payload_of, symbols_of
from n6build.place.image.foreign import flash_pieces, started_program
from n6build.place.image.haar_cascade import haar_cascade
from n6build.place.image.linker_map import object_at, read_linker_map
from n6build.place.image.mcuboot import SigningKey, mcuboot_image, read_mcuboot_image
from n6build.place.image.memory_regions import read_memory_regions
from n6build.place.image.program_board import program_board
from n6build.place.reloc.linked_model import read_linked_model
from n6build.place.reloc.openmv import image_firmware

from fuzz.target import Target, of_file

BOARD = load_board("nucleo-n657")
APPLI = 0x34000400
_MOST = 1 << 20
_PROGRAM = """
int frames[4] = {1};
static int zeros[2];
int camera(void) { return frames[3] + zeros[0]; }
int main(void) { return camera(); }
"""
# The words of a header that stage 2 reads, and a pointer in each part of the data.
_LINKED = """
.section .flash, "ax"
.word 0x4E49424E, 0x80785D22, 0x40000000, 0x4000000C, 0x2000006A, 0x4000000C
.word 0x4000000C, 0x40000008, 0x4000000C, 0x2000006A, 0x2000006A
.word 0x40000000, 0x100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40000000
nop
flash_end:
.section .data, "aw"
.word got, flash_end
got: .word 0x20000004
end_of_data:
"""
_LINK = (
    "SECTIONS { .flash 0x20000000 : { *(.flash) } .data 0x40000000 : { *(.data) } .params 0x80000000 : { *(.params) } }"
)
_MAP = b""" .text.main    0x0000000034000500       0x4c build/main.o
 .text.a_long_name
                0x0000000034000600       0x10 build/a.a(b.o)
"""


@cache
def compiled(text: str, suffix: str, *flags: str) -> bytes:
    with TemporaryDirectory() as folder:
        (Path(folder) / "link.ld").write_text(_LINK)
        source = Path(folder) / f"a.{suffix}"
        source.write_text(text)
        command = [compiler(), "-mcpu=cortex-m55", "-mthumb", "-nostdlib", "-w", *flags, source.name, "-o", "a.elf"]
        subprocess.run(command, cwd=folder, check=True)
        return (Path(folder) / "a.elf").read_bytes()


def _program() -> list[bytes]:
    return [compiled(_PROGRAM, "c", "-g", "-Ttext=0x34000400", "-Wl,-e,main"), elf((APPLI, program(APPLI)))]


def _bare() -> list[bytes]:
    return [compiled(_PROGRAM, "c", "-Ttext=0x34000400", "-Wl,-e,main"), elf((APPLI, program(APPLI)))]


def _linked() -> list[bytes]:
    return [compiled(_LINKED, "s", "-Wl,--emit-relocs,-T,link.ld")]


def _elf(path: Path) -> None:
    payload_of(path)
    loaded_parts(path, _MOST, _MOST)
    allocated_sections(path)
    symbols_of(path)
    labels_of(path)
    bytes_at(path, APPLI, 8)


def _places(path: Path) -> None:
    declared = Declarations(path)
    declared.place("frames", APPLI)
    declared.arrays_of("int")
    Places([path]).of(APPLI)


def _foreign(data: bytes, folder: Path) -> None:
    path = folder / "theirs.x"
    path.write_bytes(data)
    started_program(path, "appli", program_board(BOARD), copied_by_ours=False)
    flash_pieces(path, "appli", program_board(BOARD), None, copied_by_ours=False)


def _map(path: Path) -> None:
    object_at(read_linker_map(path), APPLI)


PROGRAMS = (
    Target("ELF", _bare, of_file("a.elf", _elf)),
    Target("ELF, debug information", _program, of_file("b.elf", _places)),
    Target("ELF of a relocatable model", _linked, of_file("network_rel.elf", read_linked_model)),
    Target(
        "Intel hex",
        lambda: [hex_of((0x70000000, program(APPLI)))],
        of_file("a.hex", lambda path: read_intel_hex(path, _MOST)),
    ),
    Target("somebody's program", lambda: [elf((APPLI, program(APPLI))), hex_of((0x70000000, b"data"))], _foreign),
    Target("linker map", lambda: [_MAP], of_file("a.map", _map)),
    Target("linker script", lambda: [SCRIPT.encode()], of_file("a.ld", lambda path: read_memory_regions(path, "a.ld"))),
    Target(
        "boot header",
        lambda: [
            with_boot_header(
                struct.pack("<II", 0x34200000, APPLI + 9) + bytes(64),
                APPLI,
                BinaryType.SSBL,
                BOARD.soc.boot.payload_offset,
            )
        ],
        lambda data, _: check_foreign_header(data, "a", BOARD.soc.boot.payload_offset),
    ),
    Target(
        "image of MCUboot",
        lambda: [
            mcuboot_image(bytes(range(48)), APPLI, 64, "1.2.3+4", counter, key)
            for counter, key in ((0, None), (5, SigningKey(bytes(91), lambda data: bytes(70))))
        ],
        lambda data, _: read_mcuboot_image(data, "a.bin"),
    ),
    Target("Haar cascade", lambda: [OLDER.encode(), NEWER.encode()], lambda data, _: haar_cascade(data, 0, "a.xml")),
    Target(
        "firmware image of OpenMV",
        lambda: [b"\0OpenMV v5.0.0-1-gabcdef; MicroPython v1"],
        lambda data, _: image_firmware(data, "a.bin"),
    ),
)
