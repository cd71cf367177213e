"""Rows of a parametrised test that only `make test-all` runs: more of the same as the rows beside them."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def slow_rows(*values: object) -> list[ParameterSet]:
    """Each value is a row of one parameter."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
