"""The model of the NPU, compiled for this machine.

Memory is an array, registers are written by name, and blobs are assembled.
"""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from n6build.base.paths import MACHINE_FILES, ROOT
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.npu_header import npu_header
from n6build.describe.hardware.soc import field_bits

NPU = load_board("nucleo-n657").soc.npu
UNIT_BYTES = 0x1000
MEMORY_BYTES = 1 << 20
BLOB = 0x80000
FEATURES, KERNELS, OUTPUT = 0x1000, 0x20000, 0x40000
_READ = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)


class _Memory(ctypes.Structure):
    _fields_ = (("read", _READ), ("write", _READ), ("opaque", ctypes.c_void_p))


def gcc(folder: Path, arguments: Sequence[str]) -> None:
    """Compile with the header of registers, which is written to the folder."""
    compiler = shutil.which("gcc")
    assert compiler
    (folder / "n6npu_registers.h").write_text(npu_header(load_board("nucleo-n657").soc))
    command = [compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-memset-elt-size", "-fPIC"]
    subprocess.run([*command, *arguments, f"-I{folder}", f"-I{MACHINE_FILES}"], cwd=ROOT, check=True)


def build_model(folder: Path, extra: Sequence[str] = (), sources: Path = MACHINE_FILES) -> ctypes.CDLL:
    library = folder / "npu.so"
    gcc(folder, [*extra, "-shared", *map(str, model_files(sources)), "-o", str(library)])
    return ctypes.CDLL(str(library))


def model_files(folder: Path = MACHINE_FILES) -> list[Path]:
    return sorted(folder.glob("n6virt_npu_*.c"))


def unit(kind: str, index: int = 0) -> int:
    return NPU.units[kind].first + index


def offset_of(kind: str, register: str) -> int:
    return NPU.registers[kind][register].offset


def value_of(kind: str, register: str, **fields: int) -> int:
    """Return the register's value with these fields; a field may be negative."""
    value = 0
    for name, content in fields.items():
        low, mask = field_bits(NPU.registers[kind][register].fields[name])
        assert -(mask >> low) <= content <= mask >> low, f"{kind} {register} {name} = {content}"
        value |= (content << low) & mask
    return value


class _Saturated(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("below", "above", "lost", "open")),
        *((name, ctypes.c_int64) for name in ("lowest", "highest")),
    )


class Saturated(NamedTuple):
    """Values of a channel that a format did not hold."""

    below: int
    above: int
    lost: int
    open: int
    lowest: int
    highest: int


