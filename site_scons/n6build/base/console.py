"""The output of a build: lines in one shape, tables, and text of other programs.

A line has an aligned verb, its subject, and a reason or an amount. Programs include boards. Colour
appears only on a terminal, and never if NO_COLOR is set. Nothing else controls a terminal: names
come from models, texts from boards and compilers, and their control characters are shown, not sent.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from n6build.base import environment

_VERB_WIDTH = 11
_STYLES = {"verb": "36", "good": "32", "bad": "31", "dim": "2"}
_OWN = re.compile(rf"(\x1b\[(?:{'|'.join((*_STYLES.values(), '0'))})m)")


_is_quiet = False


@contextmanager
def only_errors(wanted: bool) -> Iterator[None]:
    """Print nothing inside the block if `wanted`; errors go to another stream."""
    global _is_quiet  # noqa: PLW0603 - as the streams themselves.
    before, _is_quiet = _is_quiet, _is_quiet or wanted
    try:
        yield
    finally:
        _is_quiet = before


@cache
def _colour() -> bool:
    return _is_terminal() and environment.wants_colour()


def _is_terminal() -> bool:
    # If the process has no stdout, SCons replaces it with an object that has no file.
    return bool(getattr(sys.stdout, "isatty", bool)())


def without_colour() -> None:
    """Turn off colours, for this process and the programs that it starts from now on."""
    environment.without_colour()
    _colour.cache_clear()


def styled(text: str, style: str) -> str:
    """Return the text in style verb, good, bad or dim; unchanged without colour."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if _colour() else text


def line(verb: str, subject: str, detail: str = "", style: str = "") -> str:
    """Return a line such as 'Compile     firmware/fsbl/main.c'.

    Args:
        verb: First word, aligned to the right.
        subject: Text behind the verb.
        detail: Text behind the subject and a comma.
        style: Style of the detail, as for `styled`.
    """
    text = f"{styled(printable(verb).rjust(_VERB_WIDTH), 'verb')} {printable(subject)}"
    told = printable(detail)
    return f"{text}, {styled(told, style) if style else told}" if detail else text


def say(verb: str, subject: str, detail: str = "", style: str = "") -> None:
    """Print a `line` and flush it.

    It then comes before the output of programs that are started next.
    """
    _write(line(verb, subject, detail, style))


def show(text: str) -> None:
    """Print lines that are in their shape already, such as a table.

    Only line breaks, tabs and the codes of `styled` reach the terminal unchanged.
    """
    if text:
        parts = _OWN.split(text.removesuffix("\n")) if _colour() else [text.removesuffix("\n")]
        _write("".join(part if number % 2 else printable_lines(part) for number, part in enumerate(parts)))


def _write(text: str) -> None:
    """Print a line in one call.

    Lines of other threads cannot come in between, as they can with print().
    """
    if sys.stdout is not None and not _is_quiet:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def show_document(text: str) -> None:
    """Print a whole document for another program, also inside `only_errors`."""
    if sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()


def progress(verb: str, subject: str, percent: int) -> None:
    """Print a line that the next one overwrites on a terminal.

    Nothing is printed to a log file.
    """
    if _is_terminal() and not _is_quiet:
        filled = percent * 30 // 100
        end = "\n" if percent >= 100 else ""
        print(f"\r{line(verb, subject)} [{'#' * filled:<30}] {percent:3} %", end=end, flush=True)


def kib(size: int) -> str:
    """Return a number of bytes for people to read: 812 B, 126.7 KiB, 4.0 MiB."""
    if size < 1 << 10:
        return f"{size} B"
    return f"{size / (1 << 10):.1f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"


def printable(text: str) -> str:
    """Return the text as a single line without control characters.

    Names come from model files and folders.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def printable_lines(text: str) -> str:
    """Return the text as `printable` does, but keep line breaks and tabs."""
    if text.isprintable():
        return text
    return re.sub(r"[^\n\t]+", lambda found: printable(found[0]), text)


def clipped(text: str, columns: int) -> str:
    """Return the text in this many columns, with an ellipsis if it is longer."""
    return text.rstrip() if len(text) <= columns else f"{text[: columns - 3]}..."
