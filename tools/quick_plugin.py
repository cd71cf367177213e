"""A plugin of pytest for tools/quick.py.

It orders tests, prints failures at once and keeps a list of the tests that have run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from durations import known_seconds

# A test that takes longer runs at the end, however direct it is.
LONG_S = 3.0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests that are known to be long at the end.

    Others stay in the order of their files, the most direct first.
    """
    seconds = known_seconds(config)
    items.sort(key=lambda item: max(0.0, seconds.get(item.nodeid, 0.0) - LONG_S))


def pytest_configure(config: pytest.Config) -> None:
    """Follow the tests in the process that the others report to."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Followed(Path(os.environ["N6BUILD_QUICK"])))


class _Followed:
    """Lines of JSON for tools/quick.py: tests that were found, and those that ended.

    tools/quick.py may end this process at any time.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def _write(self, kind: str, nodes: list[str]) -> None:
        self._file.write(json.dumps([kind, nodes]) + "\n")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write the tests that were found without workers."""
        self._write("found", [item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Write the tests that a worker found; each worker finds the same."""
        self._write("found", ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print a failure at once, as the summary at the end may never come."""
        if report.failed:
            print(f"\n{report.nodeid}\n{report.longreprtext}", flush=True)
            self._write("failed", [report.nodeid])
        if report.when == "teardown":
            self._write("ended", [report.nodeid])
