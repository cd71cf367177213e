"""One server for all tests of a process.

Names in it follow from content, so that no test finds the data of another one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from build_grid import Server, build_grid

from remote.scripted import Scripted, scripted_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a real server."""
    with build_grid(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with scripted_server() as server:
        yield server
