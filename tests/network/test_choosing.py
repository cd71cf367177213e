"""Operators that compare, choose and find elements by a computed index."""

from itertools import product
from pathlib import Path
from typing import Any

import choosing_models as ops
import movement_models
import numpy as np
import pytest
import reference_interpreter
from ai_edge_litert import schema_py_generated as schema
from movement_models import random_inputs, random_values
from numpy.typing import NDArray
from one_op_models import Quantisation
from slow_rows import slow_rows

from network.equality import assert_equal_everywhere, assert_exact
from network.host_network import Build
from network.network_models import chain, edit, freeze, model_error, set_tensor

SHAPES = (((1, 5, 4), (1, 5, 4)), ((1, 5, 4), (4,)), ((1, 5, 1), (1, 1, 4)))


def _few(shape: Any, dtype: type[np.generic], seed: int) -> NDArray[np.generic]:
    """Return values of which many are equal and others far apart."""
    values: NDArray[np.generic] = np.random.default_rng(seed).choice([-100, -2, -1, 0, 1, 2, 99], shape).astype(dtype)
    return values


COMPARED: list[type[np.generic]] = [np.int8, np.uint8, np.int32, np.int64, np.float32]


def _is_telling(relation: str, dtype: type[np.generic]) -> bool:
    """Choose each relation for one or two types, and each type for two relations."""
    return ([*ops.RELATIONS].index(relation) + COMPARED.index(dtype)) % 3 == 0


@pytest.mark.parametrize(
    ("relation", "dtype"),
    [
        *(
            pytest.param(*each, marks=() if _is_telling(*each) else pytest.mark.slow)
            for each in product(ops.RELATIONS, COMPARED)
        ),
        ("Equal", np.bool_),
        ("NotEqual", np.bool_),
    ],
)
def test_elements_are_compared(host_network: Build, relation: str, dtype: type[np.generic]) -> None:
    for shapes in SHAPES:
        model = ops.comparison(relation, shapes, dtype)
        inputs = [_few(shape, dtype, seed) for seed, shape in enumerate(shapes)]
        network = host_network(model)
        network.trace(inputs)
        assert list(network.final.values()) == [out.tobytes() for out in reference_interpreter.outputs(model, *inputs)]


@pytest.mark.parametrize("kind", ["And", "Or", "Not"])
def test_conditions_are_one(host_network: Build, kind: str) -> None:
    for shapes in SHAPES:
        model = ops.logical(kind, shapes[: 1 if kind == "Not" else 2])
        assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32])
def test_elements_are_chosen(host_network: Build, dtype: type[np.generic]) -> None:
    shapes = (
        ((1, 5, 4), (1, 5, 4), (1, 5, 4)),
        ((1, 5, 1), (1, 1, 4), (1, 5, 4)),
        ((4,), (1, 1, 1), (1, 5, 4)),
        ((1, 1, 4), (1, 3, 1), (1, 1, 1)),
    )
    for condition, chosen, other in shapes:
        model = ops.select(condition, chosen, other, dtype)
        assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))
    constant = random_values((1, 5, 4), np.dtype(dtype), 3)
    model = ops.select((5, 1), (1, 5, 4), (1, 5, 4), dtype, constant)
    assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))


@pytest.mark.parametrize("condition", [(5, 4), (5,), ()])
def test_one_condition_is_for_a_row(host_network: Build, condition: tuple[int, ...]) -> None:
    model = ops.select(condition, (5, 4), (5, 4), kind="Select")
    for seed in range(3):
        assert_equal_everywhere(host_network(model), model, random_inputs(model, seed))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.float32, *slow_rows(np.int16, np.int64, np.bool_)])
