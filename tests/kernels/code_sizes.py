"""The bytes of code of the kernels, by family."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from compiled_objects import compile_objects
from elftools.elf.elffile import ELFFile
from kernel_headers import write_kernel_headers

from kernels.cortex_m55 import CFLAGS, COMPILER, KERNELS_FOLDER

SOURCES = sorted(KERNELS_FOLDER.glob("*.c"))
CODE_BUDGET, FLOAT_BUDGET = 24 * 1024, 10 * 1024
# All but those of float32, by optimisation.
BUDGET_OF_ALL = {"-O2": 38 << 10, "-O3": 51 << 10}
# These kernels are for int16, for weights with a zero point, or for ONNX models.
_OF_ANOTHER_TYPE = re.compile(r"_int16$|_asymmetric$|_unsigned$|^qlinear_|^real_")
# These have no vectors, so that their plain twins are linked.
_OF_FLOAT32 = re.compile(r"^float_")


def prepare(folder: Path) -> None:
    """Write the headers of the kernels to a folder."""
    write_kernel_headers(folder / "include")


def compiled(source: Path, folder: Path, *options: str) -> Path:
    """Return the object of a kernel's file, compiled in a prepared folder."""
    (name,) = compile_objects(folder, [source], [COMPILER, *CFLAGS, *options, "-Iinclude"])
    return folder / name


def code_bytes(path: Path, *, plain: bool = False) -> int:
    """Return the bytes of code of the Helium paths in an object.

    Args:
        plain: Whether the plain twins count, too.
    """
    with path.open("rb") as file:
        return sum(
            section["sh_size"]
            for section in ELFFile(file).iter_sections()
            if section.name.startswith(".text") and (plain or "n6k_plain_" not in section.name)
        )


def sizes(folder: Path, optimisation: str = "-O2") -> dict[str, int]:
    """Return the bytes of code by the name of each file, in a prepared folder."""
    return {
        source.stem: code_bytes(compiled(source, folder, optimisation), plain=bool(_OF_FLOAT32.search(source.stem)))
        for source in SOURCES
    }


def of_int8(found: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of the files of int8 kernels."""
    return {
        name: size for name, size in found.items() if not _OF_ANOTHER_TYPE.search(name) and not _OF_FLOAT32.search(name)
    }


def of_float32(found: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of the files of float32 kernels."""
    return {name: size for name, size in found.items() if _OF_FLOAT32.search(name)}
