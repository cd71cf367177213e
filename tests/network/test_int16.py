"""Models with int16 activations and int8 weights, bit by bit.

Every tensor has the reference interpreter's bits.
"""

from pathlib import Path
from typing import Any

import int16_models as models
import numpy as np
import one_op_models as ops
import pytest
from ai_edge_litert import schema_py_generated as schema
from movement_models import random_inputs, resize
from numpy.typing import NDArray
from one_op_models import Quantisation

from network.equality import assert_equal_everywhere, assert_exact, tensors_of
from network.host_network import Build
from network.network_models import chain, edit, model_error, set_quantisation, set_tensor
from network.target_network import BuildTarget

SHAPE = (9, 7, 4)
IN, MIDDLE, OUT = Quantisation(0.0004), Quantisation(0.0013), Quantisation(0.0009)
FUNCTION = Quantisation(2.0**-15)
EVERY = np.arange(-32768, 32768, dtype=np.int16).reshape(1, -1)


def _weights(shape: tuple[int, ...]) -> NDArray[np.int8]:
    return np.random.default_rng(1).integers(-127, 128, shape, dtype=np.int8)


def _bias(count: int) -> NDArray[np.int64]:
    return np.random.default_rng(2).integers(-(10**7), 10**7, count, dtype=np.int64)


def _scales(count: int) -> list[float]:
    return [float(np.float32(scale)) for scale in np.random.default_rng(3).uniform(0.0005, 0.01, count)]


def conv(source: Quantisation = IN, target: Quantisation = MIDDLE, channels: int = 4, **options: Any) -> bytes:
    weights = _weights((channels, 3, 3, SHAPE[2]))
    return models.convolution("CONV_2D", SHAPE, weights, _bias(channels), _scales(channels), source, target, **options)


def depthwise(source: Quantisation = IN, target: Quantisation = MIDDLE, multiplier: int = 1, **options: Any) -> bytes:
    channels = SHAPE[2] * multiplier
    weights = _weights((1, 3, 3, channels))
    return models.convolution(
        "DEPTHWISE_CONV_2D", SHAPE, weights, _bias(channels), _scales(channels), source, target, **options
    )


def network() -> bytes:
    """Return a model as converters make them: float32 outside, int16 inside."""
    image = (1, *SHAPE)
    return chain(
        ops.quantize(image, np.float32, np.int16, None, IN),
        conv(activation="RELU"),
        depthwise(MIDDLE, OUT, activation="RELU6"),
        models.binary(
            "MUL",
            (image, (1, 1, 1, 4)),
            (OUT, Quantisation(2e-5), Quantisation(1e-4)),
            constants=(None, np.array([9000, -7, 32767, -30000], np.int16)),
        ),
        models.binary("ADD", (image, image), (Quantisation(1e-4), IN, OUT)),
        models.pool_2d("AVERAGE", SHAPE, (3, 2), (2, 2), OUT),
        models.pool_2d("MAX", (5, 4, 4), (5, 4), (1, 1), OUT, "VALID"),
        models.fully_connected(1, _weights((12, 4)), _bias(12), _scales(12), OUT, MIDDLE),
        models.softmax(1, 12, MIDDLE.per_tensor),
        ops.quantize((1, 12), np.int16, np.float32, Quantisation(1 / 32768), None),
    )


