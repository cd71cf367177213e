"""Functions in which a program gives up, by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from n6build.base.elf_damage import elf_damage, open_elf, symbols_in

# They end a program, also one that has done its work.
ENDS = ("_exit", "exit", "_Exit")
# The place of an assertion is in their arguments, by number: file, line, expression, function; -1 for none.
ASSERTIONS = {
    "__assert_func": (0, 1, 3, 2),
    "__assert": (0, 1, 2, -1),
    "assert_failed": (0, 1, -1, -1),
    "__assert_fail": (1, 2, 0, 3),
    "vAssertCalled": (0, 1, -1, -1),
}
_OTHERS = ("abort", "__stack_chk_fail", "__cxa_pure_virtual", "_ZSt9terminatev", "panic", "fatal")
_HANDLER = re.compile(r"(?i)\w*(?:error|fatal|panic|overflow|mallocfailed|assert\w*)_?(?:handler|hook|trap)\w*")
_MOST = 200


def is_stop(name: str) -> bool:
    """Return true if a program calls a function of this name when it gives up."""
    return name in ASSERTIONS or name in ENDS or name in _OTHERS or _HANDLER.fullmatch(name) is not None


def stop_addresses(programs: Sequence[Path]) -> dict[int, str]:
    """Return the names of such functions by address, with the Thumb bit cleared.

    A damaged or missing file has none.
    """
    found: dict[int, str] = {}
    for path in programs:
        if not path.is_file():
            continue
        try:
            for symbol in symbols_in(open_elf(path)):
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"] and is_stop(name := str(symbol.name)):
                    found[symbol["st_value"] & ~1] = name
        except elf_damage():
            continue
    return dict(list(found.items())[:_MOST])
