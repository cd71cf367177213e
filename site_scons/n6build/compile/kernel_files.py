"""The C files of the kernels that a network calls.

A program is compiled with those files alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from n6build.base.files import files_in, read_at_most, read_text, remembered
from n6build.base.paths import FIRMWARE
from n6build.compile.artifacts.network_c import MAX_BYTES

_FUNCTION = re.compile(r"^(?!static)\w[\w *]*\b(n6k_\w+)\(", re.MULTILINE)
_NAMED = re.compile(r"\bn6k_(\w+)")
_CALL = re.compile(r"\b(n6k_\w+)\(")


def all_kernel_files() -> tuple[Path, ...]:
    """Return the C files of all kernels."""
    return tuple(files_in(FIRMWARE / "kernels", "*.c"))


def files_of_kernels(names: Iterable[str]) -> tuple[Path, ...]:
    """Return the C files of some kernels and of all functions that they call.

    Args:
        names: Names of kernels without the prefix n6k_.
    """
    texts = {path: read_text(path) for path in all_kernel_files()}
    home = {function: path for path, text in texts.items() for function in _FUNCTION.findall(text)}
    needed: set[Path] = set()
    waiting = {path for name in names for path in _homes(name, home, texts)}
    while waiting:
        path = waiting.pop()
        needed.add(path)
        waiting |= {home[call] for call in _CALL.findall(texts[path]) if call in home} - needed
    return tuple(sorted(needed))


@remembered
def files_of_calls(source: Path) -> tuple[Path, ...]:
    """Return the C files of the kernels that a C file names.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003, N6-FILE-006.
    """
    text = read_at_most(source, MAX_BYTES).decode("utf-8", "replace")
    return files_of_kernels(set(_NAMED.findall(text)))


def _homes(name: str, home: dict[str, Path], texts: dict[Path, str]) -> list[Path]:
    """Return the files of a kernel; one made by a macro is where its name is a word."""
    if path := home.get(f"n6k_{name}"):
        return [path]
    word = re.compile(rf"\b{name}\b")
    return [path for path, text in texts.items() if word.search(text)]
