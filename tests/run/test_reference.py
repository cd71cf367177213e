"""Expected outputs of a network, in the network's own types and order.

The reference interpreter makes them.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.board.run import reference
from n6build.board.run.reference import reference_outputs
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.compile.artifacts.made_buffers import MadeBuffer, MadeBuffers
from n6build.judge.compare.interpret import ports_of
from n6build.place.memory_plan.vectors import VectorSet, read_vectors
from network.network_models import edit
from numpy.typing import NDArray

from run.test_table import ARTIFACTS

KEYWORD = Path(__file__).resolve().parents[2] / "models/keyword"
INPUTS = read_vectors(KEYWORD / "inputs.npy")
EXPECTED = np.load(KEYWORD / "expected.npy")


def as_compiled(model: Path) -> NetworkArtifacts:
    """Return artifacts with the ports of the model as they are."""
    takes, gives = (
        tuple(IoBuffer(p.name, None, int(np.prod(p.shape)), "int8", p.shape, p.scale, p.zero_point) for p in ports)
        for ports in ports_of(model)
    )
    return replace(ARTIFACTS, inputs=takes, outputs=gives)


def made(model: Path, network: NetworkArtifacts, inputs: VectorSet = INPUTS) -> NDArray[np.generic]:
    found: NDArray[np.generic] = np.load(io.BytesIO(reference_outputs(model, network, inputs).npy), allow_pickle=False)
    return found


def test_it_makes_what_is_stored_with_our_models() -> None:
    model = KEYWORD / "keyword.tflite"
    outputs = made(model, as_compiled(model))
    assert outputs.dtype == np.int8
    assert np.array_equal(outputs.reshape(EXPECTED.shape), EXPECTED)


def test_types_of_the_network_are_kept() -> None:
    model = KEYWORD / "keyword.tflite"
    network = as_compiled(model)
    (taken,), (given,) = network.inputs, network.outputs
    unsigned = replace(
        network,
        inputs=(replace(taken, type="uint8", zero_point=taken.zero_point + 128),),
        outputs=(replace(given, type="float32", bytes=4 * given.bytes, scale=1.0, zero_point=0),),
    )
    flipped = replace(INPUTS, data=bytes(value ^ 0x80 for value in INPUTS.data))
    outputs = made(model, unsigned, flipped)
    assert outputs.dtype == np.float32
    wanted = (EXPECTED.astype(np.float32) - given.zero_point) * np.float32(given.scale)
    assert np.array_equal(outputs.reshape(wanted.shape), wanted)


def test_outputs_alike_are_told_apart_by_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scales = {}

    def give_two_alike(model: Any) -> None:
        graph = model.subgraphs[0]
        convolutions = [each for each in graph.operators if len(each.inputs) == 3][:3:2]
        first, second = (graph.tensors[each.outputs[0]] for each in convolutions)
        assert list(first.shape) == list(second.shape)
        first.quantization = second.quantization
        graph.outputs = [each.outputs[0] for each in convolutions]
        for place, each in enumerate(convolutions):
            scales[f"Conv2D_{90 - place}"] = tuple(graph.tensors[each.inputs[1]].quantization.scale)

    model = tmp_path / "alike.tflite"
    model.write_bytes(edit((KEYWORD / "keyword.tflite").read_bytes(), give_two_alike))
    network = as_compiled(model)
    plain = made(model, network)
    names = [f"{node}_off_bias_out_1" for node in scales]
    outputs = tuple(replace(each, name=name) for each, name in zip(network.outputs, names, strict=True))
    swapped = replace(network, outputs=outputs[::-1])
    monkeypatch.setattr(reference, "made_buffers", lambda *_: MadeBuffers((), {}))
    with pytest.raises(N6Error, match=r"matches .* or "):
        made(model, swapped)
    buffers = tuple(
        MadeBuffer(each.name, 9, None, each.bytes, each.type, each.shape, each.scale, each.zero_point)
        for each in outputs
    )
    monkeypatch.setattr(reference, "made_buffers", lambda *_: MadeBuffers(buffers, scales))
    found = made(model, swapped)
    half = network.outputs[0].bytes
    assert np.array_equal(found, np.concatenate([plain[:, half:], plain[:, :half]], axis=1))
    assert not np.array_equal(found, plain)


def test_several_outputs_are_rows_of_bytes_in_the_network_s_order(tmp_path: Path) -> None:
    def give_both(model: Any) -> None:
        graph = model.subgraphs[0]
        graph.outputs = [graph.outputs[0], graph.operators[-1].inputs[0]]

    model = tmp_path / "two.tflite"
    model.write_bytes(edit((KEYWORD / "keyword.tflite").read_bytes(), give_both))
    network = as_compiled(model)
    first, second = network.outputs
    outputs = made(model, replace(network, outputs=(second, first)))
    assert outputs.dtype == np.uint8
    assert outputs.shape == (len(EXPECTED), second.bytes + first.bytes)
    assert np.array_equal(outputs[:, second.bytes :].view(np.int8), EXPECTED.reshape(len(EXPECTED), -1))


def test_rows_of_another_size_are_refused() -> None:
    model = KEYWORD / "keyword.tflite"
    with pytest.raises(N6Error, match="a row has 3 bytes, but the network's inputs have") as caught:
        made(model, as_compiled(model), VectorSet("mine.npy", 1, 3, bytes(3)))
    assert caught.value.id == "N6-VEC-002"


def test_a_network_of_another_model_is_refused() -> None:
    network = as_compiled(KEYWORD / "keyword.tflite")
    (given,) = network.outputs
    other = replace(network, outputs=(replace(given, scale=given.scale * 1.1),))
    with pytest.raises(N6Error, match="matches none of the model: int8") as caught:
        made(KEYWORD / "keyword.tflite", other)
    assert caught.value.id == "N6-COMPARE-004"


def test_outputs_move_little_if_each_input_moves_by_a_step() -> None:
    model = KEYWORD / "keyword.tflite"
    plain = reference_outputs(model, as_compiled(model), INPUTS)
    nudged = reference_outputs(model, as_compiled(model), INPUTS, nudge=True)
    assert plain.nudged is None
    assert nudged.npy == plain.npy
    assert nudged.nudged is not None
    assert 0.9 < nudged.nudged < 1
    assert reference_outputs(model, as_compiled(model), INPUTS, nudge=True) == nudged
