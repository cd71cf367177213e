"""The program that the user has called, and messages that name it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

SCONS, N6BUILD = "scons", "n6build"
# Target matrix belongs to SCons alone.
_CALLS = re.compile(r"\bscons (?=(?!matrix\b)[a-z.])")
_program = SCONS


@contextmanager
def called_as(program: str) -> Iterator[None]:
    """Have messages name this program, in place of scons."""
    global _program  # noqa: PLW0603 - the process has one user.
    before, _program = _program, program
    try:
        yield
    finally:
        _program = before


def in_words_of_caller(text: str) -> str:
    """Return a message whose calls of scons are calls of the program that the user has called: both take the same words."""
    return text if _program == SCONS else _CALLS.sub(f"{_program} ", text)
