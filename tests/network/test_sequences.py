"""Networks with operators that keep a state from one inference to the next."""

from collections.abc import Callable

import numpy as np
import one_op_models as ops
import pytest
import sequence_models as models
from numpy.typing import NDArray
from one_op_models import Quantisation

from network.equality import assert_equal_everywhere, assert_equal_in_every_inference, random_inputs
from network.host_network import HostNetwork, extflash, noextmem
from network.network_models import chain

Build = Callable[..., HostNetwork]

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
    """A layer before and one behind the state, as in networks that listen."""
    given = Quantisation(0.02, 7)
    front = ops.fully_connected(1, _weights((10, 16), 1), np.zeros(10, np.int32), [0.004], given, IN)
    back = ops.fully_connected(1, _weights((3, 4), 2), np.zeros(3, np.int32), [0.01], IN, Quantisation(0.1, 0))
    return chain(front, svdf(), back, ops.softmax(1, 3, 0.1))


def two_layers() -> bytes:
    """The second LSTM reads what the first one made at every step."""
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


MODELS = {"lstm": lstm(), "two LSTMs": two_layers(), "SVDF": svdf(), "wake word": wake_word()}


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
