"""The FSBL's choice between two Applis (firmware/trial), compiled for the host.

The power of its flash can go at any byte.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from firmware_build import headers
from n6build.base.paths import FIRMWARE
from n6build.board.flash.appli_update import AppliUpdate, plan_appli
from n6build.board.flash.sectors import sectors_of
from n6build.board.flash.trial_journal import APPLI, MAGIC, RECORD, Entry, read_journal
from n6build.describe.formats.boot_header import HEADER_BYTES, BinaryType
from n6build.describe.hardware.board import Board, Slot, Trial
from n6build.describe.hardware.boards import load_board
from n6build.place.image.boot_header import with_boot_header
from n6build.steps.firmware import trial_defines

SECTOR = 4096
STARTS = 3
POWERED = 0xFFFF_FFFF
NONE, OFF = 0, 1
# Causes of the last reset.
BY_WATCHDOG, BY_PROGRAM = 1, 2
_BASE = 0x70000000
A, B = Slot(_BASE + 0x10000, 2 * SECTOR), Slot(_BASE + 0x20000, 2 * SECTOR)
JOURNAL = Slot(_BASE + 0x30000, 2 * SECTOR)
TRIAL = Trial(JOURNAL, STARTS, 1000, B)
# The Appli runs behind all that is flash.
_RUNS_AT = _BASE + 0x800000
_USED_BYTES = 0x40000


def small_board() -> Board:
    """Return a board with small slots and sectors.

    Its Appli runs at an address that this host can map.
    """
    board = load_board("nucleo-n657")
    runs = replace(board.soc.load_and_run, load_address=_RUNS_AT)
    return replace(
        board,
        soc=replace(board.soc, load_and_run=runs),
        slots=replace(board.slots, appli=A),
        nor=replace(board.nor, sector=SECTOR),
        trial=TRIAL,
    )


def appli(number: int, size: int = 5000) -> bytes:
    """Return an image; each number gives another one.

    Args:
        size: Bytes of the program; with the trailer, the image has two sectors.
    """
    offset = HEADER_BYTES + 0x1C0
    program = struct.pack("<II", 0x34001000, 0x34000409) + number.to_bytes(4, "little") + bytes(size - 12)
    return with_boot_header(program, 0x34000400, BinaryType.SSBL, offset)


def record_of(sequence: int, entries: bytes) -> bytes:
    """Return a record of the journal."""
    head = RECORD.pack(magic=MAGIC, sequence=sequence, entries=entries)[:-4]
    return head + zlib.crc32(head).to_bytes(4, "little")


@dataclass(frozen=True)
class HostBoard:
    """A board whose flash is mapped into this process."""

    library: ctypes.CDLL

    @cached_property
    def flash(self) -> ctypes.Array[ctypes.c_uint8]:
        return (ctypes.c_uint8 * _USED_BYTES).from_address(_BASE)

    def erase_all(self) -> None:
        ctypes.memset(self.flash, 0xFF, _USED_BYTES)

    def content(self) -> bytes:
        return bytes(self.flash)

    def restore(self, content: bytes) -> None:
        ctypes.memmove(self.flash, content, len(content))

    def read(self, address: int, size: int) -> bytes:
        return ctypes.string_at(address, size)

    def write(self, address: int, data: bytes) -> None:
        assert _BASE <= address <= _BASE + _USED_BYTES - len(data)
        ctypes.memmove(address, data, len(data))

    def boot(self, power: int = POWERED) -> int:
        """Return the address of the started slot, NONE, or OFF."""
        return int(self.library.host_boot(ctypes.c_uint32(power)))

    def confirm(self, power: int = POWERED) -> bool:
        return bool(self.library.host_confirm(ctypes.c_uint32(power)))

    def used(self) -> int:
        """Return the bytes erased or programmed since the last `boot` or `confirm` began."""
        return int(self.library.host_used())

    def said(self) -> str:
        return str(self.library.host_said().decode())

    def watched(self) -> bool:
        """Return True if the watchdog was started since the last `boot` began."""
        return bool(self.library.host_watched())

    def reset_by(self, cause: int) -> None:
        """Set the cause of the reset before the next boots; 0 for the power."""
        self.library.host_reset_by(ctypes.c_uint32(cause))

    def protect(self, is_protected: bool) -> None:
        """Make the flash refuse all erases and programs, or accept them again."""
        self.library.host_protect(ctypes.c_bool(is_protected))

    def wear(self, address: int) -> None:
        """Make erases of one sector report success without effect; 0 for no sector."""
        self.library.host_wear(ctypes.c_uint32(address))

    def plan(self, image: bytes) -> AppliUpdate:
        return plan_appli(image, (A, B), TRIAL, self.read, "appli_image.bin")

    def sectors(self, update: AppliUpdate) -> list[tuple[int, bytes]]:
        return [(each.address, each.data) for each in sectors_of([(update.address, update.stored)], SECTOR)]

    def program(self, update: AppliUpdate) -> None:
        for address, data in self.sectors(update):
            self.write(address, data)

    def remembered(self) -> list[Entry]:
        """Return the journal's entries of Applis."""
        return [each for each in read_journal(JOURNAL, self.read) if each.subject == APPLI]

    def ends_with(self) -> int:
        """Return the slot that is finally started if nothing confirms, or NONE."""
        return [self.boot() for _ in range(2 * STARTS + 2)][-1]


@contextmanager
def host_board(folder: Path) -> Iterator[HostBoard]:
    """Build the library, map its flash, and yield the board.

    Undefined behaviour ends the process. The flash is unmapped at the end, because a process may
    use several boards, one after another.
    """
    include = headers(folder / "include", small_board())
    library = folder / "libfsbl.so"
    trial = FIRMWARE / "trial"
    sources = [
        Path(__file__).with_name("host_fsbl.c"),
        *(trial / f"{name}.c" for name in ("n6_trial", "n6_trial_rules", "n6_journal", "fsbl/n6_trial_appli")),
        FIRMWARE / "bring_up" / "n6_crc32.c",
    ]
    places = [include, trial, trial / "fsbl", FIRMWARE / "bring_up", FIRMWARE / "fsbl"]
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
    # Addresses of 32 bits are pointers here, too.
    flags += ["-Wno-int-to-pointer-cast", *(f"-D{each}" for each in trial_defines(TRIAL))]
    command = ["cc", *flags, *(f"-I{each}" for each in places), "-fPIC", "-shared", "-o", str(library)]
    subprocess.run([*command, *map(str, sources)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.host_boot.restype = loaded.host_used.restype = ctypes.c_uint32
    loaded.host_open.restype = loaded.host_close.restype = loaded.host_confirm.restype = ctypes.c_bool
    loaded.host_watched.restype = ctypes.c_bool
    loaded.host_said.restype = ctypes.c_char_p
    assert loaded.host_open()
    try:
        yield HostBoard(loaded)
    finally:
        assert loaded.host_close()
