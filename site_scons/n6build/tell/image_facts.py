"""Explanation of a program file: kind, starter, place, and faults.

A signed image, an ELF file, an Intel hex file and bare bytes are told apart by their content, as in
`place.image.foreign`. That module refuses what a board cannot start; this one describes it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, read_part
from n6build.base.intel_hex import read_intel_hex
from n6build.describe.formats.boot_header import (
    ACCEPTED_VERSIONS,
    BASE,
    HEADER_BYTES,
    MAGIC,
    STACK_ALIGNMENT,
    VECTOR_BYTES,
    VERSION_2_1,
    BinaryType,
)
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.program_places import places_of
from n6build.place.image.elf_reader import joined_parts, loaded_parts
from n6build.place.image.foreign import MAX_ELF_BYTES, is_elf, is_hex, run_addresses
from n6build.place.image.mcuboot import MAGIC as MCUBOOT
from n6build.place.image.mcuboot import read_mcuboot_image
from n6build.place.image.program_board import program_board
from n6build.place.image.rom_keys import signature_of
from n6build.place.trust.encryption import is_encrypted

_THUMB = 1
# Offset of the payload in an image that was signed with -align.
_ALIGNED = 0x400
# Bit 28 tells secure from non-secure addresses of one memory.
_SECURE = 0x1000_0000
_ANY_LOAD_ADDRESS = 0xFFFF_FFFF
# Programs by their starter: the boot ROM starts an FSBL, and an FSBL an Appli. Data is neither.
ProgramRole = Literal["fsbl", "appli", ""]
_TYPES = {int(BinaryType.FSBL): "FSBL", int(BinaryType.SSBL): "Appli"}


@dataclass(frozen=True)
class Doubt:
    """Something that looks wrong.

    Attributes:
        what: Description in one sentence.
        cure: Next thing to do.
    """

    what: str
    cure: str


@dataclass(frozen=True)
class Explained:
    """Facts of a file or of one of its parts.

    Attributes:
        title: Kind of the file or the part.
        facts: Names and texts, in the order to show them.
        doubts: Everything that looks wrong.
        role: The program's starter decides: the boot ROM's is an FSBL; empty if it is no program.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    doubts: tuple[Doubt, ...] = ()
    role: ProgramRole = ""


def explain_image(path: Path, board: Board) -> list[Explained]:
    """Explain each part of a file with a program.

    Args:
        path: File in any format.
        board: Board whose places the program is compared with.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003, N6-HEX-001 or N6-IMAGE-001 if the file cannot be read.
    """
    head = read_part(path, 0, 64)
    nor = board.nor
    if is_elf(head):
        parts = loaded_parts(path, MAX_ELF_BYTES, nor.size)
        start = parts[0][0]
        end = max(address + len(data) for address, data in parts)
        if end - start > nor.size:
            spread = (("content", f"0x{start:08X} to 0x{end:08X}"),)
            cure = "set the load address of initialised data (AT> in the linker script) inside the program"
            return [Explained("ELF file", spread, (Doubt("its parts are too far apart for an image in flash", cure),))]
        return [_without_header(joined_parts(parts), board, "ELF file", start)]
    if is_hex(head):
        memory = read_intel_hex(path, nor.size)
        return [
            _part(
                b"".join(memory.chunks(span.address, span.end)),
                board,
                f"hex file at 0x{span.address:08X}",
                span.address,
            )
            for span in memory.spans()
        ]
    return [_part(read_at_most(path, nor.size), board, "bytes", None)]


def _part(data: bytes, board: Board, title: str, address: int | None) -> Explained:
    if data.startswith(MAGIC):
        return _with_header(data, board, title, address)
    if data.startswith(MCUBOOT):
        return _of_mcuboot(data, board)
    return _without_header(data, board, title, address)


def _with_header(data: bytes, board: Board, title: str, address: int | None) -> Explained:
    title = f"{title}, with a boot header"
    if len(data) < HEADER_BYTES:
        what = f"its {len(data)} bytes end inside the boot header, which has {HEADER_BYTES}"
        return Explained(title, (), (Doubt(what, "copy or sign the file again"),))
    base = BASE.unpack(data)
    entry, version, kind = base["entry"], base["version"], base["binary_type"]
    signed = "signed with a key" if any(data[len(MAGIC) : BASE.offset_of("checksum")]) else "not signed with a key"
    facts = [
        ("header", f"version {version >> 16}.{version >> 8 & 0xFF}, {signed}"),
        ("type", f"{_TYPES.get(kind, 'unknown')} (0x{kind:02X})"),
        ("size", f"{base['image_bytes']:,} bytes behind the header"),
        ("entry", f"0x{entry:08X}"),
    ]
    of_rom = signature_of(data)
    if of_rom:
        facts.append(("boot ROM", f"key {of_rom.number} of {of_rom.keys}, version {base['image_version']}"))
        facts.append(("its keys", f"digest {of_rom.digest.hex(' ', 4)}"))
    if base["load_address"] != _ANY_LOAD_ADDRESS:
        facts.append(("load address", f"0x{base['load_address']:08X}"))
    hidden = is_encrypted(data)
    if hidden:
        facts.append(("encrypted", "with AES-256, by a key in the fuses of a board"))
    offset = 0 if hidden else _payload_offset(data, board)
    if of_rom and of_rom.fault:
        rejected = [Doubt(f"a closed chip rejects it: {of_rom.fault}", "sign it again: sign=n6build:FOLDER")]
    else:
        rejected = []
    doubts = [*_header_doubts(data, base), *rejected, *(() if hidden else _payload_doubts(data, entry, offset, board))]
    if offset:
        facts.append(("vectors", f"at 0x{offset:X} of the image"))
    facts += _starter(entry, _run_address(entry, len(data), board), board)
    doubts += _place_doubts(entry, HEADER_BYTES + base["image_bytes"], board)
    # Published Applis have either type, and so have FSBLs: the entry decides.
    role = _role(entry, board)
    if address is None:
        address = dict(board.slots.items())[role].address
    facts += _in_flash(address, len(data), board)
    return Explained(title, tuple(facts), tuple(doubts), role)


