"""Fixtures with a relocatable model, compiled once from a model of n6build."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.environment import read_environment
from n6build.base.paths import MODELS
from n6build.compile.board_pools import pools_of, relocatable
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.toolchain import Toolchain, find_toolchain
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.reader import RelocFile, read_reloc_file
from n6build.steps.reloc_networks import ModelOptions, ModelSteps
from shared_folder import made_once, shared_folder

from reloc.stage2 import made_with, plan_of

BOARD = load_board("nucleo-n657")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all processes of this test run share."""
    return shared_folder(tmp_path_factory, "reloc")


@pytest.fixture(scope="session")
def network(shared: Path) -> Path:
    """Return stage 1 of `keyword`, with relative external pools."""
    pools = relocatable(pools_of(BOARD, "extflash"))
    return made_once(
        shared / "network", lambda folder: compile_network(MODELS / "keyword/keyword.tflite", pools, folder)
    )


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return find_toolchain(read_environment(), None)


@pytest.fixture(scope="session")
def made(network: Path, shared: Path, toolchain: Toolchain) -> ModelSteps:
    """Return the steps of a whole model (weights in the file), after running them."""
    folder = made_once(shared / "whole", lambda folder: made_with(network, folder, toolchain))
    return plan_of(network, folder, toolchain)[1]


@pytest.fixture(scope="session")
def whole(made: ModelSteps) -> RelocFile:
    return read_reloc_file(Path(made.file))


@pytest.fixture(scope="session")
def split(network: Path, made: ModelSteps, shared: Path, toolchain: Toolchain) -> tuple[RelocFile, bytes]:
    """Return a split model, made from the objects of the whole one, and its weights."""
    options, work = ModelOptions(split=True), shared / "whole/work"
    folder = made_once(shared / "split", lambda folder: made_with(network, folder, toolchain, options, work))
    model = plan_of(network, folder, toolchain, options, work)[1]
    assert model.params is not None
    return read_reloc_file(Path(model.file)), Path(model.params).read_bytes()
