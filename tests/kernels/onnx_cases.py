"""Random operators of ONNX models, as calls of their kernels."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import float_islands
import numpy as np
from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.kinds import KINDS, ONNX_KINDS, TFLITE_KINDS
from n6build.compile.reference.operands import operands_of
from network.onnx_equality import onnx_graph
from numpy.typing import NDArray
from qdq_models import Layers, Scale

from kernels.case_of_call import case_of_call
from kernels.draws import one_of
from kernels.kernel_descriptors import Case

_OF_TFLITE = {kernel for kind in TFLITE_KINDS.values() for kernel in kind.kernels}
# These kernels have no other test.
KERNELS = sorted({kernel.name for kind in ONNX_KINDS.values() for kernel in kind.kernels if kernel not in _OF_TFLITE})

Random = np.random.Generator


def random_case(kernel: str, rng: Random) -> Case:
    """Return any call of a kernel, small enough to be quick."""
    model = _MODELS[kernel](Layers(int(rng.integers(1 << 30)), 18, ("int8", "uint8")[int(rng.integers(2))]), rng)
    graph = _graph(model)
    for operator in graph.operators:
        call = KINDS[operator.kind].lower(operands_of(graph, operator))
        if isinstance(call, KernelCall) and call.kernel.name == kernel:
            return _case(graph, operator, call, rng)
    raise AssertionError(f"the model has no call of {kernel}")


def _graph(model: bytes) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        return onnx_graph(model, Path(folder))


def _values(tensor: Tensor, rng: Random) -> NDArray[np.generic]:
    if tensor.dtype == "float32":
        return (rng.normal(0, 1, tensor.shape) * 10 ** rng.uniform(-2, 2)).astype(np.float32)
    return rng.integers(-128, 128, tensor.shape, dtype=np.int8)


def _case(graph: Graph, operator: Operator, call: KernelCall, rng: Random) -> Case:
    output = graph.tensors[operator.output]
    name = f"{output.shape} {operator.options}"
    return case_of_call(name, call, output, lambda tensor: _values(tensor, rng), work=output.elements)


def _window(rng: Random, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return strides and paddings of a window of this shape."""
    pads = [int(rng.integers(0, size)) for size in (*shape, *shape)]
    return {"strides": [int(rng.integers(1, 4)) for _ in shape], "pads": pads}


def _image(rng: Random, channels: int) -> tuple[int, ...]:
    return (1, channels, int(rng.integers(5, 12)), int(rng.integers(5, 12)))


def _conv(layers: Layers, rng: Random) -> bytes:
    groups, depth, each = one_of(rng, 1, 1, 1, 2, 3), one_of(rng, 1, 3, 4, 8, 16, 17), int(rng.integers(1, 20))
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
    channels, multiplier = int(rng.integers(2, 30)), one_of(rng, 1, 1, 2, 3, 8)
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


def _softmax(layers: Layers, rng: Random) -> str:
    scale = layers.any_scale(10 ** rng.uniform(-3, 0))
    name = layers.input((int(rng.integers(1, 5)), int(rng.integers(1, 70))), scale)
    return layers.node("Softmax", [name], axis=-1)[0]


def _mean(layers: Layers, rng: Random) -> bytes:
    """Return a mean over the last dimensions, or the first."""
    axes = [[2, 3], [1], [1, 2]][int(rng.integers(3))]
    name = layers.input(_image(rng, int(rng.integers(1, 12))), layers.any_scale(0.03))
    made = layers.node("ReduceMean" if rng.random() < 0.7 else "ReduceSum", [name, *_axes(layers, axes)])
    return layers.model([layers.qdq(made[0], layers.any_scale(0.01))])


def _axes(layers: Layers, axes: list[int]) -> list[str]:
    return [layers.constant(np.array(axes, np.int64))]


def _with_numbers(
    kind: str, layers: Layers, rng: Random, shape: tuple[int, ...], *sizes: tuple[int, ...], mean: float = 1
) -> bytes:
    """Return a model of one operator that reads float32 constants."""
    name = layers.input(shape, layers.any_scale(0.03))
    numbers = [layers.constant(rng.normal(mean, 0.5, size).astype(np.float32)) for size in sizes]
    return layers.model([layers.operator(kind, [name, *numbers], layers.any_scale(0.02))])


def _layer_norm(layers: Layers, rng: Random) -> bytes:
    shape = (1, int(rng.integers(1, 6)), int(rng.integers(1, 50)))
    return _with_numbers("LayerNormalization", layers, rng, shape, *[shape[-1:]] * int(rng.integers(1, 3)))


def _instance_norm(layers: Layers, rng: Random) -> bytes:
    shape = _image(rng, int(rng.integers(1, 12)))
    return _with_numbers("InstanceNormalization", layers, rng, shape, *[shape[1:2]] * 2)


def _prelu(layers: Layers, rng: Random) -> bytes:
    shape = _image(rng, int(rng.integers(1, 30)))
    return _with_numbers("PRelu", layers, rng, shape, (shape[1], 1, 1), mean=0)


def _resize(layers: Layers, rng: Random) -> bytes:
    shape = _image(rng, int(rng.integers(1, 30)))
    scale = layers.any_scale(0.03)
    nothing = layers.constant(np.zeros(0, np.float32))
    sizes = np.array([*shape[:2], *rng.integers(1, 20, 2)], np.int64)
    inputs = [layers.input(shape, scale), nothing, nothing, layers.constant(sizes)]
    mode = ("half_pixel", "align_corners", "asymmetric")[int(rng.integers(3))]
    made = layers.node("Resize", inputs, mode="linear", coordinate_transformation_mode=mode)
    return layers.model([layers.qdq(made[0], layers.any_scale(0.03))])


