"""One server for all tests of a process: what is in it is named by its content, and no test finds what another one stored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from build_grid import Server, build_grid


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real one."""
    with build_grid(tmp_path_factory.mktemp("server")) as server:
        yield server
