"""Quantised ONNX models compute onnxruntime's results, bit for bit.

onnxruntime runs with its usual optimisations.
"""

from pathlib import Path
from typing import Any

import float_models
import numpy as np
import pytest
import qdq_models
from n6build.compile.reference.compile_model import doubts_of, graph_of
from n6build.judge.compare.interpret import ports_of
from n6build.judge.compare.join import join
from qdq_models import Layers, Qdq, Scale
from samples import sample
from slow_rows import telling_rows

from network.host_network import Build
from network.onnx_equality import assert_equals_onnxruntime


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("opset", [13, 17, 21])
def test_a_classifier(host_network: Build, opset: int, dtype: str) -> None:
    network = host_network(qdq_models.classifier(opset, opset, dtype))
    assert assert_equals_onnxruntime(network) >= 6
    kinds = [epoch.kind for epoch in network.artifacts.epochs]
    assert kinds.count("Transpose") == 1


A = Scale(0.031, -3)
B = Scale(0.017, 11)
OUT = Scale(0.05, 7)
SHAPE = (1, 6, 9, 7)


def one(
    kind: str,
    *shapes: tuple[int, ...],
    out: Scale = OUT,
    opset: int = 13,
    constants: tuple[Any, ...] = (),
    scales: tuple[Scale, ...] = (A, B, A),
    **attributes: Any,
) -> bytes:
    """Return a model of one operator with quantised inputs, followed by constants."""
    model = Qdq(opset)
    inputs = [model.input(shape, scale) for shape, scale in zip(shapes, scales, strict=False)]
    inputs += [model.constant(np.asarray(each)) if each is not None else "" for each in constants]
    return model.model([model.operator(kind, inputs, out, **attributes)])


def unsigned(scale: Scale) -> Scale:
    return Scale(scale.scale, scale.zero_point + 128, "uint8")


def conv(shape: tuple[int, ...], weights: tuple[int, ...], seed: int = 3, **options: Any) -> bytes:
    layers = Layers(seed)
    return layers.model([layers.conv(layers.input(shape, A), A, weights, **options)[0]])


def with_dead_channels(weights: tuple[int, ...], **options: Any) -> bytes:
    """Return a convolution with channels whose weights and biases have no effect."""
    rng = np.random.default_rng(8)
    scales = rng.uniform(0.002, 0.02, weights[0]).astype(np.float32)
    bias = rng.integers(-3000, 3000, weights[0]).astype(np.int32)
    scales[1::3], bias[1::3] = 1e-20, np.iinfo(np.int32).min
    return biased(rng, weights, scales, bias, Scale(0.05, -128), **options)


def biased(rng: np.random.Generator, weights: tuple[int, ...], scales: Any, bias: Any, out: Scale, **how: Any) -> bytes:
    """Return a convolution with random weights of these scales."""
    model = Qdq()
    inputs = [
        model.input((1, 4, 9, 7), A),
        model.weights(rng.integers(-127, 128, weights).astype(np.int8), scales),
        model.weights(bias, (np.float32(A.scale) * scales).astype(np.float32)),
    ]
    return model.model([model.operator("Conv", inputs, out, **how)])


def with_sums_that_wrap(weights: tuple[int, ...], **options: Any) -> bytes:
    """Return a convolution with biases next to the limits of 32 bits.

    The scale of its output shows the sign of a sum.
    """
    rng = np.random.default_rng(9)
    scales = rng.uniform(0.005, 0.01, weights[0]).astype(np.float32)
    limits = np.iinfo(np.int32)
    bias = rng.choice([limits.max - 4000, limits.min + 4000, 0], weights[0]).astype(np.int32)
    return biased(rng, weights, scales, bias, Scale(5000, 3), **options)


def moved_before_quantised(kind: str, *constants: Any, **attributes: Any) -> bytes:
    """Return a model whose operator moves numbers before they are quantised."""
    model = Qdq(18)
    mean = model.node("ReduceMean", [model.input((1, 6, 9, 7), A), model.constant(integers(3))])
    inputs = [*mean, *(model.constant(each) for each in constants)]
    return model.model([model.operator(kind, inputs, Scale(0.004, 5), **attributes)])


def batch_normalisation(shape: tuple[int, ...], *, relu: bool = False, real: bool = False) -> bytes:
    model, rng = Qdq(), np.random.default_rng(9)
    constants = [rng.uniform(0.3, 2, shape[1]).astype(np.float32) for _ in range(4)]
    inputs = [model.input(shape, A), *(model.constant(each) for each in constants)]
    made = model.node("BatchNormalization", inputs, epsilon=1e-3)
    made = model.node("Relu", made) if relu else made
    return model.model(made if real else [model.qdq(made[0], OUT)])


