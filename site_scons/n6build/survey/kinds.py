"""Kinds of things in a folder, and the rows about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from n6build.base.walk import Tree
from n6build.describe.hardware.board import Board
from n6build.describe.option import PlacedFile

T = TypeVar("T")


@dataclass(frozen=True)
class Wishes:
    """The options of a survey.

    Attributes:
        board: Board of expected times and runs.
        cores: Trees in which ST's runtimes are searched, besides the surveyed one.
        cmsis: Value of option cmsis for runs; empty for the headers in these trees.
        data: More files for the NOR of a start.
        runs: Whether things run on the virtual board.
        epochs: Whether each epoch of a network runs on the reference's tensors, too.
        seconds: Longest duration of one run.
    """

    board: Board
    cores: tuple[Tree, ...] = ()
    cmsis: str = ""
    data: tuple[PlacedFile, ...] = ()
    runs: bool = False
    epochs: bool = False
    seconds: int = 600


@dataclass(frozen=True)
class Row:
    """A thing that was found.

    Attributes:
        place: Its file, from the surveyed folder on.
        cells: Texts by the names of the kind's columns.
        notes: Lines below the row, such as reasons.
        facts: All facts, for JSON.
        counts: Words under which a summary counts the row, such as 'pass the gate'.
    """

    place: str
    cells: Mapping[str, str]
    notes: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    counts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of things.

    Attributes:
        name: Name of all of them, such as 'networks'.
        columns: Widths of the columns by their names.
        find: Returns the things of a tree.
        place_of: Returns the file of a thing.
        look_at: Returns the row of a thing.
        counts: Words of summaries in their order.
        only_runs: Whether the kind is left out of a survey that runs nothing.
    """

    name: str
    columns: Mapping[str, int]
    find: Callable[[Tree, Wishes], Sequence[T]]
    place_of: Callable[[T], Path]
    look_at: Callable[[T, Tree, Wishes], Row]
    counts: tuple[str, ...]
    only_runs: bool = False
