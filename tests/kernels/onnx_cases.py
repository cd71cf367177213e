"""Random operators of ONNX models, as calls of their kernels."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from n6build.network.reference.graph import Graph, Operator, Tensor
from n6build.network.reference.graph_checks import check_graph
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.kinds import KINDS, ONNX_KINDS, TFLITE_KINDS
from n6build.network.reference.onnx.reader import read_onnx_graph
from n6build.network.reference.operands import operands_of
from numpy.typing import NDArray
from qdq_models import Layers, Scale

from kernels.case_of_call import case_of_call
from kernels.kernel_descriptors import Case

_OF_TFLITE = {kernel for kind in TFLITE_KINDS.values() for kernel in kind.kernels}
# What no other test of the kernels has.
KERNELS = sorted({kernel.name for kind in ONNX_KINDS.values() for kernel in kind.kernels if kernel not in _OF_TFLITE})

Random = np.random.Generator


def random_case(kernel: str, rng: Random) -> Case:
    """Any call of a kernel, small enough to be quick."""
    model = _MODELS[kernel](Layers(int(rng.integers(1 << 30)), 13, ("int8", "uint8")[int(rng.integers(2))]), rng)
    graph = _graph(model)
    for operator in graph.operators:
        call = KINDS[operator.kind].lower(operands_of(graph, operator))
        if isinstance(call, KernelCall) and call.kernel.name == kernel:
            return _case(graph, operator, call, rng)
    raise AssertionError(f"the model has no call of {kernel}")


def _graph(model: bytes) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        file.write_bytes(model)
        graph = read_onnx_graph(file)
    check_graph(graph, file.name)
    return graph


def _values(tensor: Tensor, rng: Random) -> NDArray[np.generic]:
    if tensor.dtype == "float32":
        return (rng.normal(0, 1, tensor.shape) * 10 ** rng.uniform(-2, 2)).astype(np.float32)
    return rng.integers(-128, 128, tensor.shape, dtype=np.int8)


def _case(graph: Graph, operator: Operator, call: KernelCall, rng: Random) -> Case:
    output = graph.tensors[operator.output]
    name = f"{output.shape} {operator.options}"
    return case_of_call(name, call, output, lambda tensor: _values(tensor, rng), work=output.elements)


def _one_of(rng: Random, *choices: int) -> int:
    return choices[int(rng.integers(len(choices)))]


def _window(rng: Random, shape: tuple[int, ...]) -> dict[str, Any]:
    """Strides and paddings of a window of this shape."""
    pads = [int(rng.integers(0, size)) for size in (*shape, *shape)]
    return {"strides": [int(rng.integers(1, 4)) for _ in shape], "pads": pads}


def _image(rng: Random, channels: int) -> tuple[int, ...]:
    return (1, channels, int(rng.integers(5, 12)), int(rng.integers(5, 12)))


def _conv(layers: Layers, rng: Random) -> bytes:
    groups, depth, each = _one_of(rng, 1, 1, 1, 2, 3), _one_of(rng, 1, 3, 4, 8, 16, 17), int(rng.integers(1, 20))
    each = max(each, 2) if depth == 1 else each
    window = (1, 1) if rng.random() < 0.3 else (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    # One input channel for each group would be another kernel.
    groups = 1 if depth == 1 else groups
    scale = layers.any_scale(0.03)
    name = layers.input(_image(rng, groups * depth), scale)
    shape = (groups * each, depth, *window)
    options: dict[str, Any] = {"group": groups, "relu": rng.random() < 0.3, "per_channel": rng.random() < 0.7}
    return layers.model([layers.conv(name, scale, shape, **options, **_window(rng, window))[0]])


def _depthwise(layers: Layers, rng: Random) -> bytes:
    channels, multiplier = int(rng.integers(2, 30)), _one_of(rng, 1, 1, 2, 3, 8)
    window = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    scale = layers.any_scale(0.03)
    name = layers.input(_image(rng, channels), scale)
    shape = (channels * multiplier, 1, *window)
    options: dict[str, Any] = {"group": channels, "relu": rng.random() < 0.3}
    return layers.model([layers.conv(name, scale, shape, **options, **_window(rng, window))[0]])


def _pool(layers: Layers, rng: Random) -> bytes:
    window = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    scale = layers.any_scale(0.03)
    name = layers.input(_image(rng, int(rng.integers(1, 30))), scale)
    options: dict[str, Any] = {"kernel_shape": list(window), "count_include_pad": int(rng.random() < 0.5)}
    return layers.model([layers.operator("AveragePool", [name], scale, **options, **_window(rng, window))])


def _global_pool(layers: Layers, rng: Random) -> bytes:
    scale = layers.any_scale(0.03)
    name = layers.input(_image(rng, int(rng.integers(1, 40))), scale)
    return layers.model([layers.operator("GlobalAveragePool", [name], layers.any_scale(0.005))])


def _binary(kind: str, limited: bool = False) -> Callable[[Layers, Random], bytes]:
    def model(layers: Layers, rng: Random) -> bytes:
        scales = [layers.any_scale(0.03) for _ in range(2)]
        shape = _image(rng, int(rng.integers(1, 8)))
        smaller = [tuple(1 if rng.random() < chance else size for size in shape) for chance in (0.0, 0.4)]
        names = [layers.input(each, scale) for each, scale in zip(smaller, scales, strict=True)]
        if rng.random() < 0.5:
            names.reverse()
        made = layers.node(kind, names)[0]
        if limited:
            made = layers.node("Relu", [made])[0]
        return layers.model([layers.qdq(made, layers.any_scale(0.05))])

    return model


def _quantize(layers: Layers, rng: Random) -> bytes:
    return layers.model([layers.input((1, int(rng.integers(1, 100))), Scale(0.05, int(rng.integers(-128, 128))))])


def _softmax(layers: Layers, rng: Random) -> bytes:
    scale = layers.any_scale(10 ** rng.uniform(-3, 0))
    name = layers.input((int(rng.integers(1, 5)), int(rng.integers(1, 70))), scale)
    return layers.model(layers.node("Softmax", [name], axis=-1))


def _quantised_softmax(layers: Layers, rng: Random) -> bytes:
    scale = layers.any_scale(10 ** rng.uniform(-3, 0))
    name = layers.input((int(rng.integers(1, 5)), int(rng.integers(1, 70))), scale)
    return layers.model([layers.operator("Softmax", [name], layers.any_scale(1 / 256), axis=-1)])


_MODELS: dict[str, Callable[[Layers, Random], bytes]] = {
    "qlinear_conv": _conv,
    "qlinear_depthwise_conv": _depthwise,
    "qlinear_average_pool": _pool,
    "qlinear_global_average_pool": _global_pool,
    "qlinear_add": _binary("Add"),
    "qlinear_mul": _binary("Mul"),
    "real_add": _binary("Add", limited=True),
    "real_mul": _binary("Mul", limited=True),
    "real_sub": _binary("Sub"),
    "qlinear_quantize": _quantize,
    "qlinear_softmax": _quantised_softmax,
    "real_softmax": _softmax,
}
