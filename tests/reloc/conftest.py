"""A relocatable model, made once of a model of this project with the compiler that makes them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.boards import load_board
from n6build.network.board_pools import pools_of, relocatable
from n6build.network.reference import compile_network
from n6build.network.runtimes import own_runtime
from n6build.paths import MODELS
from n6build.reloc.make import Made, Options, make_model
from n6build.reloc.reader import RelocFile, read_reloc_file

BOARD = load_board("nucleo-n657")


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stage 1 of keyword, with relative external pools."""
    folder = tmp_path_factory.mktemp("network")
    compile_network(MODELS / "keyword/keyword.tflite", relocatable(pools_of(BOARD, "extflash")), folder)
    return folder


def made_with(network: Path, folder: Path, options: Options) -> Made:
    return make_model(network, "network", folder / "work", folder, own_runtime(), options)


@pytest.fixture(scope="session")
def whole(network: Path, tmp_path_factory: pytest.TempPathFactory) -> RelocFile:
    return read_reloc_file(made_with(network, tmp_path_factory.mktemp("whole"), Options()).file)


@pytest.fixture(scope="session")
def split(network: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[RelocFile, bytes]:
    made = made_with(network, tmp_path_factory.mktemp("split"), Options(split=True))
    assert made.params is not None
    return read_reloc_file(made.file), made.params.read_bytes()
