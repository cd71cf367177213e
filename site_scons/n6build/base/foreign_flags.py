"""Compiler flags of ST's projects that only work in STM32CubeIDE.

ST's projects rely on properties of its compiler that the gcc of a distribution does not have.
docs/embedding/gcc-flags.md explains each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Under newlib, math.h has no float_t, because the compiler evaluates half floats in a way that newlib does not know.
FLOAT_T_FLAG = "-fpermitted-flt-eval-methods=c11"
# newlib's inttypes.h has the formats of 64-bit numbers only if this is defined, and its stdint.h leaves that to the compiler.
FORMATS_FLAG = "-D__int64_t_defined=1"
# Flags of C that only the compiler in STM32CubeIDE knows; any other compiler stops at them.
UNKNOWN_FLAGS = ("-fcyclomatic-complexity",)
# Flags that make ST's sources compile with another compiler.
ADDED_FLAGS = (FLOAT_T_FLAG, FORMATS_FLAG)
SWITCH = "or run n6build adopt . --gcc build/gcc, which writes a compiler that accepts these flags"


@dataclass(frozen=True)
class _Trouble:
    """An error of a compiler with a known remedy.

    Attributes:
        sign: Pattern in the text of the compiler.
        cure: Remedy.
    """

    sign: re.Pattern[str]
    cure: str


_TROUBLES = (
    _Trouble(
        re.compile(r"|".join(f"{re.escape(flag)}\\b" for flag in UNKNOWN_FLAGS)),
        f"remove {UNKNOWN_FLAGS[0]}: only the compiler of STM32CubeIDE accepts it; {SWITCH}",
    ),
    _Trouble(re.compile(r"\bfloat_t\b"), f"add {FLOAT_T_FLAG}: newlib hides float_t from this compiler; {SWITCH}"),
    _Trouble(
        re.compile(r"\b(?:PRI|SCN)[xXudio]64\b"),
        f"add {FORMATS_FLAG}: newlib's inttypes.h has no formats for 64 bits with this compiler; {SWITCH}",
    ),
)
# Patterns would be slow on megabytes of text, and the first errors are enough.
_MOST_CHARACTERS = 1 << 16


def hint_from(output: str) -> str | None:
    """Return the remedy for the error of a compiler, None if it is not known.

    Args:
        output: Text of the compiler.
    """
    lines = [line for line in output[:_MOST_CHARACTERS].splitlines() if "error" in line]
    text = "\n".join(lines)
    return next((trouble.cure for trouble in _TROUBLES if trouble.sign.search(text)), None)