def _matmul(layers: Layers, rng: Random) -> bytes:
    rows, depth, columns, batches = (int(size) for size in rng.integers(1, (9, 50, 20, 4)))
    scales = [layers.any_scale(0.03) for _ in range(2)]
    shared = rng.random() < 0.3
    names = [
        layers.input(shape, scale)
        for shape, scale in zip(
            ((1, batches, rows, depth), (1, 1 if shared else batches, depth, columns)), scales, strict=True
        )
    ]
    return layers.model([layers.operator("MatMul", names, layers.any_scale(0.1))])


def _table(layers: Layers, rng: Random) -> bytes:
    name = layers.input((1, int(rng.integers(1, 100))), layers.any_scale(0.03))
    return layers.model(layers.node("Tanh", [name]))


def _of_real(*choices: Callable[[str, Layers, Random], list[str]]) -> Callable[[Layers, Random], bytes]:
    """Return a model of an operator that reads numbers that int8 does not hold."""

    def model(layers: Layers, rng: Random) -> bytes:
        shape = _image(rng, int(rng.integers(1, 12)))
        numbers = layers.constant(rng.normal(0, 1, shape[-1]).astype(np.float32))
        name = layers.node("Add", [layers.input(shape, layers.any_scale(0.03)), numbers])[0]
        made = one_of(rng, *choices)(name, layers, rng)
        return layers.model(made, [1, 7][: len(made)])

    return model


def _of_node(
    kind: str, *constants: Any, outputs: int = 1, **options: Any
) -> Callable[[str, Layers, Random], list[str]]:
    def node(name: str, layers: Layers, _: Random) -> list[str]:
        return layers.node(kind, [name, *(layers.constant(np.asarray(each)) for each in constants)], outputs, **options)

    return node


def _float_resize(name: str, layers: Layers, rng: Random) -> list[str]:
    scales = layers.constant(np.array([1, 1, *rng.uniform(0.5, 3, 2)], np.float32))
    mode = ("half_pixel", "align_corners", "asymmetric")[int(rng.integers(3))]
    nothing = layers.constant(np.zeros(0, np.float32))
    return layers.node("Resize", [name, nothing, scales], mode="linear", coordinate_transformation_mode=mode)


def _float_conv(layers: Layers, rng: Random) -> bytes:
    groups, depth, each = one_of(rng, 1, 1, 2, 3), one_of(rng, 1, 3, 4, 8), int(rng.integers(1, 12))
    window = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    weights = layers.constant(rng.normal(0, 1, (groups * each, depth, *window)).astype(np.float32))
    name = layers.input(_image(rng, groups * depth), layers.any_scale(0.03))
    return layers.model(layers.node("Conv", [name, weights], group=groups, **_window(rng, window)))


def _float_matmul(layers: Layers, rng: Random) -> bytes:
    rows, depth, columns = (int(size) for size in rng.integers(1, (9, 50, 20)))
    name = layers.input((1, 2, rows, depth), layers.any_scale(0.03))
    return layers.model(
        layers.node("MatMul", [name, layers.constant(rng.normal(0, 1, (depth, columns)).astype(np.float32))])
    )


_FUNCTIONS = (
    "Sigmoid",
    "Tanh",
    "HardSwish",
    "Exp",
    "Log",
    "Sqrt",
    "Reciprocal",
    "Neg",
    "Abs",
    "Erf",
    "Softplus",
    "Softsign",
)
_MORE_FUNCTIONS = ("Floor", "Ceil", "Round", "Relu", "LeakyRelu", "HardSigmoid", "Elu", "Mish")
_POOLS: dict[str, Any] = {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 1, 0, 2]}

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
    "real_div": _binary("Div"),
    "real_max": _binary("Max"),
    "real_min": _binary("Min"),
    "real_mean": _mean,
    "real_layer_norm": _layer_norm,
    "real_instance_norm": _instance_norm,
    "real_prelu": _prelu,
    "real_resize": _resize,
    "qlinear_batch_matmul": _matmul,
    "qlinear_quantize": _quantize,
    "qlinear_softmax": lambda layers, rng: layers.model([layers.qdq(_softmax(layers, rng), layers.any_scale(1 / 256))]),
    "real_softmax": lambda layers, rng: layers.model([_softmax(layers, rng)]),
    "real_table": _table,
    "float_function": _of_real(*map(_of_node, (*_FUNCTIONS, *_MORE_FUNCTIONS)), _of_node("Pow", np.float32(1.7))),
    "float_reduce": _of_real(
        *(_of_node(f"Reduce{kind}", np.array([2, 3])) for kind in ("Mean", "Sum", "Max", "Min", "Prod"))
    ),
    "float_softmax": _of_real(_of_node("Softmax", axis=1), _of_node("LogSoftmax", axis=-1)),
    "float_top_k": _of_real(
        _of_node("TopK", np.array([3]), outputs=2), _of_node("TopK", np.array([4]), outputs=2, largest=0)
    ),
    "float_non_max_suppression": lambda _, rng: float_islands.selection(rng),
    "float_pool": _of_real(_of_node("MaxPool", **_POOLS), _of_node("AveragePool", count_include_pad=1, **_POOLS)),
    "float_resize": _of_real(_float_resize),
    "float_conv": _float_conv,
    "float_matmul": _float_matmul,
}
