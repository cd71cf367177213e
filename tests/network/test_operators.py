"""Each operator in each of its forms has the reference interpreter's bits.

Operators that are folded away leave no epoch.
"""

from typing import Any

import numpy as np
import one_op_models as ops
import pytest
from movement_models import random_inputs
from one_op_models import Quantisation

from network.equality import assert_equal_everywhere, assert_exact
from network.host_network import Build, HostNetwork
from network.network_models import chain, edit, freeze, set_operator

IN = Quantisation(0.05, 3)
OUT = Quantisation(0.11, -7)
LOWEST = Quantisation(0.05, -128)


def _weights(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-127, 128, shape, dtype=np.int8)


def _bias(count: int) -> np.ndarray:
    return np.random.default_rng(2).integers(-3000, 3000, count, dtype=np.int32)


def _scales(count: int) -> list[float]:
    return [float(scale) for scale in np.random.default_rng(3).uniform(0.0005, 0.02, count)]


def conv(source: Quantisation = IN, channels: int = 5, depth: int = 3, size: int = 9, **options: Any) -> bytes:
    per_channel = options.pop("per_channel", True)
    weights = _weights((channels, 3, 2, depth))
    scales = _scales(channels if per_channel else 1)
    return ops.conv_2d((size, 7, depth), weights, _bias(channels), scales, source, OUT, **options)


def depthwise(source: Quantisation = IN, multiplier: int = 1, **options: Any) -> bytes:
    channels = 4 * multiplier
    return ops.depthwise_conv_2d(
        (9, 7, 4), _weights((1, 3, 3, channels)), _bias(channels), _scales(channels), source, OUT, **options
    )


def fully_connected(per_channel: bool, seed: int = 1, **options: Any) -> bytes:
    return ops.fully_connected(
        1, _weights((13, 37), seed), _bias(13), _scales(13 if per_channel else 1), IN, OUT, **options
    )


ONE_OPERATOR = {
    "conv same": conv(),
    "conv valid stride": conv(padding="VALID", stride=(2, 1)),
    "conv dilation": conv(dilation=(2, 3)),
    "conv one scale": conv(per_channel=False),
    "conv relu": conv(activation="RELU"),
    "conv relu6": conv(activation="RELU6"),
    "conv relu1": conv(activation="RELU_N1_TO_1"),
    "depthwise": depthwise(),
    "depthwise multiplier": depthwise(multiplier=3, stride=(2, 2), padding="VALID"),
    "depthwise relu": depthwise(activation="RELU", dilation=(2, 2)),
    "fully connected per channel": fully_connected(per_channel=True),
    "fully connected one scale": fully_connected(per_channel=False, activation="RELU"),
    "add": ops.add((1, 3, 5, 2), (1, 3, 5, 2), IN, Quantisation(0.02, 9), OUT),
    "add relu": ops.add((1, 30), (1, 30), Quantisation(0.01, -5), IN, OUT, "RELU"),
    "add element": ops.add((1, 3, 5, 2), (1, 1, 1, 1), IN, Quantisation(0.02, 9), OUT),
    "add element first": ops.add((1, 1, 1, 1), (1, 3, 5, 2), IN, Quantisation(0.02, 9), OUT),
    "max pool": ops.pool_2d("MAX", (9, 7, 3), (3, 3), (2, 2), IN),
    "mean": ops.mean((9, 7, 5), IN, OUT),
    "mean without the dimensions": ops.mean((64, 3, 1), IN, OUT, keep_dims=False),
    "mean with the axes from the end": ops.mean((9, 7, 5), IN, OUT, axes=(-2, -3)),
    "mean with an axis twice": ops.mean((9, 7, 5), IN, OUT, axes=(2, 1, -3)),
    "average pool": ops.pool_2d("AVERAGE", (9, 7, 3), (3, 2), (2, 1), IN, "SAME", "RELU6"),
    "pad": ops.pad((1, 4, 5, 3), [(0, 0), (1, 2), (0, 3), (0, 0)], IN),
    "pad channels": ops.pad((1, 4, 5, 3), [(0, 0), (1, 0), (2, 0), (1, 2)], IN),
    "pad value": ops.pad((1, 4, 5, 3), [(0, 0), (1, 1), (1, 1), (0, 0)], IN, 77),
    "softmax": ops.softmax(1, 12, 0.08, 5),
    "softmax beta": ops.softmax(1, 33, 0.6, -100, beta=0.7),
    "quantize": ops.quantize((1, 40), np.float32, np.int8, None, OUT),
    "quantize to uint8": ops.quantize((1, 40), np.float32, np.uint8, None, Quantisation(0.03, 128)),
    "requantize uint8": ops.quantize((1, 200), np.uint8, np.int8, Quantisation(0.03, 128), Quantisation(0.03, 0)),
    "requantize": ops.quantize((1, 200), np.int8, np.int8, IN, OUT),
    "requantize to uint8": ops.quantize((1, 200), np.int8, np.uint8, IN, Quantisation(0.02, 100)),
    "dequantize": ops.dequantize((1, 200), np.int8, IN),
    "dequantize uint8": ops.dequantize((1, 200), np.uint8, Quantisation(0.03, 128)),
    "reshape of the input": ops.reshape((1, 3, 4, 5), (1, 60), IN),
}


