"""Every line that a build prints, in one shape: an aligned verb, what it acts on, and why or how much.

Colour only on a terminal, and never if NO_COLOR is set.
"""

from __future__ import annotations

import sys
from functools import cache

from n6build.base import environment

_VERB_WIDTH = 11
_STYLES = {"verb": "36", "good": "32", "bad": "31", "dim": "2"}


@cache
def _colour() -> bool:
    return sys.stdout.isatty() and environment.wants_colour()


def without_colour() -> None:
    """For all that this process and the programs it starts print from now on."""
    environment.without_colour()
    _colour.cache_clear()


def styled(text: str, style: str) -> str:
    """The text in one of the styles verb, good, bad and dim; unchanged without colour."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if _colour() else text


def line(verb: str, subject: str, detail: str = "") -> str:
    """'Compile     firmware/fsbl/main.c'; detail follows the subject after a comma."""
    return f"{styled(verb.rjust(_VERB_WIDTH), 'verb')} {subject}" + (f", {detail}" if detail else "")


def say(verb: str, subject: str, detail: str = "") -> None:
    """Prints a `line` and flushes it, so that it comes before the output of programs started next."""
    print(line(verb, subject, detail), flush=True)


def progress(verb: str, subject: str, percent: int) -> None:
    """One line that is overwritten on a terminal; nothing is printed to a log file."""
    if sys.stdout.isatty():
        filled = percent * 30 // 100
        end = "\n" if percent >= 100 else ""
        print(f"\r{line(verb, subject)} [{'#' * filled:<30}] {percent:3} %", end=end, flush=True)


def kib(size: int) -> str:
    """Bytes as a person reads them: 812 B, 126.7 KiB, 4.0 MiB."""
    if size < 1 << 10:
        return f"{size} B"
    return f"{size / (1 << 10):.1f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"


def printable(text: str) -> str:
    """The text as a single line without control characters: names come from model files and folders."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def clipped(text: str, columns: int) -> str:
    """The text in as many columns, with an ellipsis where it is longer."""
    return text.rstrip() if len(text) <= columns else f"{text[: columns - 3]}..."
