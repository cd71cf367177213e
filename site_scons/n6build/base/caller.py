"""The program that the user has called, and messages that name it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

SCONS, N6BUILD = "scons", "n6build"
# Only SCons has target matrix.
_CALLS = re.compile(r"\bscons (?=(?!matrix\b)[a-z.])")
_program = SCONS


@contextmanager
def called_as(program: str) -> Iterator[None]:
    """Make messages inside the block name this program instead of scons."""
    global _program  # noqa: PLW0603 - the process has one user.
    before, _program = _program, program
    try:
        yield
    finally:
        _program = before


def in_words_of_caller(text: str) -> str:
    """Return a message in which calls of scons become calls of the user's program.

    Both programs take the same words.
    """
    return text if _program == SCONS else _CALLS.sub(f"{_program} ", text)
