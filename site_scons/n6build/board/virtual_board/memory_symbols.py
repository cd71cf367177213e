"""Data and stacks of a program, for a harsh virtual board (n6virt_program.c)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.elf_damage import elf_damage, open_elf, symbols_in

_MAIN = "main"
# Start and end of data that start-up code clears, in linker scripts of n6build, of ST and of newlib.
_ZEROED = (("n6_bss_start", "n6_bss_end"), ("_sbss", "_ebss"), ("__bss_start__", "__bss_end__"))
# Lowest address and end of the main stack: of n6build, of CMSIS.
_STACKS = (("n6_stack_limit", "n6_stack_top"), ("__StackLimit", "__StackTop"))
_NAMES = frozenset({_MAIN, *(name for pair in (*_ZEROED, *_STACKS) for name in pair)})
# The machine takes so many of each.
_MOST = 16


def memory_properties(programs: Sequence[Path]) -> dict[str, str]:
    """Return the places of .bss and stacks as properties of QEMU's machine.

    A damaged or missing file has none, and so has one without these symbols.
    """
    zeroed: list[str] = []
    stacks: list[str] = []
    for path in programs:
        known = _symbols(path)
        main = known.get(_MAIN)
        if main is not None:
            zeroed += [f"{main & ~1:x}:{first:x}:{end:x}" for first, end in _pairs(known, _ZEROED)]
        stacks += [f"{first:x}:{end:x}" for first, end in _pairs(known, _STACKS)]
    found = {"zeroed": "/".join(zeroed[:_MOST]), "stacks": "/".join(stacks[:_MOST])}
    return {name: text for name, text in found.items() if text}


def _pairs(known: dict[str, int], names: tuple[tuple[str, str], ...]) -> list[tuple[int, int]]:
    found = [(known[first], known[end]) for first, end in names if first in known and end in known]
    return [(first, end) for first, end in found if first < end]


def _symbols(path: Path) -> dict[str, int]:
    if not path.is_file():
        return {}
    try:
        return {symbol.name: symbol["st_value"] for symbol in symbols_in(open_elf(path)) if symbol.name in _NAMES}
    except elf_damage():
        return {}
