"""Third-party programs and data: from a file of any format to pieces in flash.

The content of a file decides its format: a signed image (header STM2), an ELF file, an Intel hex file,
an image of MCUboot, or the bytes of a program that begin with its vector table. A signed image goes into
flash unchanged. A program without a header gets one of n6build, unless it is already at its place in flash.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most, read_part
from n6build.base.intel_hex import ERASED, read_intel_hex
from n6build.describe.formats.boot_header import BASE, MAGIC, VECTOR_BYTES, BinaryType
from n6build.place.image.boot_header import check_foreign_header, with_boot_header
from n6build.place.image.elf_reader import joined_parts, loaded_parts
from n6build.place.image.mcuboot import MAGIC as MCUBOOT
from n6build.place.image.mcuboot import read_mcuboot_image
from n6build.place.image.program_board import ProgramBoard
from n6build.place.trust.encryption import is_encrypted

Role = Literal["fsbl", "appli", "data"]

_ELF = b"\x7fELF"
# The limit includes debug information.
MAX_ELF_BYTES = 512 << 20
_ELF_SUFFIXES = (".elf", ".axf", ".out")
_SIGNED = ("-trusted", "_trusted", "-signed", "_signed", "-sign", "_sign")
_TITLES = {"fsbl": "FSBL", "appli": "Appli"}


@dataclass(frozen=True)
class Piece:
    """Bytes in flash, at an address in the memory-mapped window."""

    address: int
    data: bytes

    @property
    def end(self) -> int:
        """Return the first address after the piece."""
        return self.address + len(self.data)


@dataclass(frozen=True)
class StartedProgram:
    """A program that the boot ROM or an FSBL starts.

    Attributes:
        address: Address of its vector table at run time; None if it is unknown.
        bytes: Bytes that are loaded.
        stack: First vector, the initial stack pointer.
        reset: Second vector, the reset handler.
        vectors: Vectors of the chip's vector table, fewer if the program ends before.
    """

    address: int | None
    bytes: int
    stack: int
    reset: int
    vectors: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Program:
    """A program without a header, with the address where it runs."""

    address: int
    data: bytes


def flash_pieces(
    path: Path, role: Role, board: ProgramBoard, address: int | None, *, copied_by_ours: bool
) -> list[Piece]:
    """Return the pieces of a file that go into flash, in ascending order.

    Each piece begins on a sector, and no two pieces share one.

    Args:
        path: File in any supported format.
        role: Role of the file.
        board: Board facts for third-party programs.
        address: Address of data in a format without addresses.
        copied_by_ours: This project's FSBL starts the Appli. It copies the Appli to one fixed place.

    Raises:
        N6Error: N6-FOREIGN-001 to N6-FOREIGN-006, N6-MCUBOOT-002 or -003, N6-HEX-001, N6-FILE-003 or
            N6-IMAGE-001 to N6-IMAGE-004 if the file is invalid or does not fit the board.
    """
    found = _pieces(path, role, board, address, copied_by_ours=copied_by_ours)
    nor = board.flash.nor
    for piece in found:
        if piece.address < nor.base or piece.end > nor.end:
            what = f"has {len(piece.data)} bytes for 0x{piece.address:08X}, outside the NOR"
            hint = f"use addresses of the NOR, 0x{nor.base:08X} to 0x{nor.end:08X}"
            raise N6Error("N6-FOREIGN-001", what, where=path.name, hint=hint)
    return _in_sectors(found, nor.sector, path.name)


def started_program(path: Path, role: Role, board: ProgramBoard, *, copied_by_ours: bool) -> StartedProgram | None:
    """Return the program in a file for `flash_pieces`, without its header.

    The result is None if the file only has other contents for flash.

    Raises:
        N6Error: The errors of `flash_pieces`.
    """
    offset = board.programs.fsbl.payload_offset if role == "fsbl" else board.programs.appli.payload_offset
    for piece in flash_pieces(path, role, board, None, copied_by_ours=copied_by_ours):
        data = piece.data[offset:]
        if piece.address == _slot(board, role) and piece.data.startswith(MAGIC) and len(data) >= VECTOR_BYTES:
            stack, reset = struct.unpack_from("<II", data)
            places = run_addresses(board, role)
            known = places if role == "appli" and not copied_by_ours else places[:1]
            address = next((each for each in known if each <= reset < each + len(data)), None)
            if address is None and len(known) == 1:
                address = known[0]
            count = min(len(data) // 4, board.vectors)
            return StartedProgram(address, len(data), stack, reset, struct.unpack_from(f"<{count}I", data))
    return None


def elf_of(file: Path) -> Path | None:
    """Return the ELF file of a program for source lines, or None.

    It is the file itself, or one beside it with the same name, as a build writes it. That name may lack
    the suffix of signing. The file itself may be linked later.
    """
    if file.suffix in _ELF_SUFFIXES:
        # Return the file even if it does not exist yet: the host project's build may make it later.
        return file
    stem = file.stem
    for ending in _SIGNED:
        stem = stem.removesuffix(ending)
    beside = [file.with_name(f"{name}.elf") for name in dict.fromkeys((file.stem, stem))]
    return next((path for path in beside if is_file(path)), None)


def _pieces(path: Path, role: Role, board: ProgramBoard, address: int | None, *, copied_by_ours: bool) -> list[Piece]:
    head = read_part(path, 0, 64)
    if is_elf(head):
        if role == "data":
            hint = "convert it with objcopy -O binary or -O ihex"
            raise N6Error("N6-FOREIGN-002", "is an ELF file, not data for flash", where=path.name, hint=hint)
        loaded = [Piece(*part) for part in loaded_parts(path, MAX_ELF_BYTES, board.flash.nor.size)]
        return _placed(path, role, board, loaded, copied_by_ours=copied_by_ours)
    if is_hex(head):
        memory = read_intel_hex(path, board.flash.nor.size)
        parts = [Piece(span.address, b"".join(memory.chunks(span.address, span.end))) for span in memory.spans()]
        if not parts:
            raise N6Error("N6-FOREIGN-002", "is an empty Intel hex file", where=path.name)
        return parts if role == "data" else _placed(path, role, board, parts, copied_by_ours=copied_by_ours)
    data = read_at_most(path, board.flash.nor.size)
    if role == "data":
        if address is None:
            hint = f"data={path.name}@0x{board.flash.slots.weights.address:08X}"
            raise N6Error("N6-FOREIGN-003", "has no address in flash", where=path.name, hint=hint)
        return [Piece(address, data)] if data else []
    if data.startswith(MAGIC):
        return [Piece(_slot(board, role), _signed(path, role, board, data, copied_by_ours=copied_by_ours))]
    program = _of_mcuboot(path, role, board, data) if data.startswith(MCUBOOT) else _bare(path, role, board, data)
    return _with_header(path, role, board, program, copied_by_ours=copied_by_ours)


def _of_mcuboot(path: Path, role: Role, board: ProgramBoard, data: bytes) -> _Program:
    """Return the program in an image of MCUboot, without its records."""
    image = read_mcuboot_image(data, path.name)
    if image.address is None:
        return _bare(path, role, board, image.program)
    return _Program(image.address, image.program)


def is_elf(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is an ELF file."""
    return head.startswith(_ELF)


