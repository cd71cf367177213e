"""Models of uint8: every tensor has the reference interpreter's bits.

Inside the network they are 128 less, outside they are unchanged.
"""

import json
import re
from pathlib import Path
from typing import Any

import movement_models as movement
import numpy as np
import one_op_models as ops
import pytest
import reference_interpreter
from ai_edge_litert import schema_py_generated as schema
from movement_models import random_inputs
from numpy.typing import NDArray
from one_op_models import Quantisation
from uint8_models import to_uint8

from network.equality import tensors_of
from network.host_network import Build, HostNetwork
from network.network_models import chain, edit, model_error, set_code, set_quantisation
from network.target_network import BuildTarget

IN, OUT = Quantisation(0.05, 3), Quantisation(0.11, -7)
SHAPE = (9, 7, 4)


def _weights(shape: tuple[int, ...]) -> NDArray[np.int8]:
    return np.random.default_rng(1).integers(-128, 128, shape, dtype=np.int8)


def _bias(count: int) -> NDArray[np.int32]:
    return np.random.default_rng(2).integers(-3000, 3000, count, dtype=np.int32)


def conv(source: Quantisation = IN, channels: int = 5, window: int = 3, **options: object) -> bytes:
    weights = _weights((channels, window, window, SHAPE[2]))
    return ops.conv_2d(SHAPE, weights, _bias(channels), [0.0071], source, OUT, **options)  # type: ignore[arg-type]


def depthwise(source: Quantisation = IN, multiplier: int = 1, **options: object) -> bytes:
    weights = _weights((1, 3, 3, SHAPE[2] * multiplier))
    return ops.depthwise_conv_2d(SHAPE, weights, _bias(4 * multiplier), [0.0071], source, OUT, **options)  # type: ignore[arg-type]


def _other_scales(tree: Any) -> None:
    """Change the quantisation of all inputs but the first."""
    for number, (scale, zero_point) in enumerate(((0.031, -20), (0.0873, 90)), 1):
        quantisation = tree.subgraphs[0].tensors[number].quantization
        quantisation.scale, quantisation.zeroPoint = [scale], [zero_point]


def classifier() -> bytes:
    """Return a classifier like the first Mobilenet, with all operators of such models."""
    pooled = ops.pool_2d("AVERAGE", SHAPE, (9, 7), (1, 1), OUT, "VALID")
    last = ops.fully_connected(1, _weights((10, 4)), _bias(10), [0.0071], OUT, Quantisation(0.13, 20))
    return chain(
        ops.pad((1, 7, 6, 4), [(0, 0), (1, 1), (0, 1), (0, 0)], IN),
        conv(channels=4, activation="RELU6"),
        depthwise(OUT, activation="RELU6"),
        conv(OUT, channels=4, window=1, activation="RELU6"),
        pooled,
        ops.reshape((1, 1, 1, 4), (1, 4), OUT),
        last,
        ops.softmax(1, 10, 0.13, 20),
    )


ONE_OPERATOR = {
    "conv": conv(),
    "conv relu6": conv(activation="RELU6", stride=(2, 1), padding="VALID"),
    "conv 1x1": conv(window=1),
    "depthwise": depthwise(),
    "depthwise multiplier": depthwise(multiplier=3, stride=(2, 2), dilation=(1, 1), activation="RELU"),
    "fully connected": ops.fully_connected(1, _weights((13, 37)), _bias(13), [0.0071], IN, OUT, "RELU"),
    "add": ops.add((1, 3, 5, 2), (1, 3, 5, 2), IN, Quantisation(0.02, 9), OUT, "RELU"),
    "max pool": ops.pool_2d("MAX", SHAPE, (3, 3), (2, 2), IN, "SAME", "RELU6"),
    "average pool": ops.pool_2d("AVERAGE", SHAPE, (2, 2), (2, 1), IN),
    "mean": ops.mean((9, 7, 5), IN, OUT),
    "pad": ops.pad((1, 4, 5, 3), [(0, 0), (1, 2), (0, 3), (1, 0)], IN),
    "pad value": ops.pad((1, 4, 5, 3), [(0, 0), (1, 2), (0, 3), (0, 0)], IN, -100),
    "softmax": ops.softmax(1, 12, 0.08, 5),
    "resize": movement.resize("ResizeBilinear", (5, 4), (9, 7), 3),
    "resize of corners": movement.resize("ResizeBilinear", (5, 4), (9, 13), 3, align_corners=True),
    "resize of centres": movement.resize("ResizeBilinear", (5, 4), (3, 8), 20, half_pixel_centers=True),
    "joined with other scales": edit(movement.concatenation(2, [(1, 40, 9), (1, 40, 20), (1, 40, 3)]), _other_scales),
    "several": classifier(),
}


def assert_equal_everywhere(network: HostNetwork, model: bytes, inputs: list[NDArray[np.generic]]) -> int:
    """Check every tensor that an operator makes, and the network's outputs.

    Returns:
        The number of tensors that operators make.
    """
    expected = tensors_of(model, inputs)
    computed = network.trace(inputs)
    described = json.loads((network.folder / "network_c_info.json").read_text())["buffers"]
    unsigned = {buffer["name"] for buffer in described if buffer["format"] == "STAI_FORMAT_U8"}
    compared = 0
    for name, data in computed.items():
        match = re.fullmatch(r"[A-Za-z0-9]+_(\d+)_out_0", name)
        assert match
        if match[1] in expected:
            difference = 0 if name in unsigned else 128
            assert (np.frombuffer(data, np.uint8) ^ difference).tobytes() == expected[match[1]], name
            compared += 1
    assert list(network.final.values()) == [out.tobytes() for out in reference_interpreter.outputs(model, *inputs)]
    return compared


