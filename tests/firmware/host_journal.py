"""The journal of trials and its rules, compiled for the host.

The power of its flash can go at any byte.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from n6build.base.paths import FIRMWARE

ENTRIES, RECORD_BYTES = 20, 256
UNKNOWN, TRYING, CONFIRMED, FAILED = range(4)
WORKS, BEGINS, HAS_FAILED, GIVEN_UP, NO_ROOM = range(5)
ERASED = 0xFF
RECORDS = 2
COPY_BYTES = RECORDS * RECORD_BYTES


class Entry(ctypes.Structure):
    _fields_ = [
        ("subject", ctypes.c_uint32),
        ("image", ctypes.c_uint32),
        ("state", ctypes.c_uint16),
        ("starts", ctypes.c_uint16),
    ]


class Record(ctypes.Structure):
    _fields_ = [
        ("magic", ctypes.c_uint32),
        ("sequence", ctypes.c_uint32),
        ("entries", Entry * ENTRIES),
        ("reserved", ctypes.c_uint32),
        ("crc32", ctypes.c_uint32),
    ]


_ERASE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint32)
_PROGRAM = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)


class _Flash(ctypes.Structure):
    _fields_ = [
        ("content", ctypes.c_void_p),
        ("copy_bytes", ctypes.c_uint32),
        ("records", ctypes.c_uint32),
        ("erase", _ERASE),
        ("program", _PROGRAM),
    ]


@dataclass
class Power:
    """The power supply of the flash.

    Attributes:
        left: Bytes that the flash still erases or programs before the power goes; None if it stays.
        backwards: An erase begins with the last byte.
        used: Bytes erased or programmed so far.
        is_off: The power has gone.
    """

    left: int | None = None
    backwards: bool = False
    used: int = 0
    is_off: bool = False


class Journal:
    """A journal on a flash of this process.

    Attributes:
        library: The result of `build`.
        content: Bytes of both copies.
        torn: Function that returns the byte in which the power goes, from its old and wanted value.
    """

    def __init__(self, library: ctypes.CDLL, torn: Callable[[int, int], int] = lambda old, _: old) -> None:
        self.library = library
        self.content = (ctypes.c_uint8 * (2 * COPY_BYTES))(*[ERASED] * (2 * COPY_BYTES))
        self.power = Power()
        self.torn = torn
        self._functions = (_ERASE(self._erase), _PROGRAM(self._program))
        self._flash = _Flash(ctypes.addressof(self.content), COPY_BYTES, RECORDS, *self._functions)

    def _put(self, position: int, value: int) -> bool:
        power = self.power
        if power.is_off:
            return False
        if power.left == power.used:
            power.is_off = True
            value = self.torn(self.content[position], value)
        power.used += 1
        self.content[position] = value
        return not power.is_off

    def _erase(self, offset: int) -> bool:
        places = range(offset, offset + COPY_BYTES)
        return all(self._put(place, ERASED) for place in (reversed(places) if self.power.backwards else places))

    def _program(self, offset: int, data: int, size: int) -> bool:
        wanted = ctypes.string_at(data, size)
        assert offset % RECORD_BYTES == 0
        assert size == RECORD_BYTES
        return all(self._put(offset + i, self.content[offset + i] & byte) for i, byte in enumerate(wanted))

    def read(self) -> Record:
        record = Record()
        self.library.n6_journal_read(ctypes.byref(self._flash), ctypes.byref(record))
        return record

    def write(self, record: Record) -> bool:
        return bool(self.library.n6_journal_write(ctypes.byref(self._flash), ctypes.byref(record)))

    def judge(self, record: Record, subject: int, image: int, starts: int) -> int:
        return int(self.library.n6_trial_judge(ctypes.byref(record), subject, image, starts))

    def keep(self, record: Record, subject: int, images: list[int]) -> None:
        words = (ctypes.c_uint32 * len(images))(*images)
        self.library.n6_trial_keep_images(ctypes.byref(record), subject, words, len(images))


def states(record: Record) -> dict[tuple[int, int], tuple[int, int]]:
    """Return (subject, image) -> (state, starts)."""
    return {(each.subject, each.image): (each.state, each.starts) for each in record.entries if each.state != UNKNOWN}


def build(folder: Path) -> ctypes.CDLL:
    """Compile the journal; undefined behaviour ends the process."""
    library = folder / "libtrial.so"
    sources = [
        FIRMWARE / "trial" / "n6_journal.c",
        FIRMWARE / "trial" / "n6_trial_rules.c",
        FIRMWARE / "bring_up" / "n6_crc32.c",
    ]
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
    command = ["cc", *flags, f"-I{FIRMWARE / 'bring_up'}", "-fPIC", "-shared", "-o", str(library), *map(str, sources)]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.n6_journal_write.restype = ctypes.c_bool
    return loaded
