"""Float32 in ONNX models equals onnxruntime within stated ulps."""

from collections.abc import Callable
from pathlib import Path

import float_islands
import numpy as np
import pytest
import random_islands
from kernels.graph_on_host import GraphOnHost
from kernels.host_kernels import HostKernels
from n6build.compile.reference.onnx.reader import read_onnx_graph
from slow_rows import slow_rows, telling_rows

from network.host_network import Build
from network.onnx_equality import onnx_graph, outputs_of, random_onnx_inputs

Ulps = Callable[[bytes], float]


@pytest.fixture(scope="module")
def host_kernels(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    return HostKernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def ulps(host_kernels: HostKernels, tmp_path: Path) -> Ulps:
    """Return a function that measures a model's distance from onnxruntime.

    It is the largest, in ulps of the largest number of an output. Integers have to be equal.
    """

    def measured(model: bytes) -> float:
        graph = onnx_graph(model, tmp_path)
        return max(
            float_islands.distance(
                GraphOnHost(host_kernels, graph).run(inputs := random_onnx_inputs(model, seed)),
                outputs_of(model, inputs),
            )
            for seed in range(4)
        )

    return measured


@pytest.mark.parametrize("name", float_islands.EXACT)
def test_an_operator_that_rounds_like_onnxruntime(ulps: Ulps, name: str) -> None:
    assert ulps(float_islands.EXACT[name]) == 0


@pytest.mark.parametrize("name", float_islands.CLOSE)
def test_an_operator_that_is_close_to_onnxruntime(ulps: Ulps, name: str) -> None:
    allowed, model = float_islands.CLOSE[name]
    assert ulps(model) <= allowed


WHOLE = {**float_islands.EXACT, **{name: model for name, (_, model) in float_islands.CLOSE.items()}}


@pytest.mark.parametrize(
    "name", telling_rows(WHOLE, lambda name: name in ("top k", "softmax", "conv in groups", "cast to integers"))
)
def test_a_whole_network_gives_what_its_graph_gives(host_network: Build, host_kernels: HostKernels, name: str) -> None:
    """Memory is shared by buffers, and taken over in place."""
    network = host_network(WHOLE[name])
    inputs = random_onnx_inputs(WHOLE[name], 0)
    network.trace(inputs)
    made = GraphOnHost(host_kernels, read_onnx_graph(network.model)).run(inputs)
    assert list(network.final.values()) == [np.ascontiguousarray(each).tobytes() for each in made]


Kinds = Callable[[bytes], tuple[list[str], float]]


@pytest.fixture
def steps(host_kernels: HostKernels, tmp_path: Path) -> Kinds:
    """Return a function that measures the share of outputs that differ.

    It also returns the kinds of the model's operators.

    No output may differ by more than one step.
    """

    def measured(model: bytes) -> tuple[list[str], float]:
        graph = onnx_graph(model, tmp_path)
        differing = elements = 0
        for seed in range(4):
            inputs = random_onnx_inputs(model, seed)
            (made,) = GraphOnHost(host_kernels, graph).run(inputs)
            (wanted,) = outputs_of(model, inputs)
            distances = np.abs(made.reshape(wanted.shape) - wanted)
            step = np.unique(np.abs(wanted))[:2].max()
            assert distances.max() <= step * 1.001
            differing, elements = differing + int(np.count_nonzero(distances)), elements + distances.size
        return [operator.kind for operator in graph.operators], differing / elements

    return measured


@pytest.mark.parametrize("groups", [1, 4])
def test_a_batch_normalisation_becomes_constants_of_the_convolution_in_front(steps: Kinds, groups: int) -> None:
    kinds, differing = steps(float_islands.normalised_convolution(groups))
    assert [kind for kind in kinds if "Conv" in kind or kind in ("MUL", "ADD")] == ["QLinearConv"]
    assert differing < 0.002


def test_float32_weights_that_int8_holds_are_int8(steps: Kinds) -> None:
    """Some tools store quantised weights as real numbers."""
    kinds, differing = steps(float_islands.with_real_weights())
    assert "QLinearConv" in kinds
    assert "FloatConv" not in kinds
    assert differing < 0.002


def test_other_float32_weights_make_a_convolution_of_float32(steps: Kinds) -> None:
    kinds, differing = steps(float_islands.with_real_weights(exact=False))
    assert "FloatConv" in kinds
    assert differing < 0.002


@pytest.mark.parametrize("first", [0, *slow_rows(100, 200, 300)])
def test_random_graphs_stay_within_the_ulps_of_their_operators(
    host_kernels: HostKernels, tmp_path: Path, first: int
) -> None:
    """`tools/bench.py islands` compares 2,000 of them."""
    for seed in range(first, first + 100):
        found = random_islands.compared(host_kernels, tmp_path, seed)
        assert found.is_within(), f"seed {seed}: {found}"


@pytest.mark.parametrize("first", [0, *slow_rows(100, 200, 300)])
def test_random_boxes_are_selected_like_in_onnxruntime(host_kernels: HostKernels, tmp_path: Path, first: int) -> None:
    """`tools/bench.py islands` compares 2,000 of them."""
    differing = [
        seed for seed in range(first, first + 100) if random_islands.selection_distance(host_kernels, tmp_path, seed)
    ]
    assert not differing
