"""n6build.yaml: a project's limits for a matrix, under version control.

matrix:
  history: figures.jsonl
  most_growth: {appli_bytes: 1, instructions: 0.5}
  most_loss: {accuracy: 0.5}
  accepted:
    0123abc: the softmax of the new runtime is exact, and slower
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from n6build.base.errors import N6Error
from n6build.base.files import is_file
from n6build.base.yaml_schema import FileName, Range, parse_document, read_document

FILE = "n6build.yaml"
Percent = Annotated[float, Range(0, 1000)]


@dataclass(frozen=True)
class MostGrowth:
    """The most growth of each figure, in percent of its former value.

    A figure without a value has no limit.

    Attributes:
        seconds: time of the host, which other programs may use, too.
    """

    appli_bytes: Percent | None = None
    activation_bytes: Percent | None = None
    instructions: Percent | None = None
    seconds: Percent | None = None


@dataclass(frozen=True)
class MostLoss:
    """The most loss of each figure of int8 files that n6build makes.

    Attributes:
        accuracy: percentage points of top-1 or mean IoU, with labels.
        sqnr_db: decibels of the worst output.
    """

    accuracy: Percent | None = None
    sqnr_db: Percent | None = None


@dataclass(frozen=True)
class MatrixSettings:
    """The settings of a matrix.

    Attributes:
        history: file, relative to the project; in the build folder by default.
        accepted: reasons by commit. Later commits are compared with these, even with figures that grew
            too much.
    """

    history: FileName | None = None
    most_growth: MostGrowth = field(default_factory=MostGrowth)
    most_loss: MostLoss = field(default_factory=MostLoss)
    accepted: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProjectSettings:
    """The whole file."""

    matrix: MatrixSettings = field(default_factory=MatrixSettings)


@dataclass(frozen=True)
class Limits:
    """The limits of a matrix.

    Attributes:
        most: percent by figure; points or decibels of a figure that should be high.
        where: file:line of the limit by figure.
        accepted: beginnings of commits.
    """

    history: str | None
    most: dict[str, float]
    where: dict[str, str]
    accepted: tuple[str, ...]


def read_limits(folder: Path) -> Limits:
    """Read the limits of a project.

    Args:
        folder: folder of the project.

    Raises:
        N6Error: N6-FILE-002; N6-YAML-00x; N6-MATRIX-008 for an accepted commit that is invalid or has no
            reason.
    """
    path = folder / FILE
    document = read_document(path, shown_as=FILE) if is_file(path) else parse_document("{}", FILE)
    matrix = document.load(ProjectSettings).matrix
    groups = {"most_growth": asdict(matrix.most_growth), "most_loss": asdict(matrix.most_loss)}
    keys = {name: key for key, group in groups.items() for name in group}
    most = {name: groups[key][name] for name, key in keys.items()}
    for commit, reason in matrix.accepted.items():
        is_commit = 7 <= len(commit) <= 64 and not set(commit) - set("0123456789abcdef")
        if not is_commit or not reason.strip():
            what = f"accepted commit '{commit}' has no reason" if is_commit else f"'{commit}' is not a commit"
            hint = "write at least 7 digits of the commit, in quotes, and the reason for its figures"
            raise N6Error("N6-MATRIX-008", what, where=document.where("matrix", "accepted", commit), hint=hint)
    return Limits(
        matrix.history,
        {name: percent for name, percent in most.items() if percent is not None},
        {name: document.where("matrix", key, name) for name, key in keys.items()},
        tuple(matrix.accepted),
    )
