"""Fixtures with the model of the NPU, compiled once in each process."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import closing

import pytest

from virtual_board.npu.model import Npu, build_model


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build_model(tmp_path_factory.mktemp("npu"))


@pytest.fixture
def npu(library: ctypes.CDLL) -> Iterator[Npu]:
    with closing(Npu(library)) as npu:
        yield npu
