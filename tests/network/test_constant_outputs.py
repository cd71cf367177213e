"""Outputs that do not depend on the inputs, as the anchors of detection models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from graph_models import Graph, Value
from n6build.base.errors import N6Error
from n6build.compile.reference.compile_model import compile_network

from network.equality import assert_exact
from network.host_network import Build, extflash
from network.network_models import as_file

GIVEN = (0.0371, 11)
ANCHORS = np.random.default_rng(37).integers(-128, 128, (1, 30, 4), np.int8)


def model(make: Callable[[Graph, Value], Value]) -> bytes:
    """Return a model with an ordinary output, and one that only constants make."""
    graph = Graph()
    plain = graph.dequantize(graph.input((1, 6), *GIVEN))
    return graph.bytes(plain, make(graph, graph.constant(ANCHORS, *GIVEN)))


MODELS = {
    "a dequantised constant": model(lambda graph, anchors: graph.dequantize(anchors)),
    "a constant of another shape": model(lambda graph, anchors: graph.reshape(anchors, 1, 120)),
    "two operators on a constant": model(lambda graph, anchors: graph.reshape(graph.dequantize(anchors), 1, 120)),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_inference_makes_it(host_network: Build, name: str) -> None:
    assert_exact(host_network(MODELS[name]), MODELS[name], range(3))


def test_a_constant_that_only_an_operator_without_output_reads_is_refused(tmp_path: Path) -> None:
    """It would be computed in each inference, which a converter avoids."""
    file = as_file(model(lambda graph, anchors: graph.reshape(graph.logistic(anchors), 1, 120)), tmp_path)
    with pytest.raises(N6Error, match=r"N6-NET-007: operator 1 \(LOGISTIC\): tensor 'tensor_2' \(int8\) is a constant"):
        compile_network(file, extflash(), tmp_path)
