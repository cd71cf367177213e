"""The table of a matrix, as text, JUnit XML and page."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from n6build.base.files import to_json, write_atomically
from n6build.base.junit import Case, junit
from n6build.engine.plan import make_plan
from n6build.engine.step import Step
from n6build.judge.accuracy.figures import Accuracy, AreaFigures, OutputFigures
from n6build.tell.matrix.matrix_page import matrix_junit, page, table
from n6build.tell.matrix.result import PairResult, pair_result, read_results, rows_of

GOOD = PairResult("nucleo", "keyword", "", "built", 1.25, 20_000, 16_128, 1_469_573, 10, 10)
BAD = replace(GOOD, model="anomaly", failure="error N6-CHECK-001: 1000 bytes <are> missing\nhint: more\x00", equal=0)


@pytest.mark.parametrize(
    ("now", "before", "change"),
    [
        (GOOD, None, "new"),
        (GOOD, GOOD, "the same"),
        (GOOD, replace(GOOD, seconds=9.0, built="cache"), "the same"),
        (BAD, replace(BAD, failure=""), "broken"),
        (replace(BAD, failure=""), BAD, "fixed"),
        (BAD, BAD, "still failing"),
        (replace(GOOD, appli_bytes=20_128, instructions=1_469_000), GOOD, "+128 B, -573 instructions"),
        (replace(GOOD, activation_bytes=16_000), GOOD, "-128 B RAM"),
    ],
)
def test_what_has_changed_since_the_last_time(now: PairResult, before: PairResult | None, change: str) -> None:
    (row,) = rows_of([now], [before] if before else [])
    assert row.change == change


def test_results_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "matrix.json"
    assert read_results(path) == []
    path.write_text(to_json([asdict(GOOD), asdict(BAD)]))
    assert read_results(path) == [GOOD, BAD]
    for text in ("", "[]", "[1]", '[{"board": 1}]', "{}"):
        path.write_text(text)
        assert read_results(path) == []


def test_the_table_of_a_terminal() -> None:
    text = table(rows_of([GOOD, BAD], []))
    lines = text.splitlines()
    assert lines[0].split() == [
        "board",
        "model",
        "result",
        "time",
        "from",
        "Appli",
        "RAM",
        "instructions",
        "expected",
        "change",
    ]
    assert " ".join(lines[1].split()) == "nucleo keyword 10 of 10 equal 1.2 s built 20,000 16,128 1,469,573 new"
    assert "FAILED" in lines[2]
    assert lines[3] == "  nucleo anomaly: error N6-CHECK-001: 1000 bytes <are> missing"


def test_a_pair_has_the_accuracy_of_its_int8_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    figures = Accuracy(100, (OutputFigures("a", 31.7, 98), OutputFigures("b", 25.0, None)), 100, 92, 91, 99, 99)
    plan = make_plan([Step("Accuracy", "network", ("quantised/net/accuracy.json",), command=("measure",))])

    def found() -> PairResult:
        return pair_result("nucleo", "net", plan, "build/nucleo/net/run.json", (), (), None)

    assert (found().accuracy, found().sqnr_db) == (None, None)
    write_atomically(tmp_path / "quantised/net/accuracy.json", to_json(asdict(figures)))
    assert (found().accuracy, found().agreement, found().sqnr_db) == (91.0, 98.0, 25.0)
    areas = AreaFigures("a", 98.5, 9000, 71.25, 69.0)
    write_atomically(tmp_path / "quantised/net/accuracy.json", to_json(asdict(replace(figures, areas=areas))))
    assert (found().accuracy, found().agreement) == (69.0, 98.5)
    write_atomically(tmp_path / "quantised/net/accuracy.json", "{}")
    assert found().accuracy is None


def test_a_column_has_the_accuracy_of_int8_files() -> None:
    labelled = replace(GOOD, accuracy=91.04, agreement=98.0, sqnr_db=31.72)
    rows = rows_of([labelled, replace(BAD, agreement=98.0, sqnr_db=20.0)], [replace(labelled, accuracy=92.0)])
    head, first, second, *_ = table(rows).splitlines()
    assert head.split()[-2:] == ["accuracy", "change"]
    assert first.endswith("91.0 %, 31.7 dB  -1.0 points of accuracy")
    assert "98.0 % agree, 20.0 dB" in second
    assert '<th scope="col" class="number">accuracy</th>' in page(rows)
    assert "91.0 %, 31.7 dB" in matrix_junit(rows).decode()
    assert "accuracy" not in page(rows_of([GOOD], []))


def test_what_is_within_its_tolerance_is_told_apart_from_what_is_equal() -> None:
    (line,) = table(rows_of([replace(GOOD, equal=1, near=9)], [])).splitlines()[1:]
    assert "1 of 10 equal, 9 within tolerance" in line


def test_the_xml_of_a_ci_server() -> None:
    root = ElementTree.fromstring(matrix_junit(rows_of([GOOD, BAD], [])))
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    good, bad = suite.findall("testcase")
    assert (good.get("classname"), good.get("name"), good.find("failure")) == ("nucleo", "keyword", None)
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message") == "error N6-CHECK-001: 1000 bytes <are> missing"


def test_letters_that_xml_has_not_are_left_out() -> None:
    assert ElementTree.fromstring(junit("s\x00", [Case("a", "b\x07", 0.0, "\x1b[31mred", "\ud800")])) is not None


def test_the_page_escapes_what_comes_from_outside() -> None:
    text = page(rows_of([GOOD, BAD], []))
    assert "<are>" not in text
    assert "1 of 2 pairs passed" in text
    assert text.count("<tr") == 3