ONE_OPERATOR = {
    "conv": conv(),
    "conv stride": conv(stride=(2, 1), padding="VALID", activation="RELU6"),
    "conv dilation": conv(dilation=(2, 3), channels=5),
    "depthwise": depthwise(multiplier=3, stride=(2, 2)),
    "fully connected": models.fully_connected(1, _weights((13, 37)), _bias(13), _scales(13), IN, MIDDLE, "RELU"),
    "add": models.binary("ADD", ((1, 5, 4), (1, 5, 4)), (IN, OUT, MIDDLE), "RELU"),
    "add channels first": models.binary("ADD", ((1, 1, 4), (1, 5, 4)), (IN, OUT, MIDDLE)),
    "sub": models.binary("SUB", ((1, 5, 4), (4,)), (IN, OUT, MIDDLE)),
    "add along the last dimension": models.binary("ADD", ((1, 5, 4), (1, 5, 1)), (IN, OUT, MIDDLE)),
    "add of a row and a column": models.binary("ADD", ((1, 5, 1), (1, 1, 4)), (IN, OUT, MIDDLE)),
    "sub of what is larger": models.binary("SUB", ((4,), (1, 5, 4)), (IN, OUT, MIDDLE)),
    "mul of a row and a column": models.binary("MUL", ((1, 5, 1), (1, 1, 4)), (IN, OUT, Quantisation(0.01))),
    "resize": resize("ResizeBilinear", (5, 4), (9, 7), 3, half_pixel_centers=True, dtype=np.int16),
    "sub element": models.binary("SUB", ((1, 5, 4), (1, 1, 1)), (IN, OUT, MIDDLE)),
    "mul": models.binary("MUL", ((1, 5, 4), (1, 5, 4)), (IN, OUT, Quantisation(0.01)), "RELU_N1_TO_1"),
    "max pool": models.pool_2d("MAX", SHAPE, (3, 3), (2, 2), IN, "SAME", "RELU"),
    "average pool": models.pool_2d("AVERAGE", SHAPE, (3, 2), (2, 1), IN),
    "softmax": models.softmax(1, 40, 0.001, beta=0.7),
    "quantize": ops.quantize((1, 40), np.float32, np.int16, None, IN),
    "quantize int8 to int16": ops.quantize((1, 40), np.int8, np.int16, Quantisation(0.1, 5), IN),
    "dequantize": ops.quantize((1, 40), np.int16, np.float32, IN, None),
    "network": network(),
}


@pytest.mark.parametrize("name", ONE_OPERATOR)
def test_every_tensor_has_the_reference_s_bits(host_network: Build, name: str) -> None:
    model = ONE_OPERATOR[name]
    assert_exact(host_network(model), model, range(5))


@pytest.mark.parametrize("kind", ["LOGISTIC", "TANH"])
@pytest.mark.parametrize("scale", [2.0**-12, 2.0**-11, 2.0**-13, 2.0**-8, 1.23e-4, 1.2e-3, 0.05, 1e-6])
def test_every_argument_of_a_function(host_network: Build, kind: str, scale: float) -> None:
    model = models.unary(kind, EVERY.shape, Quantisation(scale), FUNCTION)
    assert_equal_everywhere(host_network(model), model, [EVERY])


def test_softmax_at_every_difference(host_network: Build) -> None:
    """Each row has two values, of which one is the largest possible."""
    rows = np.stack([np.full(EVERY.size, 32767), EVERY.reshape(-1)], 1).astype(np.int16).reshape(1, -1, 2)
    model = edit(models.softmax(EVERY.size, 2, float(np.float32(10 / 65535))), _one_batch)
    assert_equal_everywhere(host_network(model), model, [rows])


