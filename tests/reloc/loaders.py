"""Loaders of relocatable models, n6build's and ST's, on the virtual board.

The result of a run has each loader's status and the words that it wrote.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware_build import CPU, compiler
from kernels.cortex_m55 import virtual_board
from n6build.base.paths import FIRMWARE
from n6build.board.virtual_board.run import LIMIT_STATUS
from n6build.compile.runtimes import Runtime, own_runtime, st_runtime
from n6build.place.reloc.compilation import firmware_defines
from n6build.place.reloc.loader import Mode
from patience import NET_S
from samples import sample, sample_core

MODES: dict[Mode, int] = {"xip": 1, "copy": 2}
# The same values as in loader_runner.c.
FAULTED, NOT_GIVEN = 1000, 1001
FILE, EXEC_RAM, EXEC_RAM_BYTES, WEIGHTS = 0x34000000, 0x34100000, 0x40000, 0x71800000
FITS, DAMAGED = 0, 10
_HERE = Path(__file__).parent
_KERNELS = _HERE.parent / "kernels"
_CASE = struct.Struct("<3I")
_RESULT = struct.Struct("<IiI")


@dataclass(frozen=True)
class Outcome:
    """The result of one file in one loader.

    Attributes:
        status: Result of the check that a firmware makes before its loader.
        result: Result of the loader; FAULTED if it did not return, NOT_GIVEN if it was not called.
        strays: Words that changed outside the model's RAM.
    """

    status: int
    result: int
    strays: int


@dataclass(frozen=True)
class Loader:
    """A program of the virtual board with a loader.

    Attributes:
        elf: The program.
        runtime: The runtime that it is compiled with.
    """

    elf: Path
    runtime: Runtime


def build_loader(release: str | None, folder: Path) -> Loader:
    """Compile a loader.

    Args:
        release: A release of ST Edge AI Core, or None for the loader of n6build.
    """
    runtime = st_runtime(sample_core(release), (sample("apps/audio"),)) if release else own_runtime()
    assert runtime.reloc is not None
    folders = [*runtime.include_folders, *runtime.foreign_folders, FIRMWARE / "reloc"]
    defines = [*runtime.defines, *firmware_defines(runtime, debug_info=True)]
    objects = []
    programs = [_HERE / "loader_runner.c", _HERE / "loader_caches.c"]
    for source in [*programs, FIRMWARE / "reloc" / "n6_reloc_check.c", runtime.reloc.loader]:
        objects.append(folder / f"{source.stem}.o")
        command = [compiler(), "-std=gnu11", "-mcmse", "-O1", "-g", *CPU, *runtime.compile_flags]
        # The log would go to a console that does not exist here.
        command += [f"-I{each}" for each in folders] + [f"-D{each}" for each in (*defines, "AI_RELOC_LOG_ENABLE=0")]
        subprocess.run([*command, "-w", "-c", str(source), "-o", str(objects[-1])], check=True)
    machine = virtual_board()
    elf = folder / "runner.elf"
    symbols = {"code_base": machine.code_base, "stack_top": machine.stack_top}
    # Operators of ST's library are only in a table, and no epoch runs here.
    link = [
        "-nostartfiles",
        "--specs=nano.specs",
        "-Wl,--gc-sections,--no-warn-rwx-segments,--unresolved-symbols=ignore-all",
    ]
    link += [f"-Wl,--defsym={name}={address:#x}" for name, address in symbols.items()]
    command = [
        compiler(),
        "-mcmse",
        *CPU,
        *link,
        "-T",
        str(_HERE / "loader_runner.ld"),
        "-o",
        str(elf),
        *map(str, objects),
    ]
    subprocess.run(command, check=True)
    return Loader(elf, runtime)


def outcomes(
    loader: Loader, files: Sequence[tuple[bytes, Mode]], folder: Path, *, guarded: bool = False
) -> list[Outcome]:
    """Run the loader on each file, all in one boot of the board.

    Args:
        folder: Receives the files exchanged with the board.
        guarded: The loader only gets files that pass the check, as in a firmware.
    """
    cases = b"".join(_CASE.pack(len(data), MODES[mode], guarded) + data for data, mode in files)
    (folder / "cases").write_bytes(cases)
    command = [*virtual_board().command, str(loader.elf)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=NET_S, check=False)
    results = (folder / "results").read_bytes()
    assert done.returncode != LIMIT_STATUS, "a loader does not end"
    assert done.returncode == 0, f"the board stops at case {len(results) // _RESULT.size}: {done.stdout}{done.stderr}"
    return [Outcome(*each) for each in _RESULT.iter_unpack(results)]
