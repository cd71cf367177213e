"""How long each test took when it ran last, kept in pytest's cache for `make quick`, which puts short ones first."""

from __future__ import annotations

from collections import defaultdict

import pytest

_KEY = "n6build/seconds"
# Shorter ones are not worth a line.
_SHORTEST_S = 0.1


def known_seconds(config: pytest.Config) -> dict[str, float]:
    """Test -> seconds with its fixtures, of those that took at least a tenth."""
    found: dict[str, float] = config.cache.get(_KEY, {}) if config.cache else {}
    return found


class Durations:
    """A plugin for the process that the others report to."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of a test's set-up, call or end."""
        self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Keep what was measured beside what other runs have measured."""
        if getattr(self._config, "cache", None):
            seconds = known_seconds(self._config) | {node: round(took, 1) for node, took in self._seconds.items()}
            self._config.cache.set(_KEY, {node: took for node, took in seconds.items() if took >= _SHORTEST_S})
