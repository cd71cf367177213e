"""Conclusion of a matrix: files, reports and errors when all pairs are done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from n6build.base.console import say, show
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.base.size_text import counted
from n6build.base.version import version
from n6build.describe.choices import Choices
from n6build.describe.until import Shard
from n6build.tell.figures import SizesFile, read_sizes
from n6build.tell.matrix.commit import commit_of
from n6build.tell.matrix.history import entry_of, read_history, with_entry, write_history
from n6build.tell.matrix.matrix_page import matrix_junit, page, table
from n6build.tell.matrix.matrix_settings import read_limits
from n6build.tell.matrix.result import PairResult, read_results, rows_of
from n6build.tell.matrix.shard_results import FORMAT, ShardResults, file_name, options_of_matrix
from n6build.tell.matrix.trend_page import trends_page
from n6build.tell.matrix.trends import latest, raise_if_worse, trends_of
from n6build.tell.merge import write_merge_report


def conclude(
    folder: Path,
    choices: Choices,
    whole: Sequence[tuple[str, str]],
    shard: Shard | None,
    results: Sequence[PairResult],
    sizes: Iterable[Path],
    base: SizesFile | None,
) -> None:
    """Write and report the results, for the project in the working directory.

    Args:
        folder: folder for the files.
        choices: choices for all pairs.
        whole: (board, model) of the whole matrix.
        shard: part that `results` are of, None for the whole matrix.
        results: results of the pairs.
        sizes: size files of the pairs that were built.
        base: sizes to compare with.

    Raises:
        N6Error: the errors of `add_to_history`.
    """
    write_results(folder, results)
    applications = tuple(each for path in sizes for each in read_sizes(path).applications)
    write_merge_report(folder, SizesFile(version(), applications), base)
    number, count = (shard.number, shard.count) if shard else (1, 1)
    options, commit = options_of_matrix(choices), commit_of(Path())
    found = ShardResults(FORMAT, commit, options, number, count, tuple(whole), tuple(results))
    if shard is None:
        add_to_history(folder, Path(), found)
        return
    path = folder / file_name(shard)
    write_atomically(path, to_json(asdict(found)))
    say("Part", f"{number} of {count}", f"{path} is for n6build matrix-merge")


def write_results(folder: Path, results: Sequence[PairResult]) -> None:
    """Write matrix.json, matrix.xml and matrix.html, and show the table.

    Args:
        folder: folder for the files.
        results: results of the pairs.

    Raises:
        N6Error: N6-FILE-001.
    """
    rows = rows_of(results, read_results(folder / "matrix.json"))
    write_atomically(folder / "matrix.json", to_json([asdict(result) for result in results]))
    write_atomically(folder / "matrix.xml", matrix_junit(rows))
    write_atomically(folder / "matrix.html", page(rows))
    show(table(rows))
    passed = sum(result.passed for result in results)
    say("Matrix", f"{passed} of {len(results)} passed", f"{folder}/matrix.html, .xml and .json")


def add_to_history(folder: Path, project: Path, found: ShardResults) -> None:
    """Add the figures of a whole matrix to the history, and write trends.html.

    Args:
        folder: folder for the files, as in `write_results`.
        project: folder of n6build.yaml.
        found: results of the whole matrix.

    Raises:
        N6Error: N6-MATRIX-006 for regressions; the errors of `read_limits` and `read_history`.
    """
    limits = read_limits(project)
    path = project / limits.history if limits.history else folder / "history.jsonl"
    entries = with_entry(read_history(path), entry_of(found.commit, found.options, found.results))
    write_history(path, entries)
    trends = trends_of(entries, found.options, limits)
    write_atomically(folder / "trends.html", trends_page(trends, limits, found.commit))
    worse = latest(trends, found.commit)
    say(
        "History",
        f"{counted(len(entries), 'commit')} in {path}",
        f"{folder}/trends.html",
    )
    raise_if_worse(worse, limits)


def raise_if_failed(results: Sequence[PairResult]) -> None:
    """Check that no pair of another machine failed.

    Raises:
        N6Error: N6-MATRIX-007 if a pair failed.
    """
    failed = [each for each in results if not each.passed]
    if failed:
        first = failed[0]
        what = f"{len(failed)} of {len(results)} pairs failed, first: {first.failure.splitlines()[0]}"
        where = f"{first.board} {first.model}"
        raise N6Error("N6-MATRIX-007", what, where=where, hint="open matrix.html, which lists all of them")
