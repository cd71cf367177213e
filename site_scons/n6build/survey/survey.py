"""Survey of a folder: all kinds of things, each with its row."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from n6build.base.console import clipped, show, styled
from n6build.base.errors import N6Error
from n6build.base.walk import Tree, walk
from n6build.survey.images import IMAGES
from n6build.survey.kinds import Kind, Row, T, Wishes
from n6build.survey.networks import NETWORKS
from n6build.survey.starts import STARTS

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


# A further kind of things is a further entry here.
KINDS: tuple[Kind[Any], ...] = (NETWORKS, IMAGES, STARTS)
# Enough for some hundred clones of repositories.
_MOST_ENTRIES = 4_000_000


def tree_of(folder: Path) -> Tree:
    """Return the files of a folder; unreadable folders in it are passed over.

    Raises:
        N6Error: N6-FILE-002 for a path that is no folder; N6-FILE-007 for too many files.
    """
    return walk(folder, _MOST_ENTRIES, skips_unreadable=True)


def rows_of(kind: Kind[T], tree: Tree, wishes: Wishes, on_row: Callable[[Kind[T], Row], None]) -> tuple[Row, ...]:
    """Return the rows of one kind.

    Nothing in the folder ends the survey: a thing that cannot be read is a row with the reason.

    Args:
        kind: The kind.
        tree: Files of the folder.
        wishes: Options of the survey.
        on_row: Called with each row as soon as it is complete.
    """
    rows = []
    for thing in kind.find(tree, wishes):
        place = str(kind.place_of(thing).relative_to(tree.root))
        try:
            row = kind.look_at(thing, tree, wishes)
        except N6Error as error:
            row = _unread(place, f"{error.id}: {error.what}")
        except Exception as error:
            # A fault of n6build at one file must not hide all others.
            at = traceback.extract_tb(error.__traceback__)[-1]
            row = _unread(
                place, f"fault of n6build, please report it: {error!r} in {Path(at.filename).name}:{at.lineno}"
            )
        rows.append(row)
        on_row(kind, row)
    return tuple(rows)


def _unread(place: str, why: str) -> Row:
    return Row(place, {}, (why,), {"place": place, "error": why}, ("cannot be read",))
