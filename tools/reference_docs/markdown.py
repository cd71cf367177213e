"""Pieces of Markdown, in which no text of the code can be taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"[&<>|*_\[\]\\`]")


def text(words: str) -> str:
    """A sentence of a docstring or help text on one line. What it has between backticks becomes code."""
    parts = " ".join(words.split()).split("`")
    if len(parts) % 2 == 0:
        # A backtick without a second one.
        return _plain("`".join(parts))
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def code(words: str) -> str:
    """In the font of code, also in a table, where backticks would end at a `|`."""
    return f"<code>{_plain(words)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """head, rows: Markdown without line breaks. Nothing where there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines, ""]) if lines else ""


def anchor(name: str) -> str:
    """An invisible place that `#name` leads to."""
    return f'<a id="{name}"></a>'


def page(title: str, *parts: str) -> str:
    """A whole page. Empty parts are left out."""
    return "\n\n".join([f"# {title}", *(part.strip("\n") for part in parts if part.strip())]) + "\n"


def sentence(words: str) -> str:
    """With a full stop, and a capital letter unless it begins with a name such as mW or pyOCD."""
    words = words.strip()
    ending = "" if words.endswith((".", "!", "?")) or not words else "."
    return (words[:1].upper() + words[1:] if re.match(r"[a-z]+(?![\w(=]|\.\w)", words) else words) + ending


def _plain(words: str) -> str:
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", words)
