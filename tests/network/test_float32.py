"""Operators of float32, for positions and distances behind a quantised part."""

from pathlib import Path

import elementwise_models as ops
import numpy as np
import pytest
from ai_edge_litert.schema_py_generated import TensorType
from kernels.elementwise_cases import reals
from sequence_models import search

from network.equality import assert_equal_everywhere
from network.host_network import Build
from network.network_models import edit, model_error, set_tensor

CLAMPS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}


@pytest.mark.parametrize("operator", ops.FLOAT_BINARY)
def test_an_operator_of_two(host_network: Build, operator: str) -> None:
    """The results include subnormal ones and overflows."""
    rng = np.random.default_rng(1)
    for shapes in (((1, 60, 40), (1, 60, 40)), ((1, 60, 1), (1, 1, 40)), ((40,), (1, 60, 40))):
        inputs = [reals(rng, shape) for shape in shapes]
        for constant in (None, inputs[1]):
            model = ops.unscaled(operator, shapes, constant, np.float32)
            assert_equal_everywhere(host_network(model), model, list(inputs[: 1 if constant is not None else 2]))


@pytest.mark.parametrize("activation", CLAMPS)
@pytest.mark.parametrize("operator", ops.ACTIVATED)
def test_a_fused_activation_clamps(host_network: Build, operator: str, activation: str) -> None:
    rng = np.random.default_rng(2)
    model = ops.unscaled(operator, ((1, 90), (90,)), None, np.float32, fusedActivationFunction=CLAMPS[activation])
    assert_equal_everywhere(host_network(model), model, [reals(rng, (1, 90)), reals(rng, (90,))])


@pytest.mark.parametrize("operator", ops.FLOAT_UNARY)
def test_an_operator_of_one(host_network: Build, operator: str) -> None:
    rng = np.random.default_rng(3)
    model = ops.unscaled(operator, [(1, 2000)], dtype=np.float32)
    network = host_network(model)
    for _ in range(4):
        assert_equal_everywhere(network, model, [reals(rng, (1, 2000), positive="SQRT" in operator)])


@pytest.mark.parametrize("kind", ["Max", "Min"])
def test_the_first_largest_and_smallest_are_found(host_network: Build, kind: str) -> None:
    rng = np.random.default_rng(4)
    for axis in (0, 1, -1):
        model = search(kind, (4, 9, 5), axis)
        assert_equal_everywhere(host_network(model), model, [rng.choice(reals(rng, (7,)), (4, 9, 5))])


def test_an_operator_of_float32_alone_names_what_there_is_for_int8(tmp_path: Path) -> None:
    model = ops.unscaled("SQUARE", [(1, 4)], dtype=np.float32)

    for position in (0, 1):
        model = edit(model, set_tensor(position, type=TensorType.INT8))
    error = model_error(model, tmp_path)
    assert (error.id, error.hint) == ("N6-NET-004", "replace it by MUL")


def test_a_quotient_by_zero_is_the_largest_number(host_network: Build) -> None:
    model = ops.unscaled("DIV", ((1, 2), (1, 2)), None, np.float32)
    inputs = [np.array([[1, -1]], np.float32), np.zeros((1, 2), np.float32)]
    assert_equal_everywhere(host_network(model), model, list(inputs))
