"""Table of a matrix, for a terminal, as JUnit XML and as an HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.junit import Case, junit
from n6build.tell.matrix.result import PairResult, Row
from n6build.tell.pages import page_environment

TEMPLATE = Path(__file__).with_name("matrix.html.j2")
NUMBERS = frozenset({"time", "Appli", "RAM", "instructions", "expected", "accuracy"})
COLUMNS = ("board", "model", "result", "time", "from", "Appli", "RAM", "instructions", "expected", "accuracy", "change")


def cells(row: Row) -> tuple[str, ...]:
    """Return the texts of a row in the order of COLUMNS."""
    result = row.result
    return (
        result.board,
        result.model,
        _verdict(result),
        f"{result.seconds:.1f} s",
        result.built,
        f"{result.appli_bytes:,}" if result.appli_bytes else "",
        f"{result.activation_bytes:,}" if result.activation_bytes else "",
        f"{result.instructions:,}" if result.instructions else "",
        result.expected,
        _accuracy(result),
        row.change,
    )


def _accuracy(result: PairResult) -> str:
    """Return the figures of an int8 file made here, such as '91.0 %, 31.7 dB'."""
    share = "" if result.accuracy is None else f"{result.accuracy:.1f} %, "
    if not share and result.agreement is not None:
        share = f"{result.agreement:.1f} % agree, "
    return "" if result.sqnr_db is None else f"{share}{result.sqnr_db:.1f} dB"


def _verdict(result: PairResult) -> str:
    if not result.passed:
        return "FAILED"
    near = f", {result.near} within tolerance" if result.near else ""
    return f"{result.equal} of {result.outputs} equal{near}" if result.outputs else "passed"


def _lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return the heading and the rows.

    Without int8 files made here, there is no column for their accuracy.
    """
    lines = [COLUMNS, *(cells(row) for row in rows)]
    place = COLUMNS.index("accuracy")
    if any(line[place] for line in lines[1:]):
        return lines
    return [(*line[:place], *line[place + 1 :]) for line in lines]


def table(rows: Sequence[Row]) -> str:
    """Return aligned columns, followed by the first line of each failure."""
    lines = _lines(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = "".join(
        "  "
        + "  ".join(
            cell.rjust(width) if column in NUMBERS else cell.ljust(width)
            for column, cell, width in zip(lines[0], line, widths, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )
    for row in rows:
        if row.result.failure:
            text += f"  {row.result.board} {row.result.model}: {row.result.failure.splitlines()[0]}\n"
    return text


def matrix_junit(rows: Sequence[Row]) -> bytes:
    """Return JUnit XML in UTF-8, with one test case for each pair."""
    return junit(
        "n6build matrix",
        [
            Case(row.result.board, row.result.model, row.result.seconds, row.result.failure, ", ".join(cells(row)[2:]))
            for row in rows
        ],
    )


def page(rows: Sequence[Row]) -> str:
    """Return the text of matrix.html."""
    columns, *lines = _lines(rows)
    passed = sum(row.result.passed for row in rows)
    template = page_environment(TEMPLATE.parent).get_template(TEMPLATE.name)
    return str(
        template.render(columns=columns, numbers=NUMBERS, rows=list(zip(rows, lines, strict=True)), passed=passed)
    )
