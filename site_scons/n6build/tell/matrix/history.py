"""History of a matrix: the figures of each commit.

The file has one line of JSON for each commit and choice of options, the oldest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most, write_atomically
from n6build.base.same_fields import with_fields_of
from n6build.engine.step import canonical
from n6build.tell.matrix.commit import Commit
from n6build.tell.matrix.result import Count, Decibels, PairResult, Percent, Seconds
from n6build.tell.matrix.shard_results import Option

FORMAT = 1
# This suffices for ten thousand commits of a hundred pairs.
_LARGEST = 256 << 20
# 'board/model', as in the build folder.
Pair = Annotated[str, Meta(pattern=r"^[\w.+-]{1,200}/[\w.+-]{1,200}\Z")]


@dataclass(frozen=True)
class Figures:
    """The figures of a pair that passed, as in `PairResult`.

    Attributes:
        seconds: build time; None if there was no step to do.
    """

    appli_bytes: Count
    activation_bytes: Count
    instructions: Count
    seconds: Seconds | None = None
    accuracy: Percent | None = None
    sqnr_db: Decibels | None = None


@dataclass(frozen=True)
class Entry:
    """A line of the history.

    Attributes:
        options: options that differ from the defaults, without boards and models; figures of different
            options are not compared.
    """

    format: int
    commit: Commit
    options: tuple[Option, ...]
    figures: dict[Pair, Figures]


def entry_of(commit: str, options: Sequence[str], results: Iterable[PairResult]) -> Entry:
    """Return the entry of a commit. results: results; failed pairs have no figures."""
    figures = {
        f"{each.board}/{each.model}": with_fields_of(
            Figures, each, seconds=round(each.seconds, 2) if each.built == "built" else None
        )
        for each in results
        if each.passed
    }
    return Entry(FORMAT, commit, tuple(options), figures)


def read_history(path: Path) -> list[Entry]:
    """Return the entries of a history, none if the file does not exist.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003; N6-MATRIX-005 with a line that is damaged, or has the commit
            and options of an earlier one.
    """
    if not is_file(path):
        return []
    entries: list[Entry] = []
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    for number, line in enumerate(read_at_most(path, _LARGEST).splitlines(), 1):
        try:
            entry = decode_json(line, Entry)
        except ValueError as error:
            raise _damaged(f"has no valid figures of a commit: {error}", path, number) from error
        if entry.format != FORMAT:
            raise _damaged(f"has format {entry.format}; this n6build reads {FORMAT}", path, number)
        earlier = seen.setdefault((entry.commit, entry.options), number)
        if earlier != number:
            raise _damaged(f"has the same commit and options as line {earlier}", path, number)
        entries.append(entry)
    return entries


def _damaged(what: str, path: Path, number: int) -> N6Error:
    return N6Error("N6-MATRIX-005", what, where=f"{path}:{number}", hint="remove this line, or restore the file")


def with_entry(entries: Sequence[Entry], new: Entry) -> list[Entry]:
    """Return the entries with a new one at the end.

    An entry of the same commit and options gets the new figures instead: a matrix may be built in
    parts, one after another, and steps that were up to date took no time.
    """
    for at, entry in enumerate(entries):
        if (entry.commit, entry.options) == (new.commit, new.options):
            return [*entries[:at], replace(entry, figures=_joined(entry.figures, new.figures)), *entries[at + 1 :]]
    return [*entries, new]


def _joined(old: dict[str, Figures], new: dict[str, Figures]) -> dict[str, Figures]:
    timed = {
        pair: replace(each, seconds=old[pair].seconds) if each.seconds is None and pair in old else each
        for pair, each in new.items()
    }
    return old | timed


def write_history(path: Path, entries: Iterable[Entry]) -> None:
    """Write a history.

    Raises:
        N6Error: N6-FILE-001.
    """
    write_atomically(path, "".join(canonical(_line(entry)) + "\n" for entry in entries))


def _line(entry: Entry) -> dict[str, object]:
    """Return an entry for JSON, without keys of an accuracy that was not measured.

    So lines of older versions stay as they are under version control.
    """
    line = asdict(entry)
    for figures in line["figures"].values():
        for key in ("accuracy", "sqnr_db"):
            if figures[key] is None:
                del figures[key]
    return line
