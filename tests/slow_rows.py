"""Rows of a parametrised test that only `make test-all` runs: more of the same as the rows beside them."""

from typing import Any

import pytest


def slow_rows(*rows: Any) -> list[Any]:
    """A row that is a tuple has a value for each parameter; the mark and the id of a `pytest.param` are kept."""
    return [_slow(row) for row in rows]


def _slow(row: Any) -> Any:
    if isinstance(row, type(pytest.param())):
        return pytest.param(*row.values, id=row.id, marks=(*row.marks, pytest.mark.slow))
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.slow)
