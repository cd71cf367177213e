"""The model of the NPU as a program of this machine, which runs blobs.

The program is compiled from the C code of the virtual board once for each content, into the user's cache.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from n6build.base.errors import N6Error
from n6build.base.files import files_in, read_bytes
from n6build.base.paths import MACHINE_FILES, ROOT
from n6build.describe.hardware.npu_header import npu_header
from n6build.describe.hardware.soc import Soc

PROGRAM = ROOT / "tools" / "npu_replay" / "n6npu_replay.c"
_FLAGS = ("-std=c11", "-O2", "-w")


@dataclass(frozen=True)
class Exchange:
    """A read and a write of memory after an epoch.

    Attributes:
        label: number of the epoch.
        address: address of the memory.
        size: bytes to read.
        content: bytes that are then written there, `size` of them or none.
    """

    label: int
    address: int
    size: int
    content: bytes = b""


@dataclass(frozen=True)
class Run:
    """A run of a blob.

    Attributes:
        address: address of the blob.
        before: content by address, written before the run.
        exchanges: reads and writes between epochs.
        wanted: (address, bytes) to read after the run.
    """

    address: int
    before: Sequence[tuple[int, bytes]] = ()
    exchanges: Sequence[Exchange] = ()
    wanted: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Ran:
    """The bytes read in a run. exchanged, wanted: in the order of those in `Run`."""

    exchanged: tuple[bytes, ...]
    wanted: tuple[bytes, ...]


def sources() -> tuple[Path, ...]:
    """Return all C files of the program."""
    return (PROGRAM, *files_in(MACHINE_FILES, "n6npu.h"), *files_in(MACHINE_FILES, "n6virt_npu_*.[ch]"))


def find_program(soc: Soc) -> Path:
    """Return the program, compiled if it was not.

    Raises:
        N6Error: N6-NPU-010 if this machine has no C compiler, or if the compiler fails.
    """
    header = npu_header(soc)
    files = {path: read_bytes(path) for path in sources()}
    key = hashlib.sha256(repr((_FLAGS, header)).encode())
    for path, data in sorted(files.items()):
        key.update(path.name.encode() + b"\0" + data + b"\0")
    program = user_cache_path("n6build") / "npu_model" / key.hexdigest()[:16] / PROGRAM.stem
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        _compile(program, header, [path for path in files if path.suffix == ".c"])
    return program


def _compile(program: Path, header: str, files: Sequence[Path]) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise N6Error(
            "N6-NPU-010",
            "the model of the NPU needs a C compiler of this computer",
            hint="install one: apt-get install gcc",
        )
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        (Path(folder) / "n6npu_registers.h").write_text(header)
        made = Path(folder) / program.name
        command = [compiler, *_FLAGS, f"-I{folder}", f"-I{MACHINE_FILES}", *map(str, sorted(files)), "-o", str(made)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            line = next((each for each in result.stderr.splitlines() if "error" in each), "the compiler fails")
            raise N6Error(
                "N6-NPU-010",
                f"the model of the NPU cannot be compiled: {line}",
                hint="install gcc again, with its headers",
            )
        made.replace(program)


def replay(program: Path, regions: Sequence[tuple[int, bytes]], runs: Sequence[Run]) -> list[Ran]:
    """Run blobs in the model.

    Args:
        program: the model of the NPU.
        regions: memory by address, with its content before the first run.
        runs: runs, in order.

    Raises:
        N6Error: N6-NPU-011 for a blob that the model refuses.
    """
    request = [_numbers(len(regions)), *(_numbers(at, len(data)) + data for at, data in regions)]
    for run in runs:
        request += [_numbers(1, at, len(data)) + data for at, data in run.before]
        for each in run.exchanges:
            numbers = _numbers(3, each.label, each.address, each.size, len(each.content))
            request.append(numbers + each.content)
        request.append(_numbers(2, run.address))
        request += [_numbers(4, at, count) for at, count in run.wanted]
    request.append(_numbers(0))
    result = subprocess.run([program], input=b"".join(request), capture_output=True, check=False)
    if result.returncode:
        raise _refused(result.stderr.decode("utf-8", "replace").strip() or f"it ended with {result.returncode}")
    return _answers(result.stdout, runs)


def _answers(data: bytes, runs: Sequence[Run]) -> list[Ran]:
    found, at = [], 0

    def taken(count: int) -> bytes:
        nonlocal at
        at += count
        return data[at - count : at]

    for run in runs:
        if at + 4 > len(data):
            raise _refused("it ended without a result")
        (length,) = struct.unpack("<I", taken(4))
        if length:
            raise _refused(taken(length).decode("utf-8", "replace"))
        exchanged = tuple(taken(each.size) for each in run.exchanges)
        found.append(Ran(exchanged, tuple(taken(count) for _, count in run.wanted)))
    return found


def _refused(why: str) -> N6Error:
    hint = (
        "compile the network again: the blob is damaged, or uses features that the model does not have; nothing "
        "was programmed"
    )
    return N6Error("N6-NPU-011", f"the model of the NPU rejects a blob: {why}", hint=hint)


def _numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)
