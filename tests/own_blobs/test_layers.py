"""Layers that run alone, as in the blobs; unchanged ones are not run again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from n6build.compile.neural_art.compile_epochs import CompiledForNpu
from n6build.judge.own_blobs import layers as own_layers
from n6build.judge.own_blobs import make_blobs as make
from n6build.judge.own_blobs.agreement import Agreement
from n6build.judge.own_blobs.layers import Layer, agreements_of_layers, layers_of, run_layers
from n6build.judge.own_blobs.proof import prove, run_forced
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors
from network.network_models import chain

from own_blobs import compiled as own
from own_blobs.test_inverted_residuals import CUT_OFF, LINEAR, SIZE, attempt, conv, uneven


def found(network: CompiledForNpu, values: ReferenceTensors) -> tuple[Layer, ...]:
    layers = layers_of(network, values)
    assert layers is not None
    return layers


@pytest.mark.parametrize("model", ["keyword", "anomaly"])
def test_alone_a_layer_makes_what_it_makes_in_its_blob(model: str) -> None:
    network, values = own.compiled(model), own.first(2, own.vectors(model))
    layers = found(network, values)
    assert [each for layer in layers for each in layer.epochs] == sorted(network.lowered.hardware)
    known = dict(run_layers(own.NPU, own.program(), network, layers, values))
    assert agreements_of_layers(layers, known) == list(run_forced(own.program(), network, values))


def test_where_layers_lie_does_not_matter_and_what_they_are_made_of_does() -> None:
    values = own.first(2, own.vectors("keyword"))
    network = own.compiled("keyword")
    before = found(network, values)
    keys = [layer.key for layer in before]
    # One more operator on the CPU moves all later layers, and changes the numbers of the epochs.
    moved = own.compile_model("keyword", kept={2: "asked for by this test"})
    after = found(moved, values)
    assert [layer.key for layer in after[-6:]] == keys[-6:]
    assert [layer.epochs for layer in after[-6:]] != [layer.epochs for layer in before[-6:]]
    assert network.placement.places != moved.placement.places
    # The key changes with a weight, a register, an input and an expected output.
    (kernels,) = network.lowered.hardware[before[-1].epochs[-1]].initializers
    assert changed(keys, found(with_other_weight(network, kernels), values)) == [len(keys) - 1]
    assert changed(keys, found(own.compile_model("keyword", margin=3.0), values))
    tensor = network.lowered.tensors[before[3].made[0].buffer.name]
    other = {**values.values, tensor: values.values[tensor] ^ np.int8(1)}
    assert changed(keys, found(network, replace(values, values=other))) == [3, 4]


def changed(keys: Sequence[str], layers: Sequence[Layer]) -> list[int]:
    return [place for place, layer in enumerate(layers) if layer.key != keys[place]]


def with_other_weight(network: CompiledForNpu, name: str) -> CompiledForNpu:
    made = network.lowered.network
    initializers = tuple(
        replace(each, data=memoryview(bytes([each.data[0] ^ 1]) + bytes(each.data[1:]))) if each.name == name else each
        for each in made.initializers
    )
    return replace(network, lowered=replace(network.lowered, network=replace(made, initializers=initializers)))


def test_on_the_way_to_a_precise_network_only_layers_that_changed_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[int]] = []

    def spied(npu, program, compiled, layers, values) -> Iterator[tuple[str, Sequence[Agreement]]]:  # type: ignore[no-untyped-def]
        ran.append([compiled.lowered.hardware[layer.epochs[-1]].operators[-1] for layer in layers])
        return own_layers.run_layers(npu, program, compiled, layers, values)

    monkeypatch.setattr(make, "run_layers", spied)
    model = chain(uneven(48), conv(SIZE, 48, 24, CUT_OFF, LINEAR))
    given = attempt(model, 48, tmp_path)
    compiled, proof = make.compiled_and_proved(given)
    # The first of two layers was cut. No other layer ran again before the blobs.
    assert ran == [[0]]
    assert proof == prove(given.program, compiled, given.vectors)