def gemm(shape: tuple[int, ...], outputs: int, **options: Any) -> bytes:
    layers = Layers(5)
    return layers.model([layers.gemm(layers.input(shape, A), A, shape[-1], outputs, **options)[0]])


def integers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def quotient(shape: tuple[int, ...]) -> bytes:
    """Return a model that divides by an exponential, which is never 0."""
    model = Qdq()
    names = [model.input(SHAPE, A), model.operator("Exp", [model.input(shape, B)], Scale(0.05, -128))]
    return model.model([model.operator("Div", names, OUT)])


def resized(mode: str, height: int, width: int, shape: tuple[int, ...] = SHAPE) -> bytes:
    sizes = integers(*shape[:2], height, width)
    return one(
        "Resize", shape, out=A, constants=(NONE, NONE, sizes), mode="linear", coordinate_transformation_mode=mode
    )


def transposed_conv(shape: tuple[int, ...], weights: tuple[int, ...], *, dtype: str = "int8", **options: Any) -> bytes:
    """Return a model of one transposed convolution.

    Args:
        shape: Shape of the input.
        weights: Shape of the weights, input channels first.
        dtype: Type of the activations.
        options: Attributes of the operator.
    """
    layers = Layers(6, dtype=dtype)
    rng = np.random.default_rng(6)
    scale = layers.any_scale(0.03)
    channels = weights[1] * int(options.get("group", 1))
    # The scales belong to the dimension that has all output channels, if one has them.
    scales = rng.uniform(0.002, 0.02, channels).astype(np.float32)
    bias = rng.integers(-3000, 3000, channels).astype(np.int32)
    values = rng.integers(-127, 128, weights).astype(np.int8)
    inputs = [
        layers.input(shape, scale),
        layers.weights(values, scales, 0 if "group" in options else 1),
        layers.weights(bias, (np.float32(scale.scale) * scales).astype(np.float32)),
    ]
    return layers.model([layers.operator("ConvTranspose", inputs, layers.any_scale(0.1), **options)])


def per_channel(kind: str, shape: tuple[int, ...], *sizes: tuple[int, ...], **options: Any) -> bytes:
    """Return a model of one operator with float32 constants of these sizes."""
    rng = np.random.default_rng(8)
    constants = tuple(rng.normal(0.5, 0.5, each).astype(np.float32) for each in sizes)
    return one(kind, shape, constants=constants, opset=17, **options)


