"""An FSBL that waits for a release (firmware/recovery), compiled for the host.

The power of its flash can go in the middle of any write.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from firmware_build import headers
from n6build.base.paths import FIRMWARE
from n6build.board.flash.sectors import sectors_of
from n6build.board.run.link import Link
from n6build.board.run.recovery import Release
from n6build.describe.formats.boot_header import BASE as HEADER
from n6build.describe.formats.boot_header import HEADER_BYTES, MAGIC, BinaryType
from n6build.describe.formats.recovery import SECTOR_BYTES
from n6build.describe.hardware.board import Board, Slot
from n6build.describe.hardware.board_header import recovery_defines
from n6build.describe.hardware.boards import load_board
from n6build.place.image.boot_header import with_boot_header

BASE = 0x70000000
NOR_BYTES = 0x20000
SECTOR = 0x4000
FSBL, APPLI, OTHER = Slot(BASE, SECTOR), Slot(BASE + SECTOR, 2 * SECTOR), Slot(BASE + 3 * SECTOR, SECTOR)
MODEL = BASE + 4 * SECTOR
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SOURCES = ("recovery/n6_recovery.c", "bring_up/n6_frame.c", "bring_up/n6_crc32.c")
_POWER, _HELD, _WORN = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def small_board() -> Board:
    """Return a board with a small NOR, and without a pin."""
    board = load_board("nucleo-n657")
    slots = replace(board.slots, fsbl=FSBL, appli=APPLI)
    return replace(board, slots=slots, recovery=None, nor=replace(board.nor, size=NOR_BYTES, sector=SECTOR))


def compile_recovery(folder: Path, main: Path, *more: str) -> Path:
    """Compile the FSBL's recovery for this computer, with a program around it."""
    board = small_board()
    include = headers(folder / "include", board)
    program = folder / main.stem
    places = [include, *(FIRMWARE / name for name in ("recovery", "trial", "bring_up"))]
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-int-to-pointer-cast", *SANITIZERS, *more]
    defines = [f"-D{each}" for each in recovery_defines(board)]
    command = ["gcc", *flags, *defines, *(f"-I{each}" for each in places), "-o", str(program), str(main)]
    subprocess.run([*command, *(str(FIRMWARE / each) for each in SOURCES)], check=True)
    return program


def release(number: int, model_bytes: int = 6000) -> Release:
    """Return a release of an Appli and a model; each number gives other ones."""
    program = struct.pack("<II", 0x34001000, 0x34000409) + bytes((number + each) % 251 for each in range(9000))
    image = with_boot_header(program, 0x34000400, BinaryType.SSBL, HEADER_BYTES + 0x1C0)
    model = bytes((number * 7 + each) % 256 for each in range(model_bytes))
    return Release(tuple(sectors_of([(APPLI.address, image), (MODEL, model)], SECTOR)), APPLI.address, (OTHER.address,))


@dataclass
class RecoveryBoard:
    """A board, and the line to it as a `Stream`.

    Attributes:
        to_it: Pipe to the program.
        from_it: Pipe from the program.
        nor: File with the content of its flash.
        spoil: Function that damages the bytes of the line, in both directions.
        requests: Number of writes of the host.
        time_s: Time in seconds, which passes while the host listens.
    """

    to_it: IO[bytes]
    from_it: IO[bytes]
    nor: Path
    spoil: Callable[[bytes], bytes] = lambda data: data
    requests: int = 0
    to_host: bytearray = field(default_factory=bytearray)
    time_s: float = 0.0

    @property
    def in_waiting(self) -> int:
        return len(self.to_host)

    def read(self, size: int = 1) -> bytes:
        self.time_s += 0.01
        data = bytes(self.to_host[:size])
        del self.to_host[:size]
        return data

    def write(self, data: bytes) -> int:
        self.requests += 1
        spoiled = self.spoil(data)
        self._send(struct.pack("<I", len(spoiled)) + spoiled)
        (size,) = struct.unpack("<I", self.from_it.read(4))
        self.to_host += self.spoil(self.from_it.read(size))
        return len(data)

    def switch_on(self, cut: int = 0, seed: int = 0) -> None:
        """Switch it on; the power goes in the middle of the write of this number, from 1.

        With a seed, random bits of that write are done.
        """
        self.to_host.clear()
        self._send(struct.pack("<III", _POWER, cut, seed))

    def hold(self, is_held: bool) -> None:
        """Choose the reason why it waits, while it has no power."""
        self._send(struct.pack("<II", _HELD, is_held))

    def wear(self, address: int) -> None:
        """Make erases of one sector succeed without effect; 0 for no sector.

        The board has no power meanwhile.
        """
        self._send(struct.pack("<II", _WORN, address))

    def link(self) -> Link:
        """Return a connection to it."""
        return Link(self, lambda _: None, answer_s=0.02, window=1, now=lambda: self.time_s * 100)

    def _send(self, data: bytes) -> None:
        self.to_it.write(data)
        self.to_it.flush()

    def put(self, content: bytes) -> None:
        """Give its flash a content."""
        with self.nor.open("r+b") as file:
            file.write(content)

    def content(self) -> bytes:
        return self.nor.read_bytes()

    def holds(self, wanted: Release) -> bool:
        """Return True if the flash holds all of a release, and nothing else can start."""
        content = self.content()
        places = ((each.address - BASE, each.data) for each in wanted.sectors)
        empty = (content[each - BASE :][:SECTOR_BYTES] for each in wanted.erased)
        return all(content[at : at + len(data)] == data for at, data in places) and not any(
            each.strip(b"\xff") for each in empty
        )

    def may_start(self, slot: Slot) -> bool:
        """Return True if the FSBL would start an unsigned Appli from this slot."""
        return self._is_valid(self.content()[slot.address - BASE :][: slot.size])

    @staticmethod
    def _is_valid(slot: bytes) -> bool:
        header = HEADER.unpack(slot)
        payload = slot[HEADER_BYTES:][: header["image_bytes"]]
        return slot.startswith(MAGIC) and sum(payload) == header["checksum"]


@contextmanager
def recovery_board(folder: Path) -> Iterator[RecoveryBoard]:
    """Compile the board in this folder, and run it until the block ends.

    Its flash is erased, and it is off.
    """
    nor = folder / "nor.bin"
    nor.write_bytes(b"\xff" * NOR_BYTES)
    program = compile_recovery(folder, Path(__file__).with_name("host_recovery.c"))
    with subprocess.Popen([program, nor], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield RecoveryBoard(process.stdin, process.stdout, nor)