def is_hex(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is an Intel hex file."""
    line = head.lstrip().split(b"\n")[0].rstrip()
    return line.startswith(b":") and line[1:].isalnum()


def _slot(board: ProgramBoard, role: Role) -> int:
    return dict(board.flash.slots.items())[role].address


def _signed(path: Path, role: Role, board: ProgramBoard, data: bytes, *, copied_by_ours: bool) -> bytes:
    programs = board.programs
    offset = (programs.fsbl if role == "fsbl" else programs.appli).payload_offset
    check_foreign_header(data, path.name, offset)
    if role == "appli" and copied_by_ours:
        if is_encrypted(data):
            what = "is an encrypted Appli, which the FSBL of this build does not decrypt"
            raise N6Error("N6-TRUST-014", what, where=path.name, hint="pass the ELF file of its program")
        _check_copied(path, board, BASE.unpack(data)["entry"])
    return data


def _check_copied(path: Path, board: ProgramBoard, runs_at: int) -> None:
    load = board.programs.appli
    if not load.image <= runs_at < load.image + load.max_bytes:
        what = f"runs at 0x{runs_at & ~1:08X}, but the FSBL of this project copies an Appli to 0x{load.image:08X}"
        hint = "pass fsbl=FILE with an FSBL that starts it there: in place, or copied to PSRAM"
        raise N6Error("N6-FOREIGN-004", what, where=path.name, hint=hint)


def _bare(path: Path, role: Role, board: ProgramBoard, data: bytes) -> _Program:
    """Return a program without addresses; its reset vector shows where it runs."""
    if len(data) < VECTOR_BYTES:
        raise N6Error("N6-FOREIGN-002", f"{len(data)} bytes are too few for a vector table", where=path.name)
    (entry,) = struct.unpack_from("<I", data, 4)
    places = run_addresses(board, role)
    for address in places:
        if address <= entry < address + len(data):
            return _Program(address, data)
    what = (
        f"has neither a boot header nor the vector table of an {_TITLES[role]} at its start: its second word is "
        f"0x{entry:08X}"
    )
    known = ", ".join(f"0x{address:08X}" for address in places)
    hint = f"pass the ELF or hex file, which has the run address; a bare image must run at one of {known}"
    raise N6Error("N6-FOREIGN-002", what, where=path.name, hint=hint)


def run_addresses(board: ProgramBoard, role: Role) -> list[int]:
    """Return the possible run addresses of a program without addresses.

    An Appli is loaded, in place, or in external RAM.
    """
    boot, load = board.programs.fsbl, board.programs.appli
    if role == "fsbl":
        return [boot.address]
    places = [load.image, board.flash.slots.appli.address]
    if board.external_ram is not None:
        places.append(board.external_ram)
    return [place + load.payload_offset for place in places]


def _placed(path: Path, role: Role, board: ProgramBoard, parts: list[Piece], *, copied_by_ours: bool) -> list[Piece]:
    """Return the pieces of a file with addresses.

    Pieces for flash stay unchanged. The rest is a program that must be loaded.
    """
    nor = board.flash.nor
    in_flash = [part for part in parts if nor.base <= part.address < nor.end]
    loaded = [part for part in parts if part not in in_flash]
    if loaded:
        return [
            *_with_header(path, role, board, _joined(path, loaded, board), copied_by_ours=copied_by_ours),
            *in_flash,
        ]
    slot = _slot(board, role)
    offset = board.programs.appli.payload_offset
    if role == "appli" and min(part.address for part in in_flash) == slot + offset:
        # The program is linked to run in place after a header, which the file lacks.
        program = _joined(path, in_flash, board)
        return _with_header(path, role, board, program, copied_by_ours=copied_by_ours)
    at_slot = next((part for part in in_flash if part.address == slot), None)
    if at_slot is None and role == "fsbl":
        what = f"has no content for 0x{slot:08X}, where the boot ROM expects an FSBL"
        raise N6Error(
            "N6-FOREIGN-005",
            what,
            where=path.name,
            hint=f"link the FSBL to that address; its lowest address is 0x{in_flash[0].address:08X}",
        )
    if at_slot and at_slot.data.startswith(MAGIC):
        _signed(path, role, board, at_slot.data, copied_by_ours=copied_by_ours)
    elif role == "appli" and copied_by_ours:
        _check_copied(path, board, (at_slot or in_flash[0]).address)
    return in_flash


def _joined(path: Path, parts: list[Piece], board: ProgramBoard) -> _Program:
    """Join the parts to a program, if they are near enough."""
    start, end = min(part.address for part in parts), max(part.end for part in parts)
    if end - start > board.flash.nor.size:
        what = f"has content from 0x{start:08X} to 0x{end:08X}, too far apart for a single image in flash"
        raise N6Error(
            "N6-FOREIGN-006",
            what,
            where=path.name,
            hint="set the load address of initialised data (AT> in the linker script) inside the program",
        )
    return _Program(start, joined_parts([(part.address, part.data) for part in parts]))


def _with_header(
    path: Path, role: Role, board: ProgramBoard, program: _Program, *, copied_by_ours: bool
) -> list[Piece]:
    boot, load, slot = board.programs.fsbl, board.programs.appli, _slot(board, role)
    if role == "fsbl":
        wanted = boot.address
        if program.address != wanted:
            what = f"begins at 0x{program.address:08X}, but the boot ROM starts an FSBL at 0x{wanted:08X}"
            raise N6Error(
                "N6-FOREIGN-005",
                what,
                where=path.name,
                hint="link it to that address, or pass an Appli with appli=FILE",
            )
        kind, offset = BinaryType.FSBL, boot.payload_offset
    else:
        if copied_by_ours:
            _check_copied(path, board, program.address)
        kind, offset = BinaryType.SSBL, load.payload_offset
    return [Piece(slot, with_boot_header(program.data, program.address, kind, offset, path.name))]


def _in_sectors(pieces: list[Piece], sector: int, where: str) -> list[Piece]:
    """Return the pieces extended to their sectors and joined if they share one.

    Bytes without content are erased.
    """
    made: list[Piece] = []
    for piece in sorted(pieces, key=lambda each: each.address):
        start = piece.address - piece.address % sector
        before = made.pop() if made and made[-1].end > start else Piece(start, b"")
        if before.end > piece.address:
            what = f"has two different contents for 0x{piece.address:08X}"
            raise N6Error(
                "N6-FOREIGN-006",
                what,
                where=where,
                hint="correct the link address of one part: one is a program linked into flash",
            )
        filled = before.data.ljust(piece.address - before.address, bytes([ERASED]))
        made.append(Piece(before.address, filled + piece.data))
    return made
