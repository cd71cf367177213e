"""Networks with operators that keep a state from one inference to the next."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import one_op_models as ops
import pytest
import sequence_models as models
import streaming_models as streaming
from ai_edge_litert import schema_py_generated as schema
from movement_models import random_inputs
from numpy.typing import NDArray
from one_op_models import Quantisation
from uint8_models import to_uint8

from network.equality import assert_equal_everywhere, assert_equal_in_every_inference
from network.host_network import Build, extflash, noextmem
from network.network_models import (
    Change,
    chain,
    edit,
    model_error,
    set_operator,
    set_options,
    set_quantisation,
    set_tensor,
)

IN = Quantisation(0.05, 3)
HIDDEN = Quantisation(0.0075, -9)


def _weights(shape: tuple[int, ...], seed: int) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-127, 128, shape, dtype=np.int8)


def lstm(steps: int = 5, inputs: int = 12, cells: int = 9, given: Quantisation = IN) -> bytes:
    return models.lstm(
        steps,
        [_weights((cells, inputs), seed) for seed in range(4)],
        [_weights((cells, cells), 10 + seed) for seed in range(4)],
        [np.random.default_rng(seed).integers(-3000, 3000, cells, dtype=np.int32) for seed in range(4)],
        [0.004, 0.003, 0.005, 0.002],
        [0.003, 0.004, 0.002, 0.005],
        given,
        HIDDEN,
    )


def svdf(given: Quantisation = IN, output: Quantisation = IN) -> bytes:
    rng = np.random.default_rng(5)
    return models.svdf(
        _weights((8, 10), 3),
        rng.integers(-12000, 12001, (8, 6), dtype=np.int16),
        rng.integers(-30000, 30000, 4, dtype=np.int32),
        (0.01, 1e-5, 0.001),
        given,
        output,
        rank=2,
    )


def wake_word() -> bytes:
    """Return a network with a layer before and one after the state.

    Networks that listen are like this.
    """
    given = Quantisation(0.02, 7)
    front = ops.fully_connected(1, _weights((10, 16), 1), np.zeros(10, np.int32), [0.004], given, IN)
    back = ops.fully_connected(1, _weights((3, 4), 2), np.zeros(3, np.int32), [0.01], IN, Quantisation(0.1, 0))
    return chain(front, svdf(), back, ops.softmax(1, 3, 0.1))


def two_layers() -> bytes:
    """Return a network of two LSTMs: the second reads every step of the first."""
    return chain(
        lstm(),
        models.lstm(
            5,
            [_weights((7, 9), 20 + seed) for seed in range(4)],
            [_weights((7, 7), 30 + seed) for seed in range(4)],
            [np.zeros(7, np.int32)] * 4,
            [0.01] * 4,
            [0.004] * 4,
            HIDDEN,
            Quantisation(0.006, 2),
        ),
    )


STREAMING = {
    "ring of rows": streaming.ring(),
    "old and new value": streaming.late(),
    "variable that follows another": streaming.two(),
}
MODELS = {"lstm": lstm(), "two LSTMs": two_layers(), "SVDF": svdf(), "wake word": wake_word(), **STREAMING}


STREAMING_UINT8 = {name: to_uint8(model) for name, model in STREAMING.items()}


@pytest.mark.parametrize("name", STREAMING_UINT8)
def test_variables_of_uint8(host_network: Build, name: str) -> None:
    model = STREAMING_UINT8[name]
    runs = [random_inputs(model, seed) for seed in range(4)]
    assert_equal_in_every_inference(host_network(model), model, runs)


OTHERS = {
    "mean over channels": ops.reduction("MEAN", (1, 5, 7, 12), (3,), IN, HIDDEN),
    "mean over width": ops.reduction("MEAN", (1, 5, 7, 12), (2,), IN, HIDDEN, keep_dims=False),
    "mean over height and channels": ops.reduction("MEAN", (1, 5, 7, 12), (1, -1), IN, HIDDEN),
    "mean over time": ops.reduction("MEAN", (1, 30, 8), (1,), IN, HIDDEN, keep_dims=False),
    "mean of everything": ops.reduction("MEAN", (4, 6), (0, 1), IN, HIDDEN, keep_dims=False),
    "largest": ops.reduction("REDUCE_MAX", (1, 5, 7, 12), (1, 2), IN, IN),
    "smallest": ops.reduction("REDUCE_MIN", (1, 40, 6), (2,), IN, IN, keep_dims=False),
    "log softmax": models.by_rows("LOG_SOFTMAX", (1, 12), Quantisation(0.1, 4)),
    "unit vectors": models.by_rows("L2_NORMALIZATION", (1, 3, 64), IN),
    "class of each pixel": models.search("Max", (1, 6, 5, 21), -1, np.int64, IN),
    "index of the smallest": models.search("Min", (1, 30), 1, np.int32, IN),
    "attention": models.batch_matmul((1, 2, 9, 8), (1, 2, 9, 8), IN, HIDDEN, IN, adj_y=True),
    "matrix of weights": models.batch_matmul((1, 9, 8), (8, 5), IN, HIDDEN, IN, y_values=_weights((8, 5), 4)),
    "transposed convolution": models.transpose_conv(
        (8, 10, 6), _weights((6, 2, 2, 5), 1), np.arange(6, dtype=np.int32), [0.01] * 6, IN, Quantisation(0.4, 3)
    ),
    "rows of a fully connected layer": ops.fully_connected(
        7, _weights((13, 37), 1), np.zeros(13, np.int32), [0.005] * 13, IN, Quantisation(0.4, 3)
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_operator_alone(host_network: Build, name: str) -> None:
    network = host_network(OTHERS[name])
    for seed in range(6):
        tensors, _ = assert_equal_everywhere(network, OTHERS[name], random_inputs(OTHERS[name], seed))
        assert tensors == 1


def _input(place: int, tensor: int) -> Callable[[Any], None]:
    def change(tree: Any) -> None:
        operator = tree.subgraphs[0].operators[0]
        operator.inputs = [tensor if at == place else int(index) for at, index in enumerate(operator.inputs)]

    return change


def _state_as_input(tree: Any) -> None:
    tree.subgraphs[0].inputs = [0, 13]


def _axis_outside(tree: Any) -> None:
    tree.buffers[tree.subgraphs[0].tensors[1].buffer].data = np.array([7], np.int32).view(np.uint8)


def _called_as_well(subgraph: int) -> Callable[[Any], None]:
    def change(tree: Any) -> None:
        operator = copy.deepcopy(tree.subgraphs[0].operators[0])
        operator.builtinOptions.initSubgraphIndex = subgraph
        tree.subgraphs[0].operators.append(operator)

    return change


def _another_subgraph(tree: Any) -> None:
    tree.subgraphs.append(tree.subgraphs[1])


def _first_that_is_computed(tree: Any) -> None:
    (value,) = (each for each in tree.subgraphs[1].tensors if each.buffer)
    value.buffer = 0


def _first_of_another_shape(tree: Any) -> None:
    (value,) = (each for each in tree.subgraphs[1].tensors if each.buffer)
    value.shape = [1, 1, streaming.KEPT, streaming.CHANNELS]


# Each row is (change, error id, words of the error), in the last table behind the model.
Row = tuple[Change, str, tuple[str, ...]]
REFUSED_VARIABLES: dict[str, Row] = {
    "a variable without first value": (set_options(0, 1, sharedName="other"), "N6-NET-008", ("'ring' has no",)),
    "a first value of another shape": (_first_of_another_shape, "N6-NET-008", ("another type or shape",)),
    "a first value that is computed": (_first_that_is_computed, "N6-NET-008", ("is no constant",)),
    "a subgraph for something else": (_another_subgraph, "N6-NET-008", ("3 subgraphs",)),
    "a first subgraph that is not called": (set_options(initSubgraphIndex=7), "N6-NET-008", ("2 subgraphs",)),
    "a first subgraph that is missing": (_called_as_well(7), "N6-NET-002", ("no subgraph 7 of 2",)),
    "a subgraph that calls itself": (set_options(initSubgraphIndex=0), "N6-NET-008", ("2 subgraphs",)),
    "a variable without handle": (set_operator(2, inputs=[0]), "N6-NET-002", ("no handle",)),
    "a variable that is read twice at once": (set_operator(2, outputs=[2, 0]), "N6-NET-002", ("2 outputs",)),
    "a variable of two scales": (
        set_quantisation(2, scale=[0.2]),
        "N6-NET-006",
        ("'ring' has another type, shape or scale",),
    ),
}
REFUSED_STATES: dict[str, Row] = {
    "a state that is none": (set_tensor(13, isVariable=False), "N6-NET-002", ("tensor 13 before",)),
    "a variable elsewhere": (set_tensor(1, isVariable=True), "N6-NET-002", ("'weights0'", "constant")),
    "a state that is an input": (_state_as_input, "N6-NET-002", ("variable",)),
    "a projection": (_input(16, 1), "N6-NET-007", ("projection",)),
    "peepholes": (_input(9, 14), "N6-NET-007", ("'cell state'",)),
    "three gates": (_input(1, -1), "N6-NET-007", ("not 24",)),
    "a scale of the cells": (
        set_quantisation(14, scale=[0.001]),
        "N6-NET-006",
        ("'cell state' (int16)", "power of two"),
    ),
    "no scale of the output": (set_operator(intermediates=[]), "N6-NET-006", ("intermediate tensor 4",)),
    "another activation": (
        set_options(fusedActivationFunction=schema.ActivationFunctionType.RELU),
        "N6-NET-008",
        ("TANH",),
    ),
}
REFUSED: dict[str, tuple[bytes, Change, str, tuple[str, ...]]] = {
    **{name: (streaming.ring(), *row) for name, row in REFUSED_VARIABLES.items()},
    **{name: (lstm(), *row) for name, row in REFUSED_STATES.items()},
    "a variable of other first values": (
        streaming.ring(streaming.zeros() + 1),
        lambda _: None,
        "N6-NET-008",
        ("'ring' are not all the 251",),
    ),
    "an axis": (OTHERS["mean over time"], _axis_outside, "N6-NET-007", ("'axes' (int32)", "[7]", "3 dimensions")),
    "axes in three places": (
        ops.reduction("MEAN", (2, 3, 2, 3, 2), (0, 2, 4), IN, IN),
        lambda _: None,
        "N6-NET-007",
        ("three groups",),
    ),
    "an axis to search": (OTHERS["index of the smallest"], _axis_outside, "N6-NET-007", ("'axis' (int32)",)),
    "another scale of the largest": (
        OTHERS["largest"],
        set_quantisation(2, scale=[0.01]),
        "N6-NET-006",
        ("same scale",),
    ),
    "another scale of log softmax": (
        OTHERS["log softmax"],
        set_quantisation(1, scale=[0.01]),
        "N6-NET-006",
        ("1/16 and 127",),
    ),
    "matrices": (OTHERS["attention"], set_tensor(1, shape=[1, 2, 9, 7]), "N6-NET-007", ("[1, 2, 9, 7]", "do not fit")),
    "a transposed convolution": (
        OTHERS["transposed convolution"],
        set_tensor(2, shape=[1, 4, 4, 5]),
        "N6-NET-007",
        ("does not lead to",),
    ),
    "the rank of an SVDF": (svdf(), set_options(rank=3), "N6-NET-007", ("8 filters of rank 3",)),
}


def test_the_shape_of_an_intermediate_tensor_does_not_count(host_network: Build) -> None:
    def without_elements(tree: Any) -> None:
        for index in tree.subgraphs[0].operators[0].intermediates:
            tree.subgraphs[0].tensors[int(index)].shape = [0]

    model = edit(lstm(), without_elements)
    assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str, tmp_path: Path) -> None:
    model, change, identity, words = REFUSED[name]
    error = model_error(edit(model, change), tmp_path)
    assert error.id == identity, error.what
    assert [word for word in words if word not in error.what] == [], error.what


@pytest.mark.parametrize("profile", [extflash, noextmem])
@pytest.mark.parametrize("name", MODELS)
def test_every_inference_goes_on_from_the_one_before(
    host_network: Build, name: str, profile: Callable[[], object]
) -> None:
    model = MODELS[name]
    network = host_network(model, profile())
    assert_equal_in_every_inference(network, model, [random_inputs(model, seed) for seed in range(8)])


@pytest.mark.parametrize("name", MODELS)
def test_an_initialised_network_starts_anew(host_network: Build, name: str) -> None:
    model = MODELS[name]
    network = host_network(model)
    inputs = random_inputs(model, 1)
    network.trace_inferences([random_inputs(model, seed) for seed in range(3)])
    assert_equal_everywhere(network, model, inputs)
    assert network.trace_inferences([inputs, inputs])[0] != network.trace_inferences([inputs, inputs])[1]


@pytest.mark.parametrize("name", MODELS)
def test_nothing_else_ever_lies_where_a_state_is_kept(host_network: Build, name: str) -> None:
    network = host_network(MODELS[name])
    buffers = [*network.inputs, *network.outputs, *network.internals]
    states = [buffer for buffer in buffers if buffer[0].startswith("State_")]
    assert states
    for state in states:
        for other in buffers:
            assert other is state or other[1] + other[2] <= state[1] or state[1] + state[2] <= other[1], (state, other)
