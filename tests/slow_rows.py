"""Rows of a parametrised test that only `make test-all` runs.

They resemble the rows beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

_Row = TypeVar("_Row")


def slow_rows(*values: object) -> list[ParameterSet]:
    """Return slow rows of one parameter, one for each value."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def telling_rows(values: Iterable[_Row], is_telling: Callable[[_Row], bool]) -> list[ParameterSet]:
    """Return a row of one parameter for each value; rows without news are slow."""
    return [pytest.param(value, marks=() if is_telling(value) else pytest.mark.slow) for value in values]
