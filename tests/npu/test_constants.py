"""Constants of convolutions that do not follow from the model, without a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from benchmarks.damages import KINDS, NETWORKS, damage_places
from benchmarks.fed_replay import Network, changed, weights_beside
from hypothesis import given
from hypothesis import strategies as st
from n6build.compile.artifacts.network_c import read_network_c
from n6build.compile.reference.graph import Graph, Operator, Quantisation, Tensor
from n6build.compile.reference.tflite_reader import read_graph
from n6build.judge.npu.blobs import Blob, blob_of_words, blobs_of_network
from n6build.judge.npu.constants import contradictions
from n6build.judge.npu.contradiction import Contradiction
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.npu.sums import Weights
from samples import sample
from slow_rows import telling_rows
from virtual_board.npu.cases_vector import biased_layer
from virtual_board.npu.model import NPU

from npu.damaged_layer import read_or_refused, weights_in

NAMES = names_of(NPU)
# A factor is in 2^-13, and 21760 / 2^20 follows: the bias of the model has to be a whole number of steps.
KERNELS, FACTORS, BIASES = (40, -9, 31, 10, 77, -128), (8192, 16384, 24576, 9001, 4097, 1), (85, -170, 0, 0, 0, 0)
GAINS = [factor / (1 << 13) * 21760 / (1 << 20) for factor in FACTORS]


def model(kernels: Sequence[int] = KERNELS, scale: float = 1.0) -> Graph:
    """Return the model of the layer of this file."""
    count = len(kernels)
    weights = np.array(kernels, np.int8).reshape(count, 1, 1, 1)
    biases = np.array([round(bias / gain) for bias, gain in zip(BIASES, GAINS, strict=True)], np.int32)
    tensors = (
        Tensor(0, "in", "int8", (1, 8, 9, 1), Quantisation((1.0,), (-128,))),
        Tensor(1, "kernels", "int8", weights.shape, Quantisation(tuple(GAINS), (0,) * count), weights),
        Tensor(2, "bias", "int32", (count,), Quantisation(tuple(GAINS), (0,) * count), biases),
        Tensor(3, "out", "int8", (1, 8, 9, count), Quantisation((scale,), (0,))),
    )
    return Graph(dict(enumerate(tensors)), (Operator(0, "CONV_2D", (0, 1, 2), 3),), (0,), (3,))


def contradicted(blobs: Sequence[Blob], weights: Weights, graph: Graph) -> list[Contradiction]:
    epochs = (epoch for blob in blobs for epoch in epochs_of_blob(blob, NAMES))
    return contradictions(epochs, NAMES, weights, graph)


def found(
    kernels: Sequence[int] = KERNELS,
    factors: Sequence[int] = FACTORS,
    biases: Sequence[int] = BIASES,
    graph: Graph | None = None,
) -> list[str]:
    epoch = biased_layer(kernels, factors, biases)
    whole = blob_of_words(epoch.blob(), "layer")
    return [each.what for each in contradicted([whole], weights_in(epoch), graph or model())]


def with_one(values: Sequence[int], place: int, value: int) -> list[int]:
    return [*values[:place], value, *values[place + 1 :]]


def test_nothing_is_said_of_constants_that_follow_from_the_model() -> None:
    assert found() == []


def test_a_weight_that_is_not_the_model_s_is_counted() -> None:
    assert found(kernels=with_one(KERNELS, 3, 11)) == ["1 kernel value is not among those of the model"]


@pytest.mark.parametrize("channel", [0, 3, 4])
def test_the_last_bit_of_a_factor_is_named(channel: int) -> None:
    (what,) = found(factors=with_one(FACTORS, channel, FACTORS[channel] + 1))
    assert what.startswith(f"the factor of channel {channel} is 0.")


def test_a_bias_that_is_off_by_a_step_is_named() -> None:
    assert found(biases=with_one(BIASES, 1, -171)) == [
        "the bias of channel 1 is -171.0000 steps, where the model gives -170.0000"
    ]


def test_kernels_of_another_training_are_unknown() -> None:
    assert found(graph=model([1, 2, 3, 4, 5, 6])) == []


def test_a_layer_whose_channels_all_have_another_scale_is_unknown() -> None:
    assert found(graph=model(scale=1.25)) == []


@given(place=st.integers(0, 400), value=st.integers(0, 0xFFFF_FFFF))
def test_a_damaged_blob_is_read_or_refused(place: int, value: int) -> None:
    epoch = biased_layer(KERNELS, FACTORS, BIASES)
    read_or_refused(epoch, place, value, lambda blob, weights: contradicted([blob], weights, model()))


@pytest.mark.parametrize("name", telling_rows(NETWORKS, lambda name: name == "reid"))
def test_damages_of_real_networks_are_named_with_their_epoch(name: str) -> None:
    source, file = (sample(each) for each in NETWORKS[name])
    parsed = read_network_c(source)
    blobs = blobs_of_network(source, parsed.ecblobs_header)
    weights, graph = weights_beside(source, parsed.pools), read_graph(file)

    def told(words: Sequence[Blob], parts: dict[int, bytes]) -> set[int]:
        return {each.epoch for each in contradicted(words, Weights(parts, {}), graph)}

    assert told(blobs, weights) == set()
    network = Network(name, (), dict(enumerate(blobs, 1)), weights, {}, (), ())
    places = list(damage_places(network, set(range(1, 1000))))
    random = Random(7)
    found: Counter[str] = Counter()
    chosen = [random.choice([one for one in places if one.kind == kind]) for kind in 2 * KINDS]
    for each in chosen:
        # Lower bits need not have an effect. A bias has 16 bits here, and its upper half stands beside the factor.
        value = each.value ^ {"weight": 1, "scale": 1 << 5, "bias": 1 << 13, "shift": 1 << 16}[each.kind]
        if each.blob:
            words = list(blobs[each.blob - 1].words)
            words[each.place] = value
            damaged = [*blobs[: each.blob - 1], replace(blobs[each.blob - 1], words=tuple(words)), *blobs[each.blob :]]
            named = told(damaged, weights)
        else:
            named = told(blobs, {at: changed(at, data, {each.place: bytes([value])}) for at, data in weights.items()})
        assert named <= {each.epoch}, each
        found[each.kind] += len(named)
    # Factors of sums and products, and shifts of whole layers, are not compared.
    assert found["weight"] == 2
    assert found["scale"] + found["bias"] >= 3
