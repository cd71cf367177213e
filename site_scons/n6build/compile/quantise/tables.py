"""Tables of numbers (CSV) as inputs of a network."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most

_MOST_BYTES = 1 << 30
_SHOWN = 40


def read_table(path: Path) -> NDArray[np.float32]:
    """Return the numbers of a CSV file, (rows, columns).

    A first line without any number is a heading. Columns end with a comma, a semicolon or a tab.

    Raises:
        N6Error: N6-QUANT-014 for a cell that is no number, or lines of different lengths.
    """
    text = read_at_most(path, _MOST_BYTES).decode("utf-8-sig", "replace")
    head = text.partition("\n")[0]
    delimiter = next((each for each in ("\t", ";") if each in head), ",")
    lines = [(number, row) for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), 1) if row]
    if lines and not any(_number(cell) is not None for cell in lines[0][1]):
        lines = lines[1:]
    if not lines:
        raise N6Error("N6-QUANT-014", "has no numbers", where=path.name, hint="write a row of numbers in each line")
    rows = []
    for number, row in lines:
        values = [_number(cell) for cell in row]
        if len(row) != len(lines[0][1]) or None in values:
            bad = next((cell for cell, value in zip(row, values, strict=True) if value is None), None)
            what = (
                f"'{bad[:_SHOWN]}' is not a number"
                if bad is not None
                else f"has {len(row)} columns, not {len(lines[0][1])}"
            )
            raise N6Error("N6-QUANT-014", what, where=f"{path.name}:{number}", hint="correct or remove the line")
        rows.append(values)
    return np.asarray(rows, np.float32)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
