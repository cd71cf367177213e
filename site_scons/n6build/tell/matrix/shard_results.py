"""Results of one machine for its part of a matrix, and results of all parts.

Parts are identified by the contents of their files, not by file names: a CI system chooses any
names for artefacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.board.flash.receipt import VIRTUAL
from n6build.describe.choices import Choices
from n6build.describe.given_options import options_in_flash
from n6build.describe.hardware.boards import home_of_board, known_boards, load_board
from n6build.describe.model import known_models, load_model, models_folder
from n6build.describe.until import MOST_SHARDS, Shard
from n6build.tell.matrix.commit import Commit
from n6build.tell.matrix.result import Name, PairResult

ALL = "all"


def pairs_of(choices: Choices, boards: str, models: str) -> list[Choices]:
    """Return the choices of each pair: one application on its own virtual board.

    Pairs whose board lacks the profile are omitted.

    Args:
        choices: choices for all pairs.
        boards: 'all', or names separated by commas.
        models: 'all', or names separated by commas.

    Raises:
        N6Error: N6-OPTION-008 for option mode; N6-OPTION-013 for options of programs not built by
            n6build; N6-BOARD-00x; N6-MODEL-00x.
    """
    if choices.modes:
        raise N6Error("N6-OPTION-008", "a matrix does not accept 'mode': it is for target run", hint="omit mode")
    if choices.is_foreign or choices.until or choices.data:
        what = "a matrix does not accept 'fsbl', 'appli', 'data' and 'until': they are for a run of one application"
        raise N6Error("N6-OPTION-013", what, hint="omit them")
    found = [load_board(name, home_of_board(name)) for name in _names(boards, known_boards())]
    described = [(name, load_model(name, models_folder(name))) for name in _names(models, known_models())]
    return [
        replace(choices, board=board.name, models=(name,), probe=VIRTUAL, pair=model.name)
        for board in found
        if choices.profile in board.profiles()
        for name, model in described
    ]


def options_of_matrix(choices: Choices) -> tuple[str, ...]:
    """Return the choices for all pairs that decide their contents, as options."""
    given = options_in_flash(choices).items()
    return tuple(f"{name}={value}" for name, value in given if name not in ("board", "model"))


def _names(text: str, known: list[str]) -> list[str]:
    return known if text == ALL else text.split(",")


FORMAT = 1
# 20 boards with 200 models have 1 MB.
_LARGEST = 64 << 20
Option = Annotated[str, Meta(pattern=r"^[a-z_]+=[^\x00-\x1f\x7f]*\Z", max_length=4096)]


@dataclass(frozen=True)
class ShardResults:
    """The results of a shard.

    Attributes:
        commit: commit of the sources.
        options: options of the build, as on the command line, without boards and models.
        number: number of the shard, as in option shard.
        count: number of shards, as in option shard.
        pairs: (board, model) of the whole matrix, in order.
        results: results of this shard, in that order.
    """

    format: int
    commit: Commit
    options: tuple[Option, ...]
    number: Annotated[int, Meta(ge=1, le=MOST_SHARDS)]
    count: Annotated[int, Meta(ge=1, le=MOST_SHARDS)]
    pairs: tuple[tuple[Name, Name], ...]
    results: tuple[PairResult, ...]

    @property
    def own_pairs(self) -> list[tuple[str, str]]:
        """Pairs for which this shard must have results."""
        return list(Shard(self.number, self.count).part_of(self.pairs))


def file_name(shard: Shard) -> str:
    """Return the file name of a shard's results."""
    return f"shard-{shard.number}-of-{shard.count}.json"


def read_shard(path: Path) -> ShardResults:
    """Read the results of a shard.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003; N6-MATRIX-001 unless the file has all results of a shard, and
            no others.
    """
    try:
        found = decode_json(read_at_most(path, _LARGEST), ShardResults)
    except ValueError as error:
        raise _damaged(f"has no valid results of a matrix shard: {error}", path) from error
    if found.format != FORMAT:
        raise _damaged(f"has format {found.format}; this n6build reads {FORMAT}", path, ": format")
    if found.number > found.count:
        raise _damaged(f"is shard {found.number} of {found.count}", path, ": number")
    has = [(each.board, each.model) for each in found.results]
    wanted = found.own_pairs
    if has != wanted:
        at = next((at for at, pair in enumerate(wanted) if at >= len(has) or has[at] != pair), len(wanted))
        what = f"has {len(has)} results for {len(wanted)} pairs"
        if at < len(wanted):
            what += f"; {' '.join(wanted[at])} is missing or at the wrong position"
        raise _damaged(what, path, f": results[{at}]")
    return found


def _damaged(what: str, path: Path, key: str = "") -> N6Error:
    return N6Error("N6-MATRIX-001", what, where=f"{path}{key}", hint="build this shard again: scons matrix shard=...")


def merged(paths: Sequence[Path]) -> ShardResults:
    """Return all results in the order of the matrix, as if one machine had built it.

    Args:
        paths: files in any order, at least one.

    Raises:
        N6Error: N6-MATRIX-002 if two files are of the same part; N6-MATRIX-003 if a part is missing;
            N6-MATRIX-004 if parts are of different commits, options or matrices; the errors of
            `read_shard`.
    """
    first_path, *others = paths
    first = read_shard(first_path)
    files = {first.number: first_path}
    found = {first.number: first}
    for path in others:
        shard = read_shard(path)
        _check_same(shard, path, first, first_path)
        if shard.number in files:
            what = f"is shard {shard.number} of {shard.count}, the same as {files[shard.number]}"
            raise N6Error("N6-MATRIX-002", what, where=f"{path}: number", hint="pass each shard once")
        files[shard.number], found[shard.number] = path, shard
    missing = [str(number) for number in range(1, first.count + 1) if number not in found]
    if missing:
        what = f"{len(missing)} of {first.count} shards are missing: {', '.join(missing[:10])}"
        what += ", ..." if len(missing) > 10 else ""
        hint = f"build the missing shards, first scons matrix shard={missing[0]}/{first.count}"
        raise N6Error("N6-MATRIX-003", what, where=f"{first_path}: count", hint=hint)
    of_pair = {(each.board, each.model): each for shard in found.values() for each in shard.results}
    results = tuple(of_pair[pair] for pair in first.pairs)
    return ShardResults(FORMAT, first.commit, first.options, 1, 1, first.pairs, results)


def _check_same(shard: ShardResults, path: Path, first: ShardResults, first_path: Path) -> None:
    """Check that a part belongs to the same matrix as the first one (N6-MATRIX-004)."""
    for key, one, other in (
        ("commit", shard.commit, first.commit),
        ("options", " ".join(shard.options), " ".join(first.options)),
        ("count", f"{shard.count} shards", f"{first.count} shards"),
        ("pairs", _first_other(shard.pairs, first.pairs), _first_other(first.pairs, shard.pairs)),
    ):
        if one != other:
            what = f"has {one or 'none'}, but {first_path} has {other or 'none'}"
            hint = "build all shards from the same commit, with the same options"
            raise N6Error("N6-MATRIX-004", what, where=f"{path}: {key}", hint=hint)


def _first_other(pairs: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> str:
    """Return a text with the first pair that differs from `others`, and the count.

    The text is empty if all pairs are in the same places.
    """
    if pairs == others:
        return ""
    at = next(at for at in range(max(len(pairs), len(others)) + 1) if pairs[at : at + 1] != others[at : at + 1])
    return f"{len(pairs)} pairs, number {at + 1} {' '.join(pairs[at]) if at < len(pairs) else 'none'}"
