"""The build step of backend neural_art, over any model file.

The end is a proof or an error of n6build. Everything else is a fault of the backend and passes through.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from n6build.base.errors import N6Error
from n6build.compile.ll_aton import own_version
from n6build.compile.neural_art.compile_epochs import CompiledForNpu, Request
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import compile_network, graph_of
from n6build.compile.reference.graph import Graph
from n6build.describe.hardware.boards import load_board
from n6build.judge.own_blobs.envelope import Grade
from n6build.judge.own_blobs.make_blobs import Attempt, compiled_and_proved
from n6build.judge.own_blobs.proof import Proof, require_agreement
from n6build.judge.own_blobs.reference_tensors import reference_tensors
from n6build.judge.own_blobs.structure import require_structure
from numpy.typing import NDArray

from own_blobs.compiled import SEEN, pools, program

# A board with external RAM, so that large activations fit.
BOARD = load_board("stm32n6570-dk")
POOLS = pools(BOARD)


@dataclass(frozen=True)
class Outcome:
    """The end of the build step for a model.

    Attributes:
        reference: Error of the reference backend for this model, or None.
        error: Error of backend neural_art, or None.
        compiled: Network, if there is no error.
        proof: Proof of its blobs, if there is no error.
    """

    reference: N6Error | None
    error: N6Error | None
    compiled: CompiledForNpu | None = None
    proof: Proof | None = None

    def __str__(self) -> str:
        if self.error:
            return f"{self.error.id}: {self.error.what.splitlines()[0]}"
        assert self.compiled is not None
        lowered = self.compiled.lowered
        return f"proved, {len(lowered.hardware)} of {len(lowered.network.epochs)} epochs on the NPU"


def outcome_of(file: Path, folder: Path, vectors: int = 2) -> Outcome:
    """Return the end of the build step for a model, on inputs of noise.

    Epochs of every grade are allowed: the proof has to hold for them, too.
    """
    reference = None
    try:
        compile_network(file, POOLS, folder / "reference")
    except N6Error as error:
        reference = error
    try:
        compiled, proof = _proved(file, folder, vectors)
    except N6Error as error:
        return Outcome(reference, error)
    assert_sound(compiled)
    return Outcome(reference, None, compiled, proof)


def _proved(file: Path, folder: Path, vectors: int) -> tuple[CompiledForNpu, Proof]:
    graph = graph_of(file)
    np.save(folder / "inputs.npy", _noise(graph, vectors))
    values = reference_tensors(file, graph, folder / "inputs.npy")
    request = Request(file, "network", POOLS, own_version(), ())
    calibration = Calibration(values.values, 1.5)
    attempt = Attempt(BOARD.soc, program(), request, graph, calibration, values, SEEN, allowed=frozenset(Grade))
    compiled, proof = compiled_and_proved(attempt)
    require_agreement(proof, file.name)
    require_structure(compiled.blocks, BOARD.soc.npu)
    return compiled, proof


def _noise(graph: Graph, vectors: int) -> NDArray[np.uint8]:
    """Return rows of bytes over the whole range of each input's type."""
    rng = np.random.default_rng(1)
    columns: list[NDArray[Any]] = []
    for tensor in (graph.tensors[index] for index in graph.inputs):
        shape = (vectors, tensor.elements)
        if tensor.dtype == "float32":
            columns.append(rng.normal(0, 1, shape).astype(np.float32))
        elif tensor.dtype == "bool":
            columns.append(rng.integers(0, 2, shape).astype(np.uint8))
        else:
            least, most = (-128, 127) if tensor.dtype in ("int8", "uint8") else (0, 1)
            columns.append(rng.integers(least, most + 1, shape).astype(tensor.dtype))
    return np.concatenate([column.view(np.uint8).reshape(vectors, -1) for column in columns], axis=1)


def assert_sound(compiled: CompiledForNpu) -> None:
    """Check that epochs read finished buffers, and overwrite none in use.

    The proof gives blobs the interpreter's tensors, so it does not find a tensor that nothing makes.
    """
    network = compiled.lowered.network
    there = {port.buffer for port in network.inputs} | {state.buffer for state in network.states}
    for epoch in network.epochs:
        for name in epoch.inputs:
            assert name in there, f"epoch {epoch.index} ({epoch.node}) reads {name}, which nothing has made"
        there |= {epoch.output, *epoch.more_outputs}
    for port in network.outputs:
        assert port.buffer in there, f"nothing makes the output {port.buffer}"
    names = [epoch.node for epoch in network.epochs]
    assert len(set(names)) == len(names), "two epochs have the same name"
    places = compiled.placement.places
    for one, other in combinations(network.buffers, 2):
        if one.first <= other.last and other.first <= one.last:
            first, second = places[one.name], places[other.name]
            apart = first.address + first.bytes <= second.address or second.address + second.bytes <= first.address
            assert apart, f"{one.name} and {other.name} share memory"
