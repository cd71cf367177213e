"""A relocatable model, made once of a model of this project with the compiler that makes them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.environment import read_environment
from n6build.base.paths import MODELS
from n6build.compiler.toolchain import Toolchain, find_toolchain
from n6build.hardware.boards import load_board
from n6build.network.pools.board_pools import pools_of, relocatable
from n6build.network.reference.compile import compile_network
from n6build.reloc.reader import RelocFile, read_reloc_file
from n6build.steps.reloc import ModelOptions, ModelSteps

from reloc.stage2 import made_with

BOARD = load_board("nucleo-n657")


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stage 1 of keyword, with relative external pools."""
    folder = tmp_path_factory.mktemp("network")
    compile_network(MODELS / "keyword/keyword.tflite", relocatable(pools_of(BOARD, "extflash")), folder)
    return folder


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return find_toolchain(read_environment(), None)


@pytest.fixture(scope="session")
def made(network: Path, tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> ModelSteps:
    """Whole, and all that it was made from."""
    return made_with(network, tmp_path_factory.mktemp("whole"), toolchain)


@pytest.fixture(scope="session")
def whole(made: ModelSteps) -> RelocFile:
    return read_reloc_file(Path(made.file))


@pytest.fixture(scope="session")
def split(network: Path, tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> tuple[RelocFile, bytes]:
    model = made_with(network, tmp_path_factory.mktemp("split"), toolchain, ModelOptions(split=True))
    assert model.params is not None
    return read_reloc_file(Path(model.file)), Path(model.params).read_bytes()
