"""Pieces of Markdown, with the markup characters of all texts escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"[&<>|*_\[\]\\`]")


def text(words: str) -> str:
    """Return a sentence of a docstring or help text on one line, backticks as code."""
    parts = " ".join(words.split()).split("`")
    if len(parts) % 2 == 0:
        # One backtick has no partner, so none of them marks code.
        return _plain("`".join(parts))
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def code(words: str) -> str:
    """Return words in the font of code, also in a table.

    In a table, backticks would end at a `|`.
    """
    return f"<code>{_plain(words)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or nothing without rows.

    Args:
        head: Titles of columns, in Markdown without line breaks.
        rows: Cells, in Markdown without line breaks.
    """
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines, ""]) if lines else ""


def anchor(name: str) -> str:
    """Return an invisible anchor for `#name`."""
    return f'<a id="{name}"></a>'


def page(title: str, *parts: str) -> str:
    """Return a whole page without its empty parts."""
    return "\n\n".join([f"# {title}", *(part.strip("\n") for part in parts if part.strip())]) + "\n"


def sentence(words: str) -> str:
    """Return words with a full stop and a capital letter.

    A name such as mW or pyOCD keeps its first letter.
    """
    words = words.strip()
    ending = "" if words.endswith((".", "!", "?")) or not words else "."
    return (words[:1].upper() + words[1:] if re.match(r"[a-z]+(?![\w(=]|\.\w)", words) else words) + ending


def _plain(words: str) -> str:
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", words)
