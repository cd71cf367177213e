"""Operators of int32, with which models compute positions."""

from pathlib import Path

import elementwise_models as ops
import numpy as np
import pytest
from one_op_models import Tensor, write_model

from network.equality import assert_equal_everywhere
from network.host_network import Build
from network.network_models import chain, edit, freeze, model_error

POSITIONS = np.array([[0, 1, 47, 48, 49, 2303, -1, -48, -49]], np.int32)


@pytest.mark.parametrize("operator", ops.INTEGERS)
def test_an_operator_alone(host_network: Build, operator: str) -> None:
    rng = np.random.default_rng(1)
    divisors = np.array([48, -7, 1], np.int32)
    for constant, b in ((divisors, (3,)), (None, (1, 1, 3))):
        model = ops.unscaled(operator, ((1, 5, 3), b), constant)
        network = host_network(model)
        inputs = [rng.integers(-2000, 2000, (1, 5, 3), dtype=np.int32), divisors.reshape(1, 1, 3)]
        assert_equal_everywhere(network, model, list(inputs[: 1 if constant is not None else 2]))


def test_rows_and_columns_of_positions(host_network: Build) -> None:
    """Pose models find the row and column of a heatmap's highest element so."""
    width = np.array([48], np.int32)
    shapes = (POSITIONS.shape, width.shape)
    model = chain(
        ops.unscaled("FLOOR_DIV", shapes, width),
        ops.unscaled("MUL", shapes, width),
        ops.unscaled("SUB", (POSITIONS.shape, POSITIONS.shape)),
    )
    network = host_network(model)
    assert [epoch.kind for epoch in network.artifacts.epochs] == ["FloorDiv", "Mul", "Sub"]
    assert_equal_everywhere(network, model, [POSITIONS, POSITIONS])


def test_what_is_computed_from_constants_is_one(host_network: Build) -> None:
    """The two operators that compute a size leave no epoch.

    The last operator reads the network's input.
    """
    shape = (1, 3)
    size = ops.unscaled("MUL", (shape, shape), np.array([[3, 5, -7]], np.int32))

    first = freeze(0, np.array([[2**30, 9, -4]], np.int32))
    halves = ops.unscaled("FLOOR_DIV", (shape, shape), np.array([[2, 2, 3]], np.int32))
    model = edit(chain(size, halves, ops.unscaled("SUB", (shape, shape))), first)
    network = host_network(model)
    assert [epoch.kind for epoch in network.artifacts.epochs] == ["Sub"]
    assert_equal_everywhere(network, model, [np.array([[1, 2, 3]], np.int32)])


def test_a_quotient_by_zero_is_zero(host_network: Build) -> None:
    """The reference resolver stops at a division by zero."""
    network = host_network(ops.unscaled("FLOOR_DIV", (POSITIONS.shape, (1, 1))))
    (output,) = network.trace([POSITIONS, np.zeros((1, 1), np.int32)]).values()
    assert not any(output)


def test_types_are_not_mixed_and_nothing_is_clamped(tmp_path: Path) -> None:
    tensors = [Tensor(name, (1, 4), np.int32) for name in ("a", "b", "output")]
    error = model_error(write_model("ADD", tensors, "Add", fusedActivationFunction="RELU6"), tmp_path)
    assert error.id == "N6-NET-007"
    assert "operator 0 (ADD): activation RELU6 is not supported for int32" in error.what
    tensors[1] = Tensor("b", (1, 4), np.int8, ops.FIXED_OUTPUT["TANH"])
    error = model_error(write_model("ADD", tensors, "Add"), tmp_path)
    assert error.id == "N6-NET-004"
    assert "'b' (int8) has another type than 'output' (int32)" in error.what
