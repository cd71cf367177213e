"""Backend neural_art proves every model of the reference backend, or refuses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from graph_models import Graph, Value
from model_families import FAMILIES
from network.network_models import as_file
from one_op_models import Quantisation, conv_2d
from qdq_models import Layers, Scale, classifier, detector, residual
from samples import samples_folder
from slow_rows import slow_rows
from uint8_models import to_uint8

from own_blobs.random_networks import random_onnx, random_tflite
from own_blobs.surveyed import Outcome, outcome_of

SUFFIXES = (".tflite", ".onnx")
NOTHING_FOR_NPU, NOT_INTERPRETED = "N6-NET-030", "N6-COMPARE-002"
# A random model of each kind of fault that such models have found: two epochs of one name, a mean of a batch, parts.
TELLING_TFLITE, TELLING_ONNX = (1, 5, 6), (0,)
RANDOM_TFLITE, RANDOM_ONNX = 130, 70


def end_of(model: bytes, folder: Path, suffix: str = ".tflite") -> Outcome:
    return outcome_of(as_file(model, folder, f"model{suffix}"), folder)


def assert_told(outcome: Outcome) -> None:
    """Check that a model is proved, or refused with an id and a hint."""
    error = outcome.error
    if error is None:
        assert outcome.proof is not None
        return
    assert error.hint, f"{outcome} has no hint"
    if outcome.reference is None:
        assert error.id in (NOTHING_FOR_NPU, NOT_INTERPRETED), (
            f"the reference backend takes the model, but {error.what}"
        )


def _joined(graph: Graph) -> Value:
    """Return the lines of two convolutions of 1x1, joined."""
    source = graph.input((1, 8, 8, 16), zero_point=-128)
    one, other = (graph.conv(source, 16, 1, activation="RELU6") for _ in range(2))
    return graph.concat(one, other, axis=1)


def halves(graph: Graph) -> bytes:
    """Return a model whose output joins the lines of two convolutions of 1x1."""
    return graph.bytes(_joined(graph))


def halves_of_more(graph: Graph) -> bytes:
    """Return a model in which a convolution of the NPU reads a joined tensor."""
    return graph.bytes(graph.conv(_joined(graph), 16, 1))


@pytest.mark.parametrize(("make", "on_npu", "shifted"), [(halves, 3, 1), (halves_of_more, 5, 2)])
def test_a_tensor_that_is_joined_from_parts_has_a_buffer_of_its_own(
    make: Callable[[Graph], bytes], on_npu: int, shifted: int, tmp_path: Path
) -> None:
    outcome = end_of(make(Graph(3)), tmp_path)
    assert outcome.error is None
    assert outcome.compiled is not None
    lowered = outcome.compiled.lowered
    assert len(lowered.hardware) == on_npu
    assert [each.operator for each in lowered.on_cpu] == ["CONCATENATION"] * 2
    # Both parts are copied before the tensor is read as unsigned values, once.
    assert sum(epoch.node.endswith("_unsigned") for epoch in lowered.network.epochs) == shifted


@pytest.mark.parametrize("channels", [12, *slow_rows(11, 20)])
def test_channels_that_units_of_a_chain_cannot_share_evenly_are_summed_up_right(channels: int, tmp_path: Path) -> None:
    graph = Graph(3)
    source = graph.input((1, 6, 8, channels), zero_point=-128)
    outcome = end_of(graph.bytes(graph.conv(source, 16, 3, activation="RELU6")), tmp_path)
    assert outcome.error is None


def test_a_batch_of_images_stays_on_the_cpu(tmp_path: Path) -> None:
    graph = Graph(3)
    source = graph.input((2, 4, 4, 8), zero_point=-128)
    outcome = end_of(graph.bytes(graph.mean(source, 1, 2)), tmp_path)
    assert outcome.error is not None and outcome.error.id == NOTHING_FOR_NPU
    assert "a batch of 2 images: one was seen" in outcome.error.what


def test_a_depthwise_convolution_of_lines_stays_on_the_cpu(tmp_path: Path) -> None:
    layers = Layers(1)
    scale = Scale(0.03, -128)
    name, _ = layers.conv(layers.input([1, 16, 12], scale), scale, (16, 1, 3), group=16, pads=[1, 1])
    outcome = end_of(layers.model([name]), tmp_path, ".onnx")
    assert outcome.error is not None and outcome.error.id == NOTHING_FOR_NPU
    assert "a window of one dimension was not seen" in outcome.error.what


@pytest.mark.parametrize("scale", [2.0**-20, *slow_rows(2.0**-12, 2.0**10)])
def test_scales_far_apart_are_computed_right_or_named(scale: float, tmp_path: Path) -> None:
    graph = Graph(3)
    source = graph.input((1, 8, 8, 16), scale, -128)
    wide = graph.conv(source, 16, 1)
    assert_told(end_of(graph.bytes(graph.sum(graph.mean(wide, 1, 2), graph.mean(source, 1, 2))), tmp_path))


def test_a_convolution_whose_sums_are_coarser_than_its_output_goes_to_the_cpu(tmp_path: Path) -> None:
    weights = np.random.default_rng(1).integers(-127, 128, (16, 1, 1, 64), dtype=np.int8)
    # One kernel copies a channel: a step of its sums, in the 16 bits that all have, is 16 of its output.
    weights[0] = np.eye(1, 64, dtype=np.int8)
    scales = [1.0, *[5e-4] * 15]
    quantisation = Quantisation(1.0, -128)
    model = conv_2d((8, 8, 64), weights, np.zeros(16, np.int32), scales, quantisation, quantisation)
    outcome = end_of(model, tmp_path)
    assert outcome.error is not None and outcome.error.id == NOTHING_FOR_NPU
    assert "equal LiteRT's, furthest 8; 99 % are required, and all within 1" in outcome.error.what


def _rows(count: int, telling: tuple[int, ...]) -> list[object]:
    return [*telling, *slow_rows(*(seed for seed in range(count) if seed not in telling))]


@pytest.mark.parametrize("seed", _rows(RANDOM_TFLITE, TELLING_TFLITE))
def test_a_random_network(seed: int, tmp_path: Path) -> None:
    assert_told(end_of(random_tflite(seed), tmp_path))


@pytest.mark.parametrize("seed", _rows(RANDOM_ONNX, TELLING_ONNX))
def test_a_random_onnx_network(seed: int, tmp_path: Path) -> None:
    assert_told(end_of(random_onnx(seed), tmp_path, ".onnx"))


# The same kinds of operators are in the random networks.
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_a_network_of_each_family(family: str, dtype: str, tmp_path: Path) -> None:
    model = FAMILIES[family]()
    assert_told(end_of(to_uint8(model) if dtype == "uint8" else model, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("make", [classifier, residual, detector])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_an_onnx_network_of_each_family(make: Callable[..., bytes], dtype: str, tmp_path: Path) -> None:
    assert_told(end_of(make(dtype=dtype), tmp_path, ".onnx"))


def _of_samples() -> list[Path]:
    folder = samples_folder()
    found = [] if folder is None else [each for suffix in SUFFIXES for each in folder.rglob(f"*{suffix}")]
    # Some are links to others.
    return sorted({each.resolve() for each in found})


@pytest.mark.slow
@pytest.mark.parametrize("model", _of_samples(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_model_of_the_samples(model: Path, tmp_path: Path) -> None:
    assert_told(outcome_of(model, tmp_path, vectors=1))