def test_elements_are_found_by_an_index_that_is_computed(
    host_network: Build, dtype: type[np.generic], wide: bool
) -> None:
    rng = np.random.default_rng(1)
    for shape, axis, batch in (((4, 3), 0, 0), ((2, 3, 5, 2), 2, 1), ((2, 3, 5), 2, 2), ((2, 3, 5), 1, 0)):
        model = ops.gather(shape, (*shape[:batch], 7), axis, batch, dtype, wide)
        indices = rng.integers(0, shape[axis], (*shape[:batch], 7)).astype(np.int64 if wide else np.int32)
        assert_equal_everywhere(host_network(model), model, [random_values(shape, np.dtype(dtype), 1), indices])
    for depth in (1, 2, 3):
        shape = (4, 3, 5)
        model = ops.gather_nd(shape, (2, 6, depth), dtype, wide)
        indices = np.stack([rng.integers(0, size, (2, 6)) for size in shape[:depth]], -1)
        indices = indices.astype(np.int64 if wide else np.int32)
        assert_equal_everywhere(host_network(model), model, [random_values(shape, np.dtype(dtype), 1), indices])


def test_a_table_is_looked_up(host_network: Build) -> None:
    """Embeddings are like this: the table is a constant."""
    table = random_values((9, 4), np.dtype(np.int8), 1)
    model = edit(ops.gather((9, 4), (3,), 0), freeze(0, table))
    assert_equal_everywhere(host_network(model), model, [np.array([8, 0, 3], np.int32)])


def test_an_index_that_does_not_exist_is_the_nearest_one(host_network: Build) -> None:
    """The reference resolver stops at such an index."""
    values = np.arange(5, dtype=np.int8)
    for model in (ops.gather((5,), (4,), 0), ops.gather_nd((5,), (4, 1))):
        (output,) = host_network(model).trace([values, np.array([-1, 5, 2**31 - 1, -(2**31)], np.int32)]).values()
        assert np.frombuffer(output, np.int8).tolist() == [0, 4, 4, 0]


def test_a_mask_of_scores(host_network: Build) -> None:
    """Detectors use such masks: a score below a threshold becomes the lowest one."""
    shape, scale = (1, 6, 5), movement_models.SCALED
    compared = ops.comparison("Less", (shape, (1, 1, 1)), np.int8, (scale, scale))
    model = chain(compared, ops.logical("Not", [shape]), ops.select(shape, shape, (1, 1, 1)))
    assert_exact(host_network(model), model, kinds=["Less", "LogicalNot", "SelectV2", "SelectV2"])


REFUSED = {
    "a scale of 1": (
        ops.comparison("Less", ((4,), (4,)), np.int8, (Quantisation(1.0), Quantisation(0.1))),
        "N6-NET-006",
        "tensor 'a' (int8) has the scale 1, it has to be less than 1",
    ),
    "two types": (
        edit(ops.comparison("Less", ((4,), (4,)), np.int32), set_tensor(1, type=schema.TensorType.FLOAT32)),
        "N6-NET-004",
        "tensor 'b' (float32) has another type than 'a' (int32)",
    ),
    "an order of conditions": (
        edit(ops.comparison("Less", ((4,), (4,)), np.int32), set_tensor(0, type=schema.TensorType.BOOL)),
        "N6-NET-004",
        "tensor 'a' (bool) has to be int8 or int32",
    ),
    "a choice of two types": (
        edit(ops.select((4,), (4,), (4,), np.int32), set_tensor(1, type=schema.TensorType.FLOAT32)),
        "N6-NET-004",
        "tensor 'chosen' (float32) has another type than 'output0' (int32)",
    ),
    "too many indices": (
        edit(ops.gather_nd((4, 3), (2, 2)), set_tensor(1, shape=[2, 3])),
        "N6-NET-007",
        "tensor 'indices' (int32) [2, 3] does not index 'input' (int8) [4, 3]",
    ),
    "batches that differ": (
        edit(ops.gather((2, 5), (2, 7), 1, 1), set_tensor(1, shape=[7, 2])),
        "N6-NET-007",
        "do not have 1 dimensions in common in front of axis 1",
    ),
    "another type of the output": (
        edit(ops.gather_nd((4, 3), (2, 2), np.int32), set_tensor(2, type=schema.TensorType.FLOAT32)),
        "N6-NET-004",
        "tensor 'output0' (float32) has to be int32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_computed_is_refused(tmp_path: Path, name: str) -> None:
    model, identity, words = REFUSED[name]
    error = model_error(model, tmp_path)
    assert (error.id, words in error.what) == (identity, True), error