def _one_batch(tree: Any) -> None:
    for tensor in tree.subgraphs[0].tensors:
        tensor.shape = [1, *tensor.shape]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_accumulators_next_to_a_half_round_as_in_the_reference(host_network: Build, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    if seed % 2:
        source, weights, target = (2.0 ** -int(rng.integers(*ends)) for ends in ((8, 14), (4, 10), (2, 8)))
    else:
        source, weights = (float(np.float32(rng.uniform(*ends))) for ends in ((1e-4, 1e-3), (1e-3, 1e-1)))
        target = float(np.float32(rng.uniform(1e-3, 1) * 10 ** rng.uniform(0, 3)))
    bias = np.round((rng.integers(-32768, 32767, 1000) + 0.5) / (source * weights / target)) + rng.integers(-2, 3, 1000)
    bias = bias[np.abs(bias) < 2**38].astype(np.int64)
    count, ends = len(bias), (Quantisation(source), Quantisation(target))
    assert count > 100
    if kind == "FULLY_CONNECTED":
        model = models.fully_connected(1, _weights((count, 1)), bias, [weights], *ends)
    else:
        shape = (1, 1, 1, count) if kind.startswith("D") else (count, 1, 1, 1)
        model = models.convolution(kind, (1, 1, 1), _weights(shape), bias, [weights], *ends)
    compiled = host_network(model)
    for value in (-1, 0, 1):
        assert_equal_everywhere(compiled, model, [np.full((1,), value, np.int16)])


def test_accumulators_of_more_than_32_bits(host_network: Build) -> None:
    weights = np.full((3, 40_000), 127, np.int8)
    model = models.fully_connected(1, weights, _bias(3), [0.01], Quantisation(0.001), Quantisation(80.0))
    assert_equal_everywhere(host_network(model), model, [np.full((1, 40_000), 32767, np.int16)])


def test_on_the_virtual_cortex_m55(target_network: BuildTarget) -> None:
    """Every epoch is compared but the last, which makes float32."""
    model = network()
    compiled = target_network(model)
    inputs = random_inputs(model, 1)
    expected = tensors_of(model, inputs)
    computed = compiled.run(inputs)
    wanted = b"".join(
        expected[epoch.name.rpartition("_")[2]] for epoch in compiled.artifacts.epochs if epoch.kind != "Dequantize"
    )
    assert computed == wanted


def _bias_of_32_bits(tree: Any) -> None:
    bias = tree.subgraphs[0].tensors[2]
    bias.type = schema.TensorType.INT32
    tree.buffers[bias.buffer].data = np.zeros(16, np.uint8)


REFUSED: dict[str, tuple[bytes, str, str]] = {
    "a zero point": (
        edit(conv(), set_quantisation(0, zeroPoint=[3])),
        "N6-NET-006",
        "'input' (int16) has the zero point 3",
    ),
    "a bias of 32 bits": (
        edit(conv(), _bias_of_32_bits),
        "N6-NET-004",
        "'bias' (int32) has to be int64",
    ),
    "powers of two by shifts": (
        models.binary(
            "ADD",
            ((1, 4), (1, 4)),
            (Quantisation(2.0**-12), Quantisation(2.0**-12), Quantisation(2.0**-11)),
            potScaleInt16=True,
        ),
        "N6-NET-008",
        "powers of two",
    ),
    "shapes that do not broadcast": (
        edit(
            models.binary("ADD", ((1, 5, 4), (1, 5, 4)), (IN, OUT, MIDDLE)),
            set_tensor(1, shape=[1, 4, 5]),
        ),
        "N6-NET-007",
        "do not broadcast",
    ),
    "a softmax of another scale": (
        edit(models.softmax(1, 9, IN.per_tensor), set_quantisation(1, scale=[0.01])),
        "N6-NET-006",
        "1/32768",
    ),
    "a softmax whose sum overflows": (
        models.softmax(1, 65_539, IN.per_tensor),
        "N6-NET-007",
        "over 65539 elements overflows",
    ),
    "a function of another scale": (
        edit(
            models.unary("TANH", (1, 9), IN, FUNCTION),
            set_quantisation(1, scale=[0.01]),
        ),
        "N6-NET-006",
        "2^-15",
    ),
    "a depthwise window of many taps": (
        models.convolution(
            "DEPTHWISE_CONV_2D", (30, 30, 1), np.full((1, 30, 30, 1), 127, np.int8), _bias(1), [0.01], IN, MIDDLE
        ),
        "N6-NET-007",
        "114300",
    ),
    "a scale far from its neighbours": (conv(target=Quantisation(1.5e-9)), "N6-NET-006", "would be scaled by"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str, tmp_path: Path) -> None:
    model, identity, words = REFUSED[name]
    error = model_error(model, tmp_path)
    assert (error.id, words in error.what) == (identity, True), error.what
