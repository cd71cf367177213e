"""Outputs that do not depend on the inputs, as the anchors of detection models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import one_op_models as ops
import pytest
from n6build.base.errors import N6Error
from n6build.compile.reference.compile_model import compile_network
from one_op_models import Quantisation, Tensor

from network.equality import assert_exact
from network.host_network import Build, extflash
from network.network_models import as_file

GIVEN = Quantisation(0.0371, 11)
ANCHORS = np.random.default_rng(37).integers(-128, 128, (1, 30, 4), np.int8)
FLAT = np.array([1, 120], np.int32)


def model(*operators: tuple[str, str, Sequence[int], int], made: Sequence[Tensor]) -> bytes:
    """Return a model with an ordinary output, and one that only constants make.

    Args:
        operators: Name, table of options, inputs and output of each operator; tensor 1 holds the anchors.
        made: Tensors behind those of the ordinary output and the shape.
    """
    tensors = [
        Tensor("input", (1, 6), np.int8, GIVEN),
        Tensor("anchors", ANCHORS.shape, np.int8, GIVEN, ANCHORS),
        Tensor("shape", FLAT.shape, np.int32, None, FLAT),
        Tensor("plain", (1, 6), np.float32),
        *made,
    ]
    tree = ops.model_of(tensors)
    graph = tree.subgraphs[0]
    for name, table, inputs, output in (("DEQUANTIZE", "Dequantize", [0], 3), *operators):
        tree.operatorCodes.append(ops.code_of(name, 2 if name == "DEQUANTIZE" else 1))
        graph.operators.append(ops.operator_of(len(tree.operatorCodes) - 1, inputs, [output], table))
    graph.inputs, graph.outputs = [0], [3, len(tensors) - 1]
    return ops.packed(tree)


FLOAT, BYTES = Tensor("made", ANCHORS.shape, np.float32), Tensor("made", (1, 120), np.int8, GIVEN)
MODELS = {
    "a dequantised constant": model(("DEQUANTIZE", "Dequantize", [1], 4), made=[FLOAT]),
    "a constant of another shape": model(("RESHAPE", "Reshape", [1, 2], 4), made=[BYTES]),
    "two operators on a constant": model(
        ("DEQUANTIZE", "Dequantize", [1], 4),
        ("RESHAPE", "Reshape", [4, 2], 5),
        made=[FLOAT, Tensor("flat", (1, 120), np.float32)],
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_inference_makes_it(host_network: Build, name: str) -> None:
    assert_exact(host_network(MODELS[name]), MODELS[name], range(3))


def test_a_constant_that_only_an_operator_without_output_reads_is_refused(tmp_path: Path) -> None:
    """It would be computed in each inference, which a converter avoids."""
    logistic = Tensor("logistic", ANCHORS.shape, np.int8, Quantisation(1 / 256, -128))
    made = [logistic, Tensor("made", (1, 120), np.int8, logistic.quantisation)]
    file = as_file(model(("LOGISTIC", "", [1], 4), ("RESHAPE", "Reshape", [4, 2], 5), made=made), tmp_path)
    with pytest.raises(N6Error, match=r"N6-NET-007: operator 1 \(LOGISTIC\): tensor 'anchors' \(int8\) is a constant"):
        compile_network(file, extflash(), tmp_path)