class Npu:
    """The NPU's model with its memory.

    Attributes:
        memory: MEMORY_BYTES from address 0 on.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self.memory = np.zeros(MEMORY_BYTES, np.uint8)
        self._library = library
        library.n6npu_new.restype = ctypes.c_void_p
        library.n6npu_run.restype = ctypes.c_char_p
        library.n6npu_line.restype = ctypes.c_bool
        library.n6npu_has_work.restype = ctypes.c_bool
        self._functions = (_READ(self._read), _READ(self._write))
        self._given = _Memory(*self._functions, None)
        self._npu = ctypes.c_void_p(library.n6npu_new(ctypes.byref(self._given)))

    def close(self) -> None:
        self._library.n6npu_free(self._npu)

    def _read(self, _: object, address: int, to: int, count: int) -> bool:
        part = self.memory[address : address + count]
        if part.size == count:
            ctypes.memmove(to, part.ctypes.data, count)
        return part.size == count

    def _write(self, _: object, address: int, source: int, count: int) -> bool:
        part = self.memory[address : address + count]
        if part.size == count:
            ctypes.memmove(part.ctypes.data, source, count)
        return part.size == count

    def put(self, address: int, data: np.ndarray) -> None:
        self.memory[address : address + data.nbytes] = np.frombuffer(data.tobytes(), np.uint8)

    def get(self, address: int, count: int, kind: str = "int8") -> np.ndarray:
        return np.frombuffer(self.memory[address:].tobytes(), kind, count)

    def set(self, kind: str, index: int, register: str, **fields: int) -> None:
        self.write(unit(kind, index), offset_of(kind, register), value_of(kind, register, **fields))

    def write(self, number: int, offset: int, value: int) -> None:
        self._library.n6npu_write(
            self._npu, ctypes.c_uint32(number * UNIT_BYTES + offset), ctypes.c_uint32(value & 0xFFFF_FFFF)
        )

    def read(self, number: int, offset: int) -> int:
        return int(self._library.n6npu_read(self._npu, ctypes.c_uint32(number * UNIT_BYTES + offset))) & 0xFFFF_FFFF

    def link(self, destination: int, source: int) -> None:
        self.write(unit("STRSWITCH"), 8 + 4 * destination, 1 | source << 1)

    @property
    def has_work(self) -> bool:
        return bool(self._library.n6npu_has_work(self._npu))

    def line(self, number: int) -> bool:
        return bool(self._library.n6npu_line(self._npu, ctypes.c_uint(number)))

    def saturated(self, kind: str, index: int) -> dict[int, Saturated]:
        """Return the counts of each channel that saturated in the last epoch."""
        channel, found = 0, {}
        counts = _Saturated()
        following = self._library.n6npu_next_saturated
        following.restype = ctypes.c_uint32
        number = ctypes.c_uint(unit(kind, index))
        while (channel := following(self._npu, number, ctypes.c_uint32(channel), ctypes.byref(counts))) != 0xFFFF_FFFF:
            found[channel] = Saturated(*(getattr(counts, name) for name in Saturated._fields))
            channel += 1
        return found

    def run(self) -> str | None:
        """Run the work, and return None or the reason why it cannot be computed."""
        reason = self._library.n6npu_run(self._npu)
        return reason.decode() if reason else None

    def run_blob(self, words: Sequence[int], address: int = BLOB) -> str | None:
        self.put(address, np.array(words, np.uint32))
        self.write(unit("EPOCHCTRL"), 0, 2)
        self.write(unit("EPOCHCTRL"), offset_of("EPOCHCTRL", "ADDR"), address)
        self.write(unit("EPOCHCTRL"), 0, 1)
        return self.run()

    def raw_reader(self, engine: int, address: int, count: int, **control: int) -> None:
        """Set an engine to read consecutive elements of one byte."""
        self._engine(engine, address, count, control, DIR=0)

    def raw_writer(self, engine: int, address: int, count: int, **control: int) -> None:
        self._engine(engine, address, count, control, DIR=1)

    def _engine(self, engine: int, address: int, count: int, control: dict[str, int], **direction: int) -> None:
        frames = control.pop("frames", 1)
        step = control.pop("step", 0)
        fields = {"EN": 1, "RAW": 1, "SIZE0": 8, **direction, **control}
        self.write(unit("STRENG", engine), offset_of("STRENG", "ADDR"), address)
        self.write(unit("STRENG", engine), offset_of("STRENG", "FSIZE"), count)
        self.write(unit("STRENG", engine), offset_of("STRENG", "FOFFSET"), step)
        self.write(unit("STRENG", engine), offset_of("STRENG", "LIMIT"), frames)
        self.set("STRENG", engine, "CTRL", **fields)


# Blobs.


def assembled(*instructions: Sequence[int]) -> list[int]:
    """Return magic, number of words and instructions, padded to 64 bytes."""
    body = [word for instruction in instructions for word in instruction]
    words = [0xCA057A7A, len(body), *body]
    return words + [0] * (-len(words) % 16)


def write_word(number: int, offset: int, value: int) -> list[int]:
    return [0 | 0 << 5 | 31 << 10 | offset // 4 << 16 | number << 26, value & 0xFFFF_FFFF]


def write_bits(number: int, offset: int, low: int, width: int, value: int) -> list[int]:
    return [1 | low << 5 | (width - 1) << 10 | value << 13 | offset // 4 << 21 | number << 26]


def write_many(number: int, offset: int, values: Sequence[int]) -> list[int]:
    return [3 | len(values) << 5 | offset // 4 << 16 | number << 26, *values]


def poll(number: int, offset: int, low: int, high: int, value: int) -> list[int]:
    return [4 | low << 5 | high << 10 | offset // 4 << 16 | number << 26, 100, value]


def label(number: int) -> list[int]:
    return [29 | number << 5]


END = [12]


def as_bytes(words: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)
