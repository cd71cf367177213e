"""NPU epochs, assembled by names of units, registers and fields.

They are computed by register writes or by a blob. A test gives the connections, the frames' places,
and the wanted memory. Every byte that it does not name must stay unchanged.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from virtual_board.npu.model import (
    BLOB,
    END,
    MEMORY_BYTES,
    Npu,
    assembled,
    label,
    offset_of,
    poll,
    unit,
    value_of,
    write_bits,
    write_many,
    write_word,
)

RUNNING = 31
FIRST_ADDRESS = 0x1000
MOST_VALUES = 2047  # The limit of one instruction.
_BEFORE = (np.arange(MEMORY_BYTES, dtype=np.int64) * 37 % 251).astype(np.uint8)


@dataclass(frozen=True)
class Frames:
    """The places of an engine's frames in memory, and their lanes.

    Lanes are the bytes of the stream's 24-bit elements to which bytes in memory belong. Steps are
    in bytes. A raw frame is a line of elements; another one has lines of pixels of `depth`
    elements.
    """

    address: int
    width: int
    height: int = 1
    depth: int = 1
    raw: bool = True
    pixel_step: int = 0
    line_step: int = 0
    count: int = 1
    step: int = 0
    repeat: int = 0
    repeat_step: int = 0
    lanes: tuple[int, ...] = (0,)

    @property
    def elements(self) -> int:
        return self.width * self.height * self.depth

    def starts(self) -> np.ndarray:
        frame = np.arange(self.count)
        if not self.repeat:
            return self.address + frame * self.step
        return self.address + frame % self.repeat * self.step + frame // self.repeat * self.repeat_step

    def addresses(self) -> np.ndarray:
        """Return each byte's address: frames x elements x bytes of an element."""
        size = len(self.lanes)
        if self.raw:
            inside = np.arange(self.elements) * size
        else:
            y, x, b = np.indices((self.height, self.width, self.depth))
            inside = (y * self.line_step + x * self.pixel_step + b * size).ravel()
        return self.starts()[:, None, None] + inside[None, :, None] + np.arange(size)


@dataclass(frozen=True)
class Contexts:
    """A port that takes or drops some frames of a source, then some others."""

    source: int
    first: tuple[int, bool]
    second: tuple[int, bool]

    def word(self) -> int:
        (before, take), (after, take_after) = self.first, self.second
        return take | self.source << 1 | before << 8 | take_after << 16 | self.source << 17 | after << 24

    def taken(self, frames: int) -> list[int]:
        """Return the frames that arrive, out of this number of frames of the source."""
        (before, take), (after, take_after) = self.first, self.second
        order = [take] * before + [take_after] * after
        return [frame for frame in range(frames) if order[frame % len(order)]]


def dropping(source: int, dropped: int, taken: int) -> Contexts:
    return Contexts(source, (dropped, False), (taken, True))


def taking(source: int, taken: int, dropped: int) -> Contexts:
    return Contexts(source, (taken, True), (dropped, False))


# The ports of the stream switch: outputs of units, then inputs.


def convacc(index: int) -> int:
    return 10 + index


def activ(index: int) -> int:
    return 16 + index


def arith(index: int) -> int:
    return 18 + index


def pool(index: int) -> int:
    return 22 + index


def features_of(index: int) -> int:
    return 10 + 3 * index


def kernels_of(index: int) -> int:
    return 11 + 3 * index


def sums_of(index: int) -> int:
    return 12 + 3 * index


def activ_input(index: int) -> int:
    return 26 + index


def arith_input(index: int, port: int = 0) -> int:
    return 28 + 2 * index + port


def pool_input(index: int) -> int:
    return 36 + index