@pytest.mark.parametrize("name", ONE_OPERATOR)
def test_an_operator_alone(host_network: Build, name: str) -> None:
    model = ONE_OPERATOR[name]
    network = host_network(model)
    for seed in range(6):
        tensors, _ = assert_equal_everywhere(network, model, random_inputs(model, seed))
        assert tensors == 1


@pytest.mark.parametrize("per_channel", [True, False])
def test_the_scaling_of_fully_connected_layers_is_exact_at_every_step(host_network: Build, per_channel: bool) -> None:
    """Accumulators next to the steps of the output reveal an approximated factor.

    About 1 in 700 would differ.
    """
    rng = np.random.default_rng(4)
    for _ in range(6):
        source, target, weights = (float(np.float32(rng.uniform(0.001, 0.1))) for _ in range(3))
        target = float(np.float32(target * 1e4))
        steps = (np.arange(-128, 128) + 0.5) / (source * weights / target)
        accumulators = np.concatenate([np.round(steps) + offset for offset in (-2, -1, 0, 1, 2)])
        bias = accumulators[np.abs(accumulators) < 2**31 - 1000].astype(np.int32)
        model = ops.fully_connected(
            1,
            np.ones((len(bias), 1), np.int8),
            bias,
            [weights] * (len(bias) if per_channel else 1),
            Quantisation(source, 0),
            Quantisation(target, int(rng.integers(-40, 40))),
        )
        network = host_network(model)
        for value in (-1, 0, 1):
            assert_equal_everywhere(network, model, [np.array([[value]], np.int8)])


@pytest.mark.parametrize("gain", [0.625, 1.25, 0.875, 1.75, 0.5625])
@pytest.mark.parametrize("pixels", [3, 5, 6, 7])
def test_a_mean_that_is_half_a_step_goes_where_the_reference_s_division_sends_it(
    host_network: Build, pixels: int, gain: float
) -> None:
    """The gains have no rounding error.

    At a half, the rounding down of gain / pixels decides.
    """
    model = ops.mean((pixels, 1, 256), Quantisation(gain / 2, 0), Quantisation(0.5, 0))
    values = np.broadcast_to(np.arange(-128, 128, dtype=np.int8), (1, pixels, 1, 256))
    assert_equal_everywhere(host_network(model), model, [values])


def _kinds(network: HostNetwork) -> list[str]:
    return [epoch.kind for epoch in network.artifacts.epochs]


def _padded(quantisation: Quantisation, size: tuple[int, int, int], value: int | None = None) -> bytes:
    height, width, channels = size
    return ops.pad((1, height - 3, width - 2, channels), [(0, 0), (2, 1), (1, 1), (0, 0)], quantisation, value)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_a_pad_goes_into_the_convolution_behind_it(host_network: Build, padding: str) -> None:
    for user, depth, kind in ((conv(padding=padding), 3, "Conv2D"), (depthwise(padding=padding), 4, "DepthwiseConv2D")):
        model = chain(_padded(IN, (9, 7, depth)), user)
        assert_exact(host_network(model), model, kinds=[kind])


def test_a_pad_with_the_smallest_value_goes_into_max_pooling(host_network: Build) -> None:
    for padding in ("VALID", "SAME"):
        model = chain(_padded(LOWEST, (9, 7, 3)), ops.pool_2d("MAX", (9, 7, 3), (3, 3), (2, 2), LOWEST, padding))
        assert_exact(host_network(model), model, kinds=["MaxPool2D"])