NONE = np.zeros(0, np.float32)
PROBABILITY = Scale(1 / 256, -128)
ONE_OPERATOR = {
    "conv": conv(SHAPE, (5, 6, 3, 3), pads=[1, 1, 1, 1]),
    "conv of one scale without bias": conv(SHAPE, (5, 6, 3, 2), per_channel=False, bias=False),
    "conv with strides, dilations and other paddings on each side": conv(
        SHAPE, (40, 6, 3, 2), strides=[2, 1], dilations=[1, 2], pads=[2, 0, 1, 1]
    ),
    "conv padded as TensorFlow does": conv(SHAPE, (5, 6, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER"),
    "conv padded the other way": conv(SHAPE, (5, 6, 2, 2), auto_pad="SAME_LOWER"),
    "pointwise conv": conv(SHAPE, (33, 6, 1, 1), relu=True),
    "conv in groups": conv(SHAPE, (9, 2, 3, 3), group=3),
    "depthwise conv": conv(SHAPE, (6, 1, 3, 3), group=6, pads=[1, 1, 1, 1], strides=[2, 2]),
    "depthwise conv with a multiplier": conv(SHAPE, (18, 1, 3, 3), group=6, relu=True),
    "conv with channels without effect": with_dead_channels((7, 4, 3, 3), pads=[1, 1, 1, 1]),
    "conv of each channel, some without effect": with_dead_channels((8, 1, 3, 3), group=4),
    "conv with sums that wrap around": with_sums_that_wrap((7, 4, 3, 3), pads=[1, 1, 1, 1]),
    "conv of each channel with sums that wrap around": with_sums_that_wrap((8, 1, 3, 3), group=4),
    "conv over one dimension": conv((1, 6, 30), (9, 6, 5), pads=[2, 2], strides=[2]),
    "gemm": gemm((1, 37), 13),
    "gemm of many rows, of one scale": gemm((7, 37), 13, per_channel=False),
    "matmul": gemm((1, 37), 13, kind="MatMul"),
    "matmul of three dimensions": gemm((1, 5, 37), 13, kind="MatMul"),
    "add": one("Add", SHAPE, SHAPE),
    "add uint8": one("Add", SHAPE, SHAPE, out=unsigned(OUT), scales=(unsigned(A), unsigned(B))),
    "add with scales that make halves": one(
        "Add", SHAPE, SHAPE, out=Scale(0.1, 3), scales=(Scale(0.05, 0), Scale(0.05, 1))
    ),
    "add for each channel": one("Add", SHAPE, (1, 6, 1, 1)),
    "add for each channel, the other way": one("Add", (6, 1, 1), SHAPE),
    "mul": one("Mul", SHAPE, SHAPE),
    "mul uint8": one("Mul", SHAPE, SHAPE, out=unsigned(OUT), scales=(unsigned(A), unsigned(B))),
    "mul for each channel": one("Mul", SHAPE, (1, 6, 1, 1)),
    "mul for each pixel": one("Mul", SHAPE, (1, 1, 9, 7)),
    "sub": one("Sub", SHAPE, SHAPE),
    "sub for each row": one("Sub", SHAPE, (9, 1)),
    "mul by a number": one("Mul", SHAPE, constants=(np.float32(0.7),)),
    "a number less x": Qdq().subtracted_from(SHAPE, A, OUT),
    "div": quotient(SHAPE),
    "div by one for each channel": quotient((1, 6, 1, 1)),
    "div by a number": one("Div", SHAPE, constants=(np.float32(0.7),)),
    "max": one("Max", SHAPE, SHAPE),
    "max uint8": one("Max", SHAPE, SHAPE, out=unsigned(OUT), scales=(unsigned(A), unsigned(B))),
    "min for each row": one("Min", SHAPE, (9, 1)),
    "min with a number": one("Min", SHAPE, constants=(np.float32(0.7),)),
    "square": one("Pow", SHAPE, constants=(np.float32(2),)),
    "a power": one("Pow", SHAPE, constants=(np.float32(0.5),), scales=(Scale(0.031, -128),)),
    "matmul of two activations": one("MatMul", (1, 2, 17, 19), (1, 2, 19, 5), out=Scale(0.02, 3)),
    "matmul of two activations, uint8": one(
        "MatMul", (3, 19), (19, 5), out=Scale(0.02, 131, "uint8"), scales=(unsigned(A), unsigned(B))
    ),
    "matmul of one matrix for all": one("MatMul", (1, 3, 4, 19), (19, 5), out=Scale(0.02, 3)),
    "mean of the pixels": one("ReduceMean", (1, 40, 9, 7), out=Scale(0.004, 5), axes=[2, 3]),
    "mean of the pixels uint8": one(
        "ReduceMean", SHAPE, out=Scale(0.004, 133, "uint8"), scales=(unsigned(A),), axes=[2, 3], keepdims=0
    ),
    "mean of rows": one("ReduceMean", SHAPE, out=Scale(0.01, 5), axes=[-1]),
    "mean of the channels": one("ReduceMean", SHAPE, out=Scale(0.01, 5), axes=[1]),
    "mean of few": one("ReduceMean", (1, 5, 3), out=Scale(0.01, 5), axes=[2], keepdims=0),
    "mean of all": one("ReduceMean", SHAPE, out=Scale(0.003, 5)),
    "sum with axes as an input": one("ReduceSum", SHAPE, out=Scale(0.2, 5), constants=(integers(2, 3),)),
    "layer normalisation": per_channel("LayerNormalization", (1, 17, 48), (48,), (48,)),
    "layer normalisation without bias": per_channel("LayerNormalization", (1, 17, 64), (64,), epsilon=0.01),
    "instance normalisation": per_channel("InstanceNormalization", SHAPE, (6,), (6,)),
    "instance normalisation of whole vectors": per_channel("InstanceNormalization", (1, 5, 8, 8), (5,), (5,)),
    "instance normalisation of few": per_channel("InstanceNormalization", (1, 5, 3), (5,), (5,)),
    "batch normalisation": batch_normalisation(SHAPE),
    "batch normalisation of a vector, with a limit": batch_normalisation((1, 128), relu=True),
    "batch normalisation as an output": batch_normalisation(SHAPE, real=True),
    **{
        f"{kind.lower()} of numbers that int8 does not hold": one(
            kind, SHAPE, constants=(np.random.default_rng(4).normal(0, 2, (6, 1, 7)).astype(np.float32),)
        )
        for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min")
    },
    "prelu": per_channel("PRelu", SHAPE, (6, 1, 1)),
    "prelu of one slope": per_channel("PRelu", SHAPE, (1,)),
    **{
        f"resize linearly to {height} x {width}, {mode}": resized(mode, height, width)
        for mode, height, width in (
            ("half_pixel", 27, 14),
            ("half_pixel", 5, 31),
            ("pytorch_half_pixel", 1, 9),
            ("align_corners", 18, 14),
            ("asymmetric", 18, 10),
        )
    },
    "resize linearly of one pixel": resized("half_pixel", 8, 8, (1, 6, 1, 1)),
    "resize linearly by scales": one(
        "Resize",
        SHAPE,
        constants=(NONE, floats(1, 1, 1.7, 2.3)),
        mode="linear",
        coordinate_transformation_mode="asymmetric",
    ),
    "transposed conv without overlap": transposed_conv((1, 6, 5, 7), (6, 4, 2, 2), strides=[2, 2]),
    "transposed conv": transposed_conv((1, 6, 5, 7), (6, 4, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1]),
    "transposed conv with output padding": transposed_conv(
        (1, 6, 5, 7), (6, 4, 3, 3), strides=[2, 3], pads=[1, 1, 1, 0], output_padding=[1, 2]
    ),
    "transposed conv of each channel, uint8": transposed_conv(
        (1, 6, 5, 7), (6, 1, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1], group=6, dtype="uint8"
    ),
    "gather one": one("Gather", (3, 5, 7), out=A, constants=(np.int64(1),)),
    "gather some": one("Gather", SHAPE, out=A, constants=(integers(5, -1, 0, 2, 4),), axis=1),
    "gather a matrix": one("Gather", (1, 6, 9), out=A, constants=(integers(0, 1, 2, 5).reshape(2, 2),), axis=1),
    "expand": one("Expand", (6, 1, 7), out=A, constants=(integers(1, 6, 9, 1),)),
    "sigmoid": one("Sigmoid", SHAPE, out=PROBABILITY),
    "tanh": one("Tanh", SHAPE, out=Scale(1 / 128, 0)),
    "hard swish": one("HardSwish", SHAPE, opset=14),
    "hard sigmoid": one("HardSigmoid", SHAPE, out=PROBABILITY, alpha=0.25),
    "leaky relu": one("LeakyRelu", SHAPE, alpha=0.1),
    "relu": one("Relu", SHAPE),
    "clip": one("Clip", SHAPE, constants=(np.float32(0), np.float32(6))),
    "max pool": one("MaxPool", SHAPE, out=A, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    "max pool with the mode ceil": one("MaxPool", SHAPE, out=A, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    "max pool with another scale": one("MaxPool", SHAPE, kernel_shape=[3, 3]),
    "average pool": one("AveragePool", SHAPE, out=Scale(0.0155, 5), kernel_shape=[3, 2], strides=[2, 1]),
    "average pool of the same scale": one("AveragePool", SHAPE, out=A, kernel_shape=[2, 2], strides=[2, 2]),
    "average pool, padded": one("AveragePool", SHAPE, out=A, kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    "average pool that counts padding": one(
        "AveragePool", SHAPE, out=A, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    ),
    "average pool with the mode ceil": one(
        "AveragePool", SHAPE, out=A, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1
    ),
    "average pool uint8": one(
        "AveragePool", SHAPE, out=unsigned(A), scales=(unsigned(A),), kernel_shape=[2, 3], strides=[2, 2]
    ),
    "global average pool": one("GlobalAveragePool", (1, 40, 9, 7), out=Scale(0.004, 5)),
    "global max pool": one("GlobalMaxPool", SHAPE, out=A),
    "concat": one("Concat", SHAPE, (1, 3, 9, 7), SHAPE, axis=1),
    "concat of one scale": one("Concat", SHAPE, SHAPE, scales=(A, A), out=A, axis=2),
    "resize to twice the size": one("Resize", SHAPE, out=A, constants=(NONE, floats(1, 1, 2, 2)), mode="nearest"),
    "resize to sizes": one(
        "Resize",
        SHAPE,
        out=A,
        constants=(NONE, NONE, integers(1, 6, 27, 14)),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    ),
    "slice": one("Slice", SHAPE, out=A, constants=(integers(1, 2), integers(5, 99), integers(1, 3), integers(2, 1))),
    "slice backwards": one("Slice", SHAPE, out=A, constants=(integers(-1), integers(-99), integers(3), integers(-2))),
    "pad": one("Pad", SHAPE, out=A, constants=(integers(0, 0, 1, 2, 0, 1, 0, 3), np.float32(0))),
    "pad with a number": one("Pad", SHAPE, out=A, constants=(integers(0, 0, 1, 2, 0, 0, 0, 3), np.float32(0.5))),
    "transpose": one("Transpose", SHAPE, out=A, perm=[0, 2, 3, 1]),
    "softmax": one("Softmax", (5, 12), out=PROBABILITY, axis=-1),
    "softmax uint8": one("Softmax", (5, 12), out=unsigned(PROBABILITY), scales=(unsigned(A),), axis=-1),
    "softmax over the channels, coarse": one("Softmax", SHAPE, out=Scale(0.005, -100), scales=(Scale(0.4, 3),), axis=1),
    "softmax as an output": Qdq().ending("Softmax", SHAPE, A, axis=1),
    "a function as an output": Qdq(14).ending("HardSwish", SHAPE, A),
    "reshape before it is quantised": moved_before_quantised("Reshape", integers(1, 18, 3)),
    "transpose before it is quantised": moved_before_quantised("Transpose", perm=[0, 3, 2, 1]),
    "reshape": one("Reshape", SHAPE, out=A, constants=(integers(0, -1, 7),)),
    "flatten": one("Flatten", SHAPE, out=A),
    "squeeze": one("Squeeze", (1, 6, 1, 1), out=A, constants=(integers(2, 3),)),
    "unsqueeze": one("Unsqueeze", (1, 6), out=A, constants=(integers(2, 3),)),
    "depth to space": one("DepthToSpace", (1, 12, 3, 4), out=A, blocksize=2),
    "space to depth": one("SpaceToDepth", (1, 3, 6, 4), out=A, blocksize=2),
    "depth to space, columns first": one("DepthToSpace", (1, 12, 3, 4), out=A, blocksize=2, mode="CRD"),
}


@pytest.mark.parametrize(
    "model", telling_rows(ONE_OPERATOR.values(), list(ONE_OPERATOR.values())[::3].__contains__), ids=ONE_OPERATOR
)
def test_one_operator(host_network: Build, model: bytes) -> None:
    assert_equals_onnxruntime(host_network(model))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("seed", range(3))
def test_inverted_residuals(host_network: Build, seed: int, dtype: str) -> None:
    network = host_network(qdq_models.residual(seed, dtype))
    assert assert_equals_onnxruntime(network) > 20
    assert [epoch.kind for epoch in network.artifacts.epochs].count("Transpose") == 1


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("seed", range(3))
def test_a_detector(host_network: Build, seed: int, dtype: str) -> None:
    assert assert_equals_onnxruntime(host_network(qdq_models.detector(seed, dtype))) > 15


@pytest.mark.parametrize(
    ("name", "dtype", "tensors"),
    [("classifier", "int8", 8), ("detector", "uint8", 30), ("segmenter", "int8", 8), ("transformer", "int8", 25)],
)
def test_models_that_onnxruntime_has_quantised(
    host_network: Build, tmp_path: Path, name: str, dtype: str, tensors: int
) -> None:
    network = host_network(float_models.quantised(name, dtype, tmp_path))
    assert assert_equals_onnxruntime(network, (0, 1)) >= tensors


def test_a_convolution_that_can_wrap_around_is_named(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    for model, count in ((ONE_OPERATOR["conv with sums that wrap around"], 1), (ONE_OPERATOR["conv"], 0)):
        file.write_bytes(model)
        doubts = doubts_of(graph_of(file))
        assert len(doubts) == count
        assert all("QLinearConv" in name and "wrap around" in text for name, text in doubts.items())


def test_outputs_alike_are_known_by_their_names(host_network: Build) -> None:
    """Names make it possible to compare a run on a board with onnxruntime."""
    model = Qdq()
    name = model.input((1, 6, 9), A)
    outputs = [model.operator(kind, [name], OUT) for kind in ("Relu", "Abs")]
    network = host_network(model.model(outputs[::-1]))
    joined = join(network.artifacts.outputs, ports_of(network.model)[1], "output", channels_last=False)
    assert [one.model.name for one in joined] == outputs[::-1]


def test_yamnet(host_network: Build) -> None:
    network = host_network(sample("npu/yamnet-core-2.2/yamnet_1024_64x96_tl_qdq_int8.onnx"))
    assert assert_equals_onnxruntime(network) == 31
    assert [epoch.kind for epoch in network.artifacts.epochs].count("Transpose") == 1
