"""Figures of commits: damaged lines are named, and growth is a regression.

A figure that grew beyond its limit stays a regression until it is mended.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.tell.matrix.commit import UNKNOWN, commit_of
from n6build.tell.matrix.conclude import add_to_history, raise_if_failed
from n6build.tell.matrix.history import FORMAT, Entry, Figures, entry_of, read_history, with_entry, write_history
from n6build.tell.matrix.matrix_settings import read_limits
from n6build.tell.matrix.shard_results import ShardResults
from n6build.tell.matrix.trend_page import trends_page
from n6build.tell.matrix.trends import latest, raise_if_worse, trends_of

from matrix.results import GOOD, commits, counts, names, options

PAIR = "nucleo/keyword"
LIMITS = "matrix:\n  most_growth:\n    instructions: 1\n    appli_bytes: 0\n"

figures = st.builds(Figures, counts, counts, counts, st.none() | st.floats(0, 1000))
pairs = st.builds("{}/{}".format, names, names)
entries = st.builds(Entry, st.just(FORMAT), commits, options, st.dictionaries(pairs, figures, max_size=3))
histories = st.lists(entries, max_size=6, unique_by=lambda entry: (entry.commit, entry.options))


def commit(number: int) -> str:
    return f"{number:040x}"


def entry(number: int, instructions: int, **others: float) -> Entry:
    values = {"appli_bytes": 20_000, "activation_bytes": 16_000, **others}
    return Entry(FORMAT, commit(number), (), {PAIR: Figures(instructions=instructions, **values)})  # type: ignore[arg-type]


@settings(max_examples=40)
@given(histories)
def test_what_is_written_is_read(history: list[Entry]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "history.jsonl"
        write_history(path, history)
        assert read_history(path) == history
        assert path.read_text().count("\n") == len(history)


@settings(max_examples=40)
@given(histories, entries)
def test_a_commit_has_one_entry_for_each_choice_of_options(history: list[Entry], new: Entry) -> None:
    joined = with_entry(history, new)
    keys = [(each.commit, each.options) for each in joined]
    assert len(set(keys)) == len(keys)
    assert set(new.figures) <= set(joined[keys.index((new.commit, new.options))].figures)
    assert with_entry(joined, new) == joined


def test_a_build_with_nothing_to_do_keeps_the_time_of_the_one_before() -> None:
    first = entry_of(commit(1), (), [GOOD])
    again = entry_of(commit(1), (), [replace(GOOD, built="up to date", seconds=0.0, instructions=7)])
    (joined,) = with_entry([first], again)
    assert joined.figures[PAIR] == Figures(20_000, 16_128, 7, 1.25)


@settings(max_examples=40)
@given(st.binary(max_size=80).filter(lambda line: b"\n" not in line and b"\r" not in line))
def test_a_damaged_line_is_named(line: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "history.jsonl"
        write_history(path, [entry(1, 1)])
        path.write_bytes(path.read_bytes() + line + b"\n")
        with pytest.raises(N6Error, match="N6-MATRIX-005") as error:
            read_history(path)
        assert error.value.where == f"{path}:2"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 9}, "has format 9"),
        ({"commit": commit(1)}, "has the same commit and options as line 1"),
        ({"commit": "a\nb"}, "has no valid figures of a commit"),
        ({"figures": {PAIR: {"appli_bytes": -1, "activation_bytes": 0, "instructions": 0}}}, "has no valid figures"),
        ({"figures": {"<b>/x": {"appli_bytes": 1, "activation_bytes": 0, "instructions": 0}}}, "has no valid figures"),
    ],
)
def test_a_line_that_cannot_be_right(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "history.jsonl"
    write_history(path, [entry(1, 1), entry(2, 1)])
    first, second = path.read_text().splitlines()
    path.write_text(f"{first}\n{json.dumps(json.loads(second) | change)}\n")
    with pytest.raises(N6Error, match="N6-MATRIX-005") as error:
        read_history(path)
    assert said in error.value.what
    assert error.value.where == f"{path}:2"


def worse(folder: Path, *instructions: int, settings: str = LIMITS) -> list[int]:
    """Return the commits that are regressions, counted from 0."""
    (folder / "n6build.yaml").write_text(settings)
    history = [entry(number, each) for number, each in enumerate(instructions)]
    (trend,) = [
        each
        for each in trends_of(history, (), read_limits(folder))
        if (each.pair, each.figure) == (PAIR, "instructions")
    ]
    return [number for number, point in enumerate(trend.points) if point.is_regression]


def test_growth_within_the_limit_is_none(tmp_path: Path) -> None:
    assert worse(tmp_path, 1000, 1010, 1020, 900, 909) == []


def test_a_regression_stays_one_until_it_is_mended(tmp_path: Path) -> None:
    assert worse(tmp_path, 1000, 1011, 1011, 1012, 1005) == [1, 2, 3]


def test_small_steps_after_a_regression_are_compared_with_what_was_before_it(tmp_path: Path) -> None:
    assert worse(tmp_path, 1000, 1020, 1015) == [1, 2]


def test_an_accepted_commit_is_what_later_ones_are_compared_with(tmp_path: Path) -> None:
    accepted = f"{LIMITS}  accepted:\n    '{commit(1)}': exact, and slower\n"
    assert worse(tmp_path, 1000, 2000, 2010, 2100, settings=accepted) == [3]


def test_without_limits_nothing_is_a_regression(tmp_path: Path) -> None:
    assert worse(tmp_path, 1000, 5000, settings="matrix: {}\n") == []


def test_figures_of_other_options_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "n6build.yaml").write_text(LIMITS)
    history = [replace(entry(1, 1000), options=("load=xip",)), entry(2, 2000)]
    trends = trends_of(history, (), read_limits(tmp_path))
    assert latest(trends, commit(2)) == []


def test_a_regression_is_said_with_its_limit_and_by_how_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "n6build.yaml").write_text(LIMITS)
    limits = read_limits(tmp_path)
    trends = trends_of([entry(1, 1000), entry(2, 1020, appli_bytes=20_100)], (), limits)
    with pytest.raises(N6Error, match="N6-MATRIX-006") as error:
        raise_if_worse(latest(trends, commit(2)), limits)
    assert "1,020, 2.00 % more than 1,000 at 0000000000; at most 1 %" in error.value.what
    assert error.value.where == "n6build.yaml:3: matrix.most_growth.instructions"
    assert error.value.hint is not None
    assert commit(2)[:12] in error.value.hint
    assert "20,100, 0.50 % more than 20,000" in capsys.readouterr().out


def test_a_loss_of_accuracy_is_a_regression(tmp_path: Path) -> None:
    (tmp_path / "n6build.yaml").write_text("matrix: {most_loss: {accuracy: 0.5, sqnr_db: 1}}\n")
    limits = read_limits(tmp_path)
    history = [
        entry(number, 1000, accuracy=accuracy, sqnr_db=ratio)
        for number, (accuracy, ratio) in enumerate([(90.0, 30.0), (90.5, 29.5), (89.8, 28.0)])
    ]
    found = latest(trends_of(history, (), limits), commit(2))
    assert [(trend.figure, round(point.growth, 2)) for trend, point in found] == [("sqnr_db", 1.5), ("accuracy", 0.7)]
    with pytest.raises(N6Error, match="N6-MATRIX-006") as error:
        raise_if_worse(found, limits)
    assert "SQNR of int8, dB: 28.0, 1.50 less than 29.5 at 0000000000; at most 1" in error.value.what
    assert error.value.where == "n6build.yaml:1: matrix.most_loss.sqnr_db"
    assert "accuracy of int8" in trends_page(trends_of(history, (), limits), limits, commit(2))


def test_lines_without_accuracy_stay_as_they_are(tmp_path: Path) -> None:
    write_history(tmp_path / "history.jsonl", [entry(1, 1000), entry(2, 1000, accuracy=90.0)])
    first, second = (tmp_path / "history.jsonl").read_text().splitlines()
    assert "accuracy" not in first
    assert '"accuracy":90.0' in second
    assert "sqnr_db" not in second


@pytest.mark.parametrize("accepted", ["'0123abc': ''", "main: tried", "'0123': too short"])
def test_what_is_accepted_is_a_commit_with_a_reason(tmp_path: Path, accepted: str) -> None:
    (tmp_path / "n6build.yaml").write_text(f"matrix:\n  accepted:\n    {accepted}\n")
    with pytest.raises(N6Error, match="N6-MATRIX-008") as error:
        read_limits(tmp_path)
    assert error.value.where is not None
    assert error.value.where.startswith("n6build.yaml:3: ")


def test_a_mistyped_limit_is_named(tmp_path: Path) -> None:
    (tmp_path / "n6build.yaml").write_text("matrix: {most_growth: {instruction: 1}}\n")
    with pytest.raises(N6Error, match="did you mean 'instructions'"):
        read_limits(tmp_path)


def test_the_history_and_its_page(tmp_path: Path) -> None:
    """The page has a chart of the changed figures.

    It marks the regression that fails the matrix.
    """
    pytest.importorskip("leather")
    folder = tmp_path / "build"
    (tmp_path / "n6build.yaml").write_text(LIMITS + "  history: figures.jsonl\n")
    whole = ShardResults(1, commit(1), (), 1, 1, (("nucleo", "keyword"),), (GOOD,))
    add_to_history(folder, tmp_path, whole)
    slower = replace(GOOD, instructions=1_500_000)
    with pytest.raises(N6Error, match="N6-MATRIX-006"):
        add_to_history(folder, tmp_path, replace(whole, commit=commit(2), results=(slower,)))
    assert [each.commit for each in read_history(tmp_path / "figures.jsonl")] == [commit(1), commit(2)]
    page = (folder / "trends.html").read_text()
    assert page.count("<svg") == 1
    assert "1 regression is marked" in page
    assert "#b91c1c" in page[page.index("<svg") :]


def test_pairs_of_other_machines_that_failed() -> None:
    raise_if_failed([GOOD])
    with pytest.raises(N6Error, match=r"N6-MATRIX-007.*1 of 2 pairs failed, first: it broke"):
        raise_if_failed([GOOD, replace(GOOD, failure="it broke\nhint: more")])


def test_a_folder_without_version_control_has_no_commit(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == UNKNOWN