def _of_mcuboot(data: bytes, board: Board) -> Explained:
    title = "image of MCUboot"
    try:
        image = read_mcuboot_image(data, "it")
    except N6Error as error:
        return Explained(title, (), (Doubt(error.what, error.hint or "copy or sign the file again"),))
    inner = _without_header(image.program, board, title, image.address)
    signed = "a signature, which n6build does not verify" if image.is_signed else "no signature"
    counter = "" if image.counter is None else f", security counter {image.counter}"
    header = f"of MCUboot, version {image.version}{counter}, {signed}; n6build writes its own"
    facts = tuple((name, header if name == "header" else text) for name, text in inner.facts)
    return replace(inner, facts=facts)


def _role(entry: int, board: Board) -> Literal["fsbl", "appli"]:
    """Return the role of a program: the boot ROM copies an FSBL to its entry."""
    boot = places_of(board.soc).fsbl
    return "fsbl" if boot.image <= entry < boot.image + boot.max_bytes else "appli"


def _payload_doubts(data: bytes, entry: int, offset: int, board: Board) -> list[Doubt]:
    wanted = places_of(board.soc).fsbl.payload_offset
    if not offset:
        what = f"no vector table is behind the header, at 0x{_ALIGNED:X} or at 0x{HEADER_BYTES:X} of the image"
        return [Doubt(what, "make .vectors the first section in the linker script, and sign the program again")]
    doubts = _vector_doubts(data[offset:], board)
    (reset,) = struct.unpack_from("<I", data, offset + 4)
    if offset != wanted:
        what = f"its vector table is at 0x{offset:X} of the image, but the boot ROM starts one at 0x{wanted:X}"
        cure = "sign the program again with -align, which signing tool 2.21 and newer need"
        doubts.append(Doubt(what, cure))
    elif reset != entry:
        what = f"the header's entry is 0x{entry:08X}, but the reset vector is 0x{reset:08X}"
        doubts.append(Doubt(what, "sign the program again without option -ep"))
    return doubts


def _header_doubts(data: bytes, base: Mapping[str, Any]) -> Iterable[Doubt]:
    end = HEADER_BYTES + base["image_bytes"]
    if base["version"] not in ACCEPTED_VERSIONS:
        yield Doubt(f"its header has the unknown version 0x{base['version']:08X}", "sign the program with -hv 2.3")
    elif base["version"] == VERSION_2_1:
        yield Doubt("header version 2.1 belongs to earlier silicon", "sign the program with -hv 2.3")
    if base["image_bytes"] == 0:
        yield Doubt("the header announces no program", "sign the program again")
    elif end > len(data):
        missing = end - len(data)
        yield Doubt(f"the file ends {missing:,} bytes before the end that its header announces", "copy it again")
    elif (found := sum(data[HEADER_BYTES:end]) & 0xFFFF_FFFF) != base["checksum"]:
        what = f"the header has checksum 0x{base['checksum']:08X}, but its bytes add up to 0x{found:08X}"
        yield Doubt(what, "sign the program again: it was changed after it was signed")


def _without_header(data: bytes, board: Board, title: str, address: int | None) -> Explained:
    size = ("size", f"{len(data):,} bytes")
    in_flash = [] if address is None else _in_flash(address, len(data), board)
    if not _looks_like_vectors(data, board):
        if in_flash:
            return Explained(f"{title}, data", (size, *in_flash))
        first = data[:VECTOR_BYTES].hex(" ", 4) or "it is empty"
        what = f"it begins with neither a boot header nor a vector table: {first}"
        cure = "if it is data, program it with data=FILE@ADDRESS; if it is a program, pass its ELF file"
        return Explained(f"{title}, no program", (size,), (Doubt(what, cure),))
    stack, reset = struct.unpack_from("<II", data)
    run = address if address is not None else _run_address(reset, len(data), board)
    facts = (
        ("header", "none; n6build writes one"),
        size,
        ("entry", f"0x{reset:08X}"),
        ("stack", f"0x{stack:08X}"),
        *_starter(reset, run, board),
        *in_flash,
    )
    doubts = [*_vector_doubts(data, board), *_place_doubts(reset, len(data), board)]
    if run is not None and not run <= reset < run + len(data):
        what = f"the reset vector 0x{reset:08X} is outside the program, 0x{run:08X} to 0x{run + len(data):08X}"
        doubts.append(Doubt(what, "link the program to the address where it runs"))
    return Explained(f"{title}, a program", facts, tuple(doubts), _role(reset, board))


