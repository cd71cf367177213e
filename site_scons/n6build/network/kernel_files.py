"""Which C files hold the kernels that a network calls: a program is compiled with those alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from n6build.base.files import files_in, read_at_most, read_text, remembered
from n6build.base.paths import FIRMWARE
from n6build.network.artifacts.network_c import MAX_BYTES

_FUNCTION = re.compile(r"^(?!static)\w[\w *]*\b(n6k_\w+)\(", re.MULTILINE)
_NAMED = re.compile(r"\bn6k_(\w+)")
_CALL = re.compile(r"\b(n6k_\w+)\(")


def all_kernel_files() -> tuple[Path, ...]:
    """Of all kernels."""
    return tuple(files_in(FIRMWARE / "kernels", "*.c"))


def files_of_kernels(names: Iterable[str]) -> tuple[Path, ...]:
    """names: of kernels, n6k_<name>. With the files whose functions those call."""
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
    """Of the kernels that a C file names. Raises N6-FILE-002, N6-FILE-003, N6-FILE-006."""
    text = read_at_most(source, MAX_BYTES).decode("utf-8", "replace")
    return files_of_kernels(set(_NAMED.findall(text)))


def _homes(name: str, home: dict[str, Path], texts: dict[Path, str]) -> list[Path]:
    """A kernel that a macro makes is where its name is a word."""
    if path := home.get(f"n6k_{name}"):
        return [path]
    word = re.compile(rf"\b{name}\b")
    return [path for path, text in texts.items() if word.search(text)]