class Epoch:
    """An epoch, with memory before it and wanted memory after it.

    Attributes:
        number: Its label.
        memory: Address -> data before the epoch.
        wanted: (addresses, data) of each change after the epoch.
        refused: A part of the reason for which the model must refuse the epoch; empty if it must
            compute it.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = number
        self.memory: dict[int, np.ndarray] = {}
        self.wanted: list[tuple[np.ndarray, np.ndarray]] = []
        self.refused = ""
        self._end = FIRST_ADDRESS
        self._writes: list[tuple[int, int, list[int]]] = []
        self._switched_on: list[tuple[int, int, int]] = []
        self._writers: list[int] = []

    def room(self, size: int) -> int:
        """Return an address with so many free bytes, followed by some unused ones."""
        address = self._end
        self._end += (size + 31) // 16 * 16
        assert self._end <= BLOB, "the epoch needs more memory than the tests have"
        return address

    def place(self, data: np.ndarray) -> int:
        raw = np.frombuffer(data.tobytes(), np.uint8)
        address = self.room(raw.size)
        self.memory[address] = raw
        return address

    def want(self, address: int, data: np.ndarray) -> None:
        raw = np.frombuffer(data.tobytes(), np.uint8)
        self.wanted.append((address + np.arange(raw.size), raw))

    def set(self, kind: str, index: int, register: str, **fields: int) -> None:
        self.values(kind, index, offset_of(kind, register), [value_of(kind, register, **fields)])

    def word(self, kind: str, index: int, register: str, value: int) -> None:
        self.values(kind, index, offset_of(kind, register), [value])

    def values(self, kind: str, index: int, offset: int, values: Sequence[int]) -> None:
        """Write consecutive registers."""
        self._writes.append((unit(kind, index), offset, [value & 0xFFFF_FFFF for value in values]))

    def switch_on(self, kind: str, index: int, **control: int) -> None:
        """Set CTRL with these fields at the end.

        Writing engines come before other units, and reading engines come last.
        """
        turn = 1 if kind != "STRENG" else 0 if control.get("DIR") else 2
        self._switched_on.append((turn, unit(kind, index), value_of(kind, "CTRL", **control)))

    def feed(self, destination: int, source: int | Contexts) -> None:
        word = source.word() if isinstance(source, Contexts) else 1 | source << 1
        self.values("STRSWITCH", 0, 8 + 4 * destination, [word])

    def reader(self, engine: int, frames: Frames, trigger: int | None = None, **control: int) -> int:
        """Add a reading engine, and return the source of its stream.

        Args:
            trigger: The engine whose previous frame it waits for.
        """
        self._engine(engine, frames)
        if trigger is not None:
            self.set("STRENG", engine, "EVENT", FRMTRG_EN=1, FRMTRG_SRC=trigger)
        self.switch_on("STRENG", engine, **self._control(frames), **control)
        return engine

    def writer(self, engine: int, source: int | Contexts, frames: Frames, **control: int) -> None:
        self._engine(engine, frames)
        self.feed(engine, source)
        self.switch_on("STRENG", engine, DIR=1, **self._control(frames), **control)
        self._writers.append(unit("STRENG", engine))

    def store(self, engine: int, source: int | Contexts, values: np.ndarray, size: int, frames: int = 1) -> None:
        """Add a raw writer for these elements of `size` bytes, and expect them in memory."""
        width = values.size // frames
        address = self.room(values.size * size)
        lanes = tuple(range(size))
        self.writer(engine, source, Frames(address, width, count=frames, step=width * size, lanes=lanes))
        self.want(address, little_endian(values, size))

    @staticmethod
    def _control(frames: Frames) -> dict[str, int]:
        return {"RAW": int(frames.raw), **{f"SIZE{lane}": 8 for lane in frames.lanes}}

    def _engine(self, engine: int, frames: Frames) -> None:
        self.word("STRENG", engine, "ADDR", frames.address)
        if frames.raw:
            self.word("STRENG", engine, "FSIZE", frames.elements)
        else:
            self.set("STRENG", engine, "FSIZE", WIDTH=frames.width, HEIGHT=frames.height)
            self.set("STRENG", engine, "DEPTH", SIZE=frames.depth, OFFSET=frames.pixel_step & 0xFFFF)
            self.set("STRENG", engine, "STRD", LOFF=frames.line_step & 0xFFFF)
            self.set("STRENG", engine, "LIMITEN", FRAMELIMIT=1, DOFF_MSB=frames.pixel_step >> 16)
            self.set("STRENG", engine, "CID_CACHE", LOFF_MSB=frames.line_step >> 16)
        self.values("STRENG", engine, offset_of("STRENG", "FOFFSET"), [frames.step, frames.repeat, frames.repeat_step])
        self.word("STRENG", engine, "LIMIT", frames.count)

    def _in_order(self) -> list[tuple[int, int]]:
        ordered = sorted(self._switched_on, key=lambda one: one[0])
        return [(number, control) for _, number, control in ordered]

    def configuration(self) -> list[tuple[int, int, list[int]]]:
        """Return (unit, offset, values) of consecutive registers."""
        return [(unit("STRSWITCH"), 0, [1]), *self._writes]

    def program(self) -> list[list[int]]:
        """Return a program in the order of ST's compiler.

        The order is: configuration, EN bits, polls of the writing engines, EN bits off.
        """
        words = [label(self.number)]
        for number, offset, values in self.configuration():
            for first in range(0, len(values), MOST_VALUES):
                part = values[first : first + MOST_VALUES]
                at = offset + 4 * first
                words.append(write_word(number, at, part[0]) if len(part) == 1 else write_many(number, at, part))
        units = self._in_order()
        words += [write_word(number, 0, control) for number, control in units]
        words += [write_bits(number, 0, 0, 1, 1) for number, _ in units]
        words += [poll(writer, 0, RUNNING, RUNNING, 0) for writer in self._writers]
        words += [write_bits(number, 0, 0, 1, 0) for number, _ in units]
        return words

    def blob(self) -> list[int]:
        return assembled(*self.program(), END)

    def run_by_registers(self, npu: Npu) -> str | None:
        for number, offset, values in self.configuration():
            for place, value in enumerate(values):
                npu.write(number, offset + 4 * place, value)
        for number, control in self._in_order():
            npu.write(number, 0, control | 1)
        return npu.run()

    def run_by_blob(self, npu: Npu) -> str | None:
        return npu.run_blob(self.blob())

    def memory_before(self) -> np.ndarray:
        memory = _BEFORE.copy()
        for address, data in self.memory.items():
            memory[address : address + data.size] = data
        return memory

    def memory_afterwards(self) -> np.ndarray:
        memory = self.memory_before()
        for addresses, data in self.wanted:
            memory[addresses] = data
        return memory


def little_endian(values: np.ndarray, size: int) -> np.ndarray:
    """Return the lowest bytes of each value."""
    return np.stack([(values.ravel() >> 8 * byte).astype(np.uint8) for byte in range(size)], 1).ravel()


def difference(library: ctypes.CDLL, epoch: Epoch, by: str) -> str | None:
    """Return the difference from the wanted result, or None.

    Args:
        by: "registers" or "blob".
    """
    with closing(Npu(library)) as npu:
        npu.memory[:] = epoch.memory_before()
        reason = epoch.run_by_registers(npu) if by == "registers" else epoch.run_by_blob(npu)
    if epoch.refused:
        return None if epoch.refused in (reason or "") else f"by {by}: {reason or 'computed'}, not {epoch.refused}"
    if reason:
        return f"by {by}: {reason}"
    wanted = epoch.memory_afterwards()
    if by == "blob":
        wanted[BLOB:] = npu.memory[BLOB:]
    places = np.flatnonzero(npu.memory != wanted)
    if places.size:
        at = int(places[0])
        return f"by {by}: {places.size} bytes differ, first 0x{at:05x}: {npu.memory[at]}, not {wanted[at]}"
    return None


def compute(library: ctypes.CDLL, epoch: Epoch) -> None:
    """Check that register writes and a blob both leave the wanted memory."""
    for by in ("registers", "blob"):
        found = difference(library, epoch, by)
        assert found is None, found
