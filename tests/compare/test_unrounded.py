"""Results of operators before their last rounding, compared with LiteRT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graph_models import Graph
from n6build.compile.reference.tflite_reader import read_graph
from n6build.judge.compare.interpret import interpret, ports_of
from n6build.judge.compare.unrounded import Unrounded, unrounded
from samples import sample

MODELS = Path(__file__).resolve().parents[2] / "models"


def computed(model: Path) -> dict[str, tuple[Unrounded, np.ndarray, str]]:
    takes, _ = ports_of(model)
    random = np.random.default_rng(1)
    tensors = interpret(model, [random.integers(-128, 128, port.shape).astype(port.type) for port in takes])
    real = unrounded(read_graph(model), tensors)
    return {each.name: (real[each.name], each.values, each.operator) for each in tensors if each.name in real}


@pytest.mark.parametrize("name", ["miniresnet", "keyword", "anomaly"])
def test_litert_rounds_these_numbers(name: str) -> None:
    """LiteRT rounds in two steps, by little more than half a step in all."""
    found = computed(MODELS / name / f"{name}.tflite")
    assert found
    for tensor, (exact, values, operator) in found.items():
        assert np.abs(exact.values - values).max() < 0.6, (tensor, operator)
        assert (np.rint(exact.values) == values).mean() > 0.95, (tensor, operator)
        assert (exact.most >= exact.response > 0) == (operator in {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"})


def test_a_reshaped_tensor_has_the_numbers_of_its_source(tmp_path: Path) -> None:
    graph = Graph(3)
    mean = graph.mean(graph.input((1, 8, 8, 16), zero_point=-128), 1, 2)
    file = tmp_path / "model.tflite"
    file.write_bytes(graph.bytes(graph.reshape(mean, 1, 4, 1, 4)))
    source, reshaped = computed(file).values()
    assert (source[2], reshaped[2], reshaped[1].shape) == ("MEAN", "RESHAPE", (1, 4, 1, 4))
    assert np.array_equal(source[0].values.ravel(), reshaped[0].values.ravel())


def test_sums_and_means_are_known() -> None:
    model = "npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite"
    graph = read_graph(sample(model))
    assert {each.kind for each in graph.operators} >= {"ADD", "MEAN", "DEPTHWISE_CONV_2D"}