@pytest.mark.parametrize(
    "model",
    [
        chain(_padded(IN, (9, 7, 3)), ops.pool_2d("MAX", (9, 7, 3), (3, 3), (2, 2), IN, "VALID")),
        chain(_padded(LOWEST, (9, 7, 3)), ops.pool_2d("AVERAGE", (9, 7, 3), (3, 3), (2, 2), LOWEST, "VALID")),
        chain(_padded(IN, (9, 7, 3), value=50), conv(padding="VALID")),
        chain(ops.pad((1, 9, 7, 1), [(0, 0), (0, 0), (0, 0), (1, 1)], IN), conv(padding="VALID")),
        edit(
            chain(_padded(IN, (9, 7, 3)), conv(padding="VALID")),
            lambda tree: setattr(
                tree.subgraphs[0], "outputs", [int(operator.outputs[0]) for operator in tree.subgraphs[0].operators]
            ),
        ),
    ],
    ids=["max pooling, other value", "average pooling", "convolution, other value", "channels", "pad is an output"],
)
def test_a_pad_stays_where_its_bits_would_change(host_network: Build, model: bytes) -> None:
    network = host_network(model)
    assert _kinds(network)[0] == "Pad"
    assert_equal_everywhere(network, model, random_inputs(model, 1))


@pytest.mark.parametrize("keep_dims", [True, False])
def test_a_mean_between_a_convolution_and_a_fully_connected_layer(host_network: Build, keep_dims: bool) -> None:
    given = Quantisation(0.04, 12)
    classes = ops.fully_connected(1, _weights((6, 37)), _bias(6), _scales(6), given, OUT)
    model = chain(conv(channels=37, activation="RELU"), ops.mean((9, 7, 37), OUT, given, keep_dims), classes)
    assert_exact(host_network(model), model, range(6), ["Conv2D", "Mean", "FullyConnected"])


def test_a_reshape_inside_costs_nothing(host_network: Build) -> None:
    model = chain(
        ops.reshape((1, 60), (1, 3, 4, 5), IN),
        ops.add((1, 3, 4, 5), (1, 3, 4, 5), IN, IN, OUT),
        ops.reshape((1, 3, 4, 5), (1, 60), OUT),
        ops.softmax(1, 60, OUT.per_tensor, OUT.zero_point),
        ops.reshape((1, 60), (1, 4, 15), Quantisation(1 / 256, -128)),
    )
    network = host_network(model)
    assert _kinds(network) == ["Add", "Softmax"]
    assert network.artifacts.outputs[0].bytes == 60
    assert_equal_everywhere(network, model, random_inputs(model, 1))


def test_an_input_that_leaves_the_network_reshaped_is_copied(host_network: Build) -> None:
    model = chain(ops.reshape((1, 60), (1, 3, 20), IN), ops.reshape((1, 3, 20), (1, 4, 15), IN))
    network = host_network(model)
    assert _kinds(network) == ["Reshape"]
    inputs = random_inputs(model, 1)
    network.trace(inputs)
    assert list(network.final.values()) == [inputs[0].tobytes()]


def test_a_tensor_inside_can_be_an_output_too(host_network: Build) -> None:
    def both(tree: Any) -> None:
        graph = tree.subgraphs[0]
        graph.outputs = [int(operator.outputs[0]) for operator in graph.operators]

    model = edit(chain(conv(), ops.dequantize((1, 9, 7, 5), np.int8, OUT)), both)
    network = host_network(model)
    assert [output.type for output in network.artifacts.outputs] == ["int8", "float32"]
    assert_equal_everywhere(network, model, random_inputs(model, 1))


def test_a_constant_operand_of_an_add_comes_from_the_weights(host_network: Build) -> None:
    model = edit(ops.add((1, 30), (1, 30), IN, IN, OUT), freeze(1, np.arange(30, dtype=np.int8)))
    network = host_network(model)
    assert network.artifacts.initializers[0].bytes == 30
    assert_equal_everywhere(network, model, random_inputs(model, 1))


def test_a_fully_connected_layer_without_bias(host_network: Build) -> None:
    model = edit(fully_connected(per_channel=True), set_operator(inputs=[0, 1]))
    assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))


def test_weights_that_two_operators_share_are_stored_once(host_network: Build) -> None:
    model = chain(conv(source=OUT, channels=3), conv(source=OUT, channels=3))
    alone = host_network(conv(source=OUT, channels=3)).artifacts.initializers[0].bytes
    twice = host_network(model).artifacts.initializers[0].bytes

    def share(tree: Any) -> None:
        graph = tree.subgraphs[0]
        first, second = graph.operators
        second.inputs = [int(second.inputs[0]), int(first.inputs[1]), int(second.inputs[2])]

    shared = edit(model, share)
    network = host_network(shared)
    assert alone < network.artifacts.initializers[0].bytes < twice
    assert_equal_everywhere(network, shared, random_inputs(shared, 1))
