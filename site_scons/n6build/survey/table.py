"""Tables of a survey: a line for each thing, reasons below it, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from n6build.base.console import clipped, show, styled
from n6build.survey.kinds import Kind, Row, T

_STYLES = {"passes": "good", "runs": "good", "refused": "bad", "unreadable": "bad", "fails": "bad", "far off": "bad"}
_STYLES |= {"fine": "good", "doubtful": "bad", "Appli": "good", "nothing": "bad", "locks up": "bad", "ends": "bad"}
_INDENT = "      "


def show_head(kind: Kind[T]) -> None:
    """Print the heads of the columns."""
    heads = "  ".join(f"{name:<{width}}" for name, width in kind.columns.items())
    show(f"  {heads}  {kind.name}")
    show(f"  {'-' * (len(heads) + 30)}")


def show_row(kind: Kind[T], row: Row) -> None:
    """Print the line of a thing and the lines below it."""
    cells = (_cell(row.cells.get(name, ""), width) for name, width in kind.columns.items())
    show("\n".join([f"  {'  '.join(cells)}  {row.place}", *(f"{_INDENT}{note}" for note in row.notes)]))


def _cell(text: str, width: int) -> str:
    padded = f"{clipped(text, width):<{width}}"
    return styled(padded, _STYLES[text]) if text in _STYLES else padded


def counts_text(kind: Kind[T], rows: Sequence[Row]) -> str:
    """Return the counts of a table, such as '3 pass the gate, 1 refused'."""
    found = Counter(word for row in rows for word in row.counts)
    return ", ".join(f"{found[word]} {word}" for word in kind.counts if found[word])
