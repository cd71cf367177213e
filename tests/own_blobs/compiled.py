"""Models of the project, compiled for the NPU once for all tests of a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from n6build.compile.board_pools import pools_of_networks
from n6build.compile.ll_aton import own_version
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.neural_art.backend import ENVELOPE
from n6build.compile.neural_art.compile_epochs import CompiledForNpu, Request, compile_for_npu
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.graph import Graph
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.judge.npu.blobs import blob_of_words
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import EpochSettings, epochs_of_blob
from n6build.judge.own_blobs.envelope import read_envelope
from n6build.judge.own_blobs.model_program import find_program
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from network.network_models import as_file

ROOT = Path(__file__).parents[2]
BOARD = load_board("nucleo-n657")
NPU = BOARD.soc.npu
NAMES = names_of(NPU)
SEEN = read_envelope(ENVELOPE)


def program() -> Path:
    return find_program(BOARD.soc)


def model_file(model: str) -> Path:
    return ROOT / "models" / model / f"{model}.tflite"


@cache
def graph(model: str) -> Graph:
    return graph_of(model_file(model))


@cache
def vectors(model: str) -> ReferenceTensors:
    return reference_tensors(model_file(model), graph(model), model_file(model).with_name("inputs.npy"))


def first(count: int, found: ReferenceTensors) -> ReferenceTensors:
    return ReferenceTensors(count, {index: values[:count] for index, values in found.values.items()}, found.by)


def compile_model(
    model: str, *, values: ReferenceTensors | None = None, margin: float = 1.5, kept: Mapping[int, str] | None = None
) -> CompiledForNpu:
    return compile_file(model_file(model), graph(model), values or vectors(model), margin, kept)


def compile_file(
    file: Path, graph: Graph, values: ReferenceTensors, margin: float = 1.5, kept: Mapping[int, str] | None = None
) -> CompiledForNpu:
    return compile_for_npu(NPU, request(file), graph, Calibration(values.values, margin), kept or {})


def pools(board: Board = BOARD) -> tuple[MemoryPool, ...]:
    return tuple(pools_of_networks(board, "extflash", [{}])[0])


def request(file: Path, guard: int = 0) -> Request:
    return Request(file, "network", pools(), own_version(), (), guard)


def on_noise(model: bytes, folder: Path, *shape: int) -> tuple[Path, Graph, ReferenceTensors]:
    """Return a model's file and graph, and its tensors for inputs of noise."""
    file = as_file(model, folder, "layers.tflite")
    np.save(folder / "inputs.npy", np.random.default_rng(1).integers(-128, 128, (3, *shape), dtype=np.int8))
    graph = graph_of(file)
    return file, graph, reference_tensors(file, graph, folder / "inputs.npy")


def epochs(model: str) -> list[EpochSettings]:
    """Return the epochs of a model that has one blob."""
    (block,) = compiled(model).blocks
    return list(epochs_of_blob(blob_of_words(block.words, "blob"), NAMES))


@cache
def compiled(model: str) -> CompiledForNpu:
    return compile_model(model)


@dataclass(frozen=True)
class Flip:
    word: int
    bit: int

    def of(self, network: CompiledForNpu) -> CompiledForNpu:
        """Return the network with one bit of its first blob changed."""
        block, *others = network.blocks
        words = list(block.words)
        words[self.word] ^= 1 << self.bit
        return replace(network, blocks=(replace(block, words=tuple(words)), *others))
