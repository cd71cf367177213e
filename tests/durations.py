"""Durations of the last test runs, kept in pytest's cache.

`make quick` uses them to run short tests first.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

_KEY = "n6build/seconds"
# Tests that take less time are not stored.
_SHORTEST_S = 0.1


def known_seconds(config: pytest.Config) -> dict[str, float]:
    """Return test -> seconds with its fixtures, for tests of at least 0.1 s."""
    found: dict[str, float] = config.cache.get(_KEY, {}) if config.cache else {}
    return found


class Durations:
    """A plugin for the process that receives the reports of the others."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of a test's set-up, call or end."""
        self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Store the new durations beside those of other runs."""
        if getattr(self._config, "cache", None):
            seconds = known_seconds(self._config) | {node: round(took, 1) for node, took in self._seconds.items()}
            self._config.cache.set(_KEY, {node: took for node, took in seconds.items() if took >= _SHORTEST_S})
