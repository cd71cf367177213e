"""Table of a matrix, for a terminal, as JUnit XML and as an HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.junit import Case, junit
from n6build.tell.matrix.result import PairResult, Row
from n6build.tell.pages import page_environment

TEMPLATE = Path(__file__).with_name("matrix.html.j2")
NUMBERS = frozenset({"time", "Appli", "RAM", "instructions", "expected"})
COLUMNS = ("board", "model", "result", "time", "from", "Appli", "RAM", "instructions", "expected", "change")


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
        row.change,
    )


def _verdict(result: PairResult) -> str:
    if not result.passed:
        return "FAILED"
    near = f", {result.near} within tolerance" if result.near else ""
    return f"{result.equal} of {result.outputs} equal{near}" if result.outputs else "passed"


def table(rows: Sequence[Row]) -> str:
    """Return aligned columns, followed by the first line of each failure."""
    lines = [COLUMNS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    text = "".join(
        "  "
        + "  ".join(
            cell.rjust(width) if column in NUMBERS else cell.ljust(width)
            for column, cell, width in zip(COLUMNS, line, widths, strict=True)
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
    shown = [(row, cells(row)) for row in rows]
    passed = sum(row.result.passed for row in rows)
    template = page_environment(TEMPLATE.parent).get_template(TEMPLATE.name)
    return str(template.render(columns=COLUMNS, numbers=NUMBERS, rows=shown, passed=passed))
