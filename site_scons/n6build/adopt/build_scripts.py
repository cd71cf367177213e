"""Scripts of build systems: kinds and variables, and linker scripts in flags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Kind = Literal["cmake", "make", "scons", "platformio", "cubeide"]
# The IDE is last because it ignores the result of a step.
KINDS: tuple[Kind, ...] = ("cmake", "make", "scons", "platformio", "cubeide")


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


# A value may contain variables, whose values may contain more. A few lines can thus expand to billions of characters.
_DEPTH = 16
_MOST_CHARACTERS = 1 << 16
_TOKEN = re.compile(r"\$[({]([^$(){}\n]{1,200})[)}]")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Return a text with $(NAME) and ${NAME} replaced.

    Args:
        text: text of the script.
        values: values by name. A missing name stays as it is, as does a function of make.

    Returns:
        The text after at most 16 rounds and 65,536 characters.
    """
    for _ in range(_DEPTH):
        replaced = _TOKEN.sub(lambda found: values.get(found[1], found[0]), text)
        if replaced == text or len(replaced) > _MOST_CHARACTERS:
            break
        text = replaced
    return text


def is_open(text: str) -> bool:
    """Return whether a part is left that only the build system can replace."""
    return "$" in text or "@" in text or "*" in text