def _looks_like_vectors(data: bytes, board: Board) -> bool:
    """Return whether data begins with a stack pointer and a Thumb address."""
    if len(data) < VECTOR_BYTES:
        return False
    stack, reset = struct.unpack_from("<II", data)
    return _is_in_ram(stack, board) and bool(reset & _THUMB) and _memory_of(reset, board) != ""


def _memory_of(address: int, board: Board) -> str:
    """Return the name of the memory at an address of either kind, or nothing."""
    memories = board.soc.memories.items()
    both = ((name, memory) for name, memory in memories if memory.base <= address < memory.end)
    alias = ((name, memory) for name, memory in memories if memory.base <= address | _SECURE < memory.end)
    return next((name for name, _ in (*both, *alias)), "")


def _is_in_ram(stack: int, board: Board) -> bool:
    """Return whether an initial stack pointer is in RAM, or directly behind it."""
    name = _memory_of(stack - 1, board)
    return name != "" and name != _memory_of(board.nor.base, board)


def _payload_offset(data: bytes, board: Board) -> int:
    """Return the offset of the vector table behind a boot header; 0 if there is none.

    Signing tools put the payload directly behind the header, or at 0x400 with -align. The header's entry
    does not tell: without -align, tools of 2.21 and newer take the word at 0x404 for it.
    """
    found = [each for each in (_ALIGNED, HEADER_BYTES) if _looks_like_vectors(data[each:], board)]
    # The handlers of a vector table, repeated, look like one with an odd stack pointer.
    return next((each for each in found if not _vector_doubts(data[each:], board)), found[0] if found else 0)


def _run_address(entry: int, size: int, board: Board) -> int | None:
    """Return the run address: the place of a board that has the entry inside."""
    places = program_board(board)
    known = (*run_addresses(places, "fsbl"), *run_addresses(places, "appli"))
    return next((place for place in known if place <= entry < place + size), None)


def _starter(entry: int, run: int | None, board: Board) -> list[tuple[str, str]]:
    """Return where a program runs, and the program that starts it there."""
    boot, load = places_of(board.soc).fsbl, places_of(board.soc).appli
    memory = _memory_of(entry, board)
    at = f"0x{run:08X}" if run is not None else f"a place around 0x{entry & ~_THUMB:08X}"
    where = ("runs at", f"{at} ({memory or 'no memory of this chip'})")
    if boot.image <= entry < boot.image + boot.max_bytes:
        by = "the boot ROM"
    elif load.image <= entry < load.image + load.max_bytes:
        by = "n6build's FSBL, or another one that copies it to RAM (load and run)"
    elif board.nor.base <= entry < board.nor.base + board.nor.size:
        by = "an FSBL that starts it in place, in flash (fsbl=FILE)"
    elif memory:
        by = f"an FSBL that copies it to {memory} (fsbl=FILE)"
    else:
        by = "no FSBL: no memory is there"
    return [where, ("started by", by)]


def _vector_doubts(table: bytes, board: Board) -> list[Doubt]:
    stack, reset = struct.unpack_from("<II", table)
    doubts = []
    if not reset & _THUMB:
        cure = "make .vectors the first section in the linker script, and declare the handler as a function"
        doubts.append(Doubt(f"the reset vector 0x{reset:08X} has no Thumb bit", cure))
    if stack % STACK_ALIGNMENT:
        cure = f"align the top of the stack to {STACK_ALIGNMENT} bytes in the linker script"
        doubts.append(Doubt(f"the stack pointer 0x{stack:08X} is not a multiple of {STACK_ALIGNMENT}", cure))
    elif not _is_in_ram(stack, board):
        cure = "make .vectors the first section in the linker script"
        doubts.append(Doubt(f"the stack pointer 0x{stack:08X} is not in RAM", cure))
    return doubts


def _place_doubts(entry: int, size: int, board: Board) -> list[Doubt]:
    boot, load = places_of(board.soc).fsbl, places_of(board.soc).appli
    doubts = []
    for place, who in ((boot, "the boot ROM copies"), (load, "n6build's FSBL copies")):
        if place.image <= entry < place.image + place.max_bytes and size > place.max_bytes:
            what = f"it has {size - place.max_bytes:,} bytes more than {who}"
            doubts.append(Doubt(what, "make the program smaller, or start it in place (fsbl=FILE)"))
    return doubts


def _in_flash(address: int, size: int, board: Board) -> list[tuple[str, str]]:
    if not board.nor.base <= address < board.nor.base + board.nor.size:
        return []
    slots = board.slots.items()
    slot = next((name for name, each in slots if each.address <= address < each.end), "none")
    return [("in flash", f"0x{address:08X} to 0x{address + size:08X}, slot {slot}")]