@pytest.mark.parametrize("zero_point", [None, 101])
@pytest.mark.parametrize("name", ONE_OPERATOR)
def test_every_tensor_has_the_reference_s_bits(host_network: Build, name: str, zero_point: int | None) -> None:
    """The zero point is that of the weights."""
    model = to_uint8(ONE_OPERATOR[name], zero_point)
    network = host_network(model)
    assert {port.type for port in (*network.artifacts.inputs, *network.artifacts.outputs)} == {"uint8"}
    for seed in range(4):
        assert assert_equal_everywhere(network, model, random_inputs(model, seed)) >= (6 if name == "several" else 1)


@pytest.mark.parametrize("kind", ["conv", "depthwise", "fully connected"])
@pytest.mark.parametrize("seed", range(12))
def test_accumulators_next_to_a_half_round_as_in_the_reference(host_network: Build, kind: str, seed: int) -> None:
    """The reference scales with a product of float32.

    With a product of double, about 1 in 5 would differ.
    """
    rng = np.random.default_rng(seed)
    source, weights = (float(np.float32(rng.uniform(0.001, 0.1))) for _ in range(2))
    target = float(np.float32(rng.uniform(10, 9000)))
    steps = (rng.integers(-128, 128, 2000) + 0.5) / (source * weights / target)
    bias = np.clip(np.round(steps) + rng.integers(-2, 3, 2000), -(2**31) + 1000, 2**31 - 1000).astype(np.int32)
    given, made = Quantisation(source, 0), Quantisation(target, int(rng.integers(-40, 40)))
    model = {
        "conv": lambda: ops.conv_2d((1, 1, 1), _weights((2000, 1, 1, 1)), bias, [weights], given, made),
        "depthwise": lambda: ops.depthwise_conv_2d((1, 1, 1), _weights((1, 1, 1, 2000)), bias, [weights], given, made),
        "fully connected": lambda: ops.fully_connected(1, _weights((2000, 1)), bias, [weights], given, made),
    }[kind]()
    model = to_uint8(model, int(rng.choice([128, 90])))
    assert_equal_everywhere(host_network(model), model, [np.full((1,), 128, np.uint8)])


def test_quantize_and_dequantize_among_uint8(host_network: Build) -> None:
    model = chain(
        ops.quantize((1, *SHAPE), np.float32, np.int8, None, IN),
        conv(channels=4),
        ops.quantize((1, *SHAPE), np.int8, np.int8, OUT, IN),
        ops.dequantize((1, *SHAPE), np.int8, IN),
    )
    model = to_uint8(model, 99)
    network = host_network(model)
    assert [epoch.kind for epoch in network.artifacts.epochs] == ["Quantize", "Conv2D", "Quantize", "Dequantize"]
    inputs = random_inputs(model, 1)
    network.trace(inputs)
    assert list(network.final.values()) == [out.tobytes() for out in reference_interpreter.outputs(model, *inputs)]


def test_a_uint8_input_of_an_int8_model_costs_one_quantize(host_network: Build) -> None:
    model = chain(ops.quantize((1, *SHAPE), np.uint8, np.int8, Quantisation(0.05, 131), IN), conv())
    assert [epoch.kind for epoch in host_network(model).artifacts.epochs] == ["Quantize", "Conv2D"]


def test_one_operator_that_cannot_be_done_does_not_condemn_the_others(tmp_path: Path) -> None:
    second = ops.pool_2d("MAX", (9, 7, 5), (2, 2), (2, 2), OUT)
    error = model_error(edit(to_uint8(chain(conv(), second)), set_code(1, schema.BuiltinOperator.RFFT2D)), tmp_path)
    assert error.id == "N6-NET-003"
    assert "RFFT2D" in error.what
    assert "(CONV_2D)" not in f"{error.what} {error.hint} {error.details}"


def test_several_scales_of_uint8_weights_are_refused(tmp_path: Path) -> None:
    error = model_error(edit(to_uint8(conv()), set_quantisation(1, scale=[0.1] * 5, zeroPoint=[128] * 5)), tmp_path)
    assert (error.id, "'weights' (uint8) has 5 scales" in error.what) == ("N6-NET-006", True)


# Every run covers this by test_on_cortex_m55.py, and the kernels for uint8 by tests/kernels/test_helium_kernels.py.
@pytest.mark.slow
def test_on_the_virtual_cortex_m55(target_network: BuildTarget) -> None:
    """Every epoch is compared, with the Helium kernels."""
    model = to_uint8(classifier(), 101)
    network = target_network(model)
    inputs = random_inputs(model, 1)
    expected = tensors_of(model, inputs)
    computed = network.run(inputs)
    wanted = b""
    for epoch in network.artifacts.epochs:
        number = epoch.name.rpartition("_")[2]
        if number in expected:
            wanted += (np.frombuffer(expected[number], np.uint8) ^ 128).tobytes()
        elif epoch.index == 1:
            wanted += (np.frombuffer(inputs[0].tobytes(), np.uint8) ^ 128).tobytes()
        else:
            wanted += expected["7"]
    assert computed == wanted
