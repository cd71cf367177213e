"""Names of linker scripts in flags of a compiler or linker."""

from __future__ import annotations

import re

# Flags such as -Tboard.ld, -T board.ld, -T "board.ld", -Wl,-T,board.ld, --script=board.ld, but not -Ttext=0x34000400.
_FLAG = re.compile(
    r"""(?:(?<![\w=-])(?:-Wl,)?-T(?!(?:text|data|bss|rodata-segment|text-segment|ldata-segment)\b)[\s,=]{0,8}"""
    r"""|--script[=\s,]{1,8}|-dT[\s,]{0,8})"""
    r"""(?:\\?"([^"\n]{1,400}?)\\?"|'([^'\n]{1,400})'|((?:\$[({][^)}\s]{1,200}[)}]|[^\s"',$;]){1,400}))"""
)


def scripts_in(flags: str) -> tuple[str, ...]:
    """Return the names of linker scripts in a text with flags, in their order."""
    found = (next(filter(None, match.groups()), "") for match in _FLAG.finditer(flags))
    return tuple(name for name in found if name)
