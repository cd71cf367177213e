"""The errors that a user may see: all of one family.

Every error has a description, a place, an amount if that makes sense, and a remedy. The `id` is
stable: it is in the text and in `build/last_error.json`, because SCons exits with 2 for any error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from n6build.base.caller import in_words_of_caller
from n6build.base.console import printable, printable_lines


class N6Error(Exception):
    """An error in an input file or on the machine, reported without a traceback.

    Attributes:
        id: Stable id, `N6-<AREA>-<nnn>`.
        what: Description in one sentence.
        where: `file:line`, a key, a tensor or a symbol.
        hint: Next thing to do.
        details: All single problems, of which the description names the first; for programs.
    """

    def __init__(
        self,
        id: str,
        what: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        details: Iterable[str] = (),
    ) -> None:
        super().__init__(what)
        self.id = id
        self.what = what
        self.where = where
        self.hint = hint
        self.details = tuple(details)

    def __str__(self) -> str:
        text = f"error {self.id}: {_indented(self.what)}"
        if self.where:
            text = f"{printable(self.where)}: {text}"
        if self.hint:
            text += f"\n  hint: {_indented(in_words_of_caller(self.hint))}"
        return text

    def as_dict(self) -> dict[str, str | list[str] | None]:
        """Return the fields of last_error.json, with details if there are any."""
        hint = in_words_of_caller(self.hint) if self.hint else self.hint
        details: dict[str, str | list[str] | None] = {"details": list(self.details)} if self.details else {}
        return {"id": self.id, "what": self.what, "where": self.where, "hint": hint} | details


def _indented(text: str) -> str:
    """Return a text with indented continuation lines and without control characters.

    Texts quote names and other programs: they must not control a terminal, nor look like messages
    of their own.
    """
    return re.sub(r"\n(?!  )", "\n  ", printable_lines(text))


# Known words whose similarity to the given one differs by less than this are equally near.
_NEARLY = 0.1
# Number of characters of a word that are compared: no known name is longer.
_LONGEST = 80


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word.

    It names both words if two are equally near, and all of them if none is near.
    """
    names = sorted(known)
    if near := nearest(word, names):
        return f"did you mean {' or '.join(repr(name) for name in near)}?"
    return f"use one of: {', '.join(names)}" if names else "none exists"


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words that are most like the given one.

    These are one word, two if both are equally near, or none.
    """
    word = word[:_LONGEST]
    near = difflib.get_close_matches(word, sorted(known), n=2, cutoff=0.5)
    likeness = [difflib.SequenceMatcher(None, name, word).ratio() for name in near]
    return [name for name, each in zip(near, likeness, strict=True) if each > likeness[0] - _NEARLY]
