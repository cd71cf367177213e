"""What ST's projects ask of the compiler in STM32CubeIDE, and the gcc of a distribution does not have.

docs/embedding/gcc-flags.md explains each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Under newlib, math.h has no float_t, because the compiler evaluates half floats in a way that it does not know.
FLOAT_T_FLAG = "-fpermitted-flt-eval-methods=c11"
# Its inttypes.h has the formats of 64-bit numbers only if this is defined, and its stdint.h leaves that to the compiler.
FORMATS_FLAG = "-D__int64_t_defined=1"
# Flags of C that only the compiler in STM32CubeIDE knows; any other stops at them.
UNKNOWN_FLAGS = ("-fcyclomatic-complexity",)
# Flags that make ST's sources compile with another compiler.
ADDED_FLAGS = (FLOAT_T_FLAG, FORMATS_FLAG)
SWITCH = "n6build adopt . --gcc build/gcc makes a compiler that the project can use as it is"


@dataclass(frozen=True)
class _Trouble:
    """sign: in the text of the compiler. cure: what to do."""

    sign: re.Pattern[str]
    cure: str


_TROUBLES = (
    _Trouble(
        re.compile(r"|".join(f"{re.escape(flag)}\\b" for flag in UNKNOWN_FLAGS)),
        f"only the compiler in STM32CubeIDE knows {UNKNOWN_FLAGS[0]}: leave it out; {SWITCH}",
    ),
    _Trouble(re.compile(r"\bfloat_t\b"), f"newlib hides float_t from this compiler: add {FLOAT_T_FLAG}; {SWITCH}"),
    _Trouble(
        re.compile(r"\b(?:PRI|SCN)[xXudio]64\b"),
        f"newlib's inttypes.h has no formats for 64 bits with this compiler: add {FORMATS_FLAG}; {SWITCH}",
    ),
)
# Patterns would be slow on megabytes, and the first errors say it.
_MOST_CHARACTERS = 1 << 16


def hint_from(output: str) -> str | None:
    """Return the cure for what a compiler stopped at, None where it is not one of these troubles.

    Args:
        output: Text of the compiler.
    """
    lines = [line for line in output[:_MOST_CHARACTERS].splitlines() if "error" in line]
    text = "\n".join(lines)
    return next((trouble.cure for trouble in _TROUBLES if trouble.sign.search(text)), None)
