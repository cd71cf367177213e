"""Functions of single elements.

Limits become part of the operator in front, other functions become a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.functions import is_function, pending_function
from n6build.compile.reference.onnx.node import Node, NodeFamily, Translate
from n6build.compile.reference.onnx.nodes.convolution import held_with
from n6build.compile.reference.onnx.nodes.quantising import quantise, target_of
from n6build.compile.reference.onnx.operators.float_functions import FUNCTIONS, FunctionOptions
from n6build.compile.reference.onnx.real import in_float32, made_in_float32
from n6build.compile.reference.onnx.values import Constant, Float32, Held, Pending, Value

_QUANTISE = "quantise its inputs: QuantizeLinear and DequantizeLinear before it"


def _apply(node: Node, building: Building, value: Value, function: Callable[[Float32], Float32]) -> Value:
    if isinstance(value, Constant):
        with np.errstate(all="ignore"):
            return Constant(function(value.numbers()).astype(np.float32))
    if isinstance(value, Held | Pending) and is_function(value):
        return pending_function(building, value, function)
    raise node.error("N6-NET-004", "its input is not quantised", _QUANTISE)


def element_function(node: Node, building: Building, of: Held, options: FunctionOptions) -> Held:
    """Return a function of each element of float32 in memory."""
    made = building.ordered(of, of.order)
    return made_in_float32(node, building, "FloatFunction", [made.tensor], of.shape, of.order, options)


def _limit(node: Node, building: Building, low: float, high: float) -> Value:
    """Translate limits of real numbers.

    Behind an operator that is still to be quantised, limits become part of that.
    """
    value = node.value(0)
    if isinstance(value, Pending) and value.function is None:
        limits = (min(max(value.low, low), high), max(min(value.high, high), low))
        make_real = value.make_real and _limited_in_float32(node, building, value, (low, high))
        return replace(value, low=limits[0], high=limits[1], make_real=make_real, scaled=None)
    return _apply(node, building, value, lambda x: np.clip(x, np.float32(low), np.float32(high)))


def _limited_in_float32(
    node: Node, building: Building, value: Pending, limits: tuple[float, float]
) -> Callable[[str], Held]:
    make_real = value.make_real
    assert make_real is not None

    def make(name: str) -> Held:
        return element_function(node, building, make_real(f"{name} without limits"), FunctionOptions("CLIP", *limits))

    return make


def _relu(node: Node, building: Building) -> Value:
    return _limit(node, building, 0.0, math.inf)


def _clip(node: Node, building: Building) -> Value:
    return _limit(node, building, *_limits(node))


def _limits(node: Node) -> tuple[float, float]:
    limits = []
    for position, (name, otherwise) in enumerate((("min", -math.inf), ("max", math.inf)), 1):
        constant = node.optional_constant(position)
        number = node.attributes.get(name, otherwise) if constant is None else constant.numbers().reshape(-1)[0]
        limits.append(float(number))
    return limits[0], limits[1]


def _number(node: Node, name: str, otherwise: float) -> np.float32:
    return np.float32(node.attributes.get(name, otherwise))


def _sigmoid(x: Float32) -> Float32:
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)


def _leaky_relu(node: Node) -> Callable[[Float32], Float32]:
    alpha = _number(node, "alpha", 0.01)
    return lambda x: np.where(x >= 0, x, x * alpha)


def _hard_sigmoid(x: Float32, alpha: np.float32, beta: np.float32) -> Float32:
    limited: Float32 = np.clip(alpha * x + beta, np.float32(0), np.float32(1)).astype(np.float32)
    return limited


def _hard_swish(x: Float32) -> Float32:
    product: Float32 = x * _hard_sigmoid(x, np.float32(1 / 6), np.float32(0.5))
    return product


def _elu(node: Node) -> Callable[[Float32], Float32]:
    alpha = float(_number(node, "alpha", 1.0))
    return lambda x: np.where(x >= 0, x, alpha * np.expm1(x.astype(np.float64))).astype(np.float32)


def _in_double(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Float32], Float32]:
    return lambda x: function(x.astype(np.float64)).astype(np.float32)


def _gelu(x: np.ndarray) -> np.ndarray:
    errors = np.vectorize(math.erf)(x / math.sqrt(2))
    result: np.ndarray = x * 0.5 * (1 + errors)
    return result


_FUNCTIONS: dict[str, Callable[[Float32], Float32]] = {
    "Sigmoid": _sigmoid,
    "Tanh": _in_double(np.tanh),
    "HardSwish": _hard_swish,
    "Exp": _in_double(np.exp),
    "Log": _in_double(np.log),
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: np.float32(1) / x,
    "Neg": np.negative,
    "Abs": np.abs,
    "Erf": _in_double(np.vectorize(math.erf)),
    "Gelu": _in_double(_gelu),
    "Softplus": _in_double(lambda x: np.log1p(np.exp(x))),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Mish": _in_double(lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
}
_WITH_ATTRIBUTES: dict[str, Callable[[Node], Callable[[Float32], Float32]]] = {
    "LeakyRelu": _leaky_relu,
    "HardSigmoid": lambda node: lambda x: _hard_sigmoid(x, _number(node, "alpha", 0.2), _number(node, "beta", 0.5)),
    "Elu": _elu,
}


def _plain(function: Callable[[Float32], Float32]) -> Translate:
    return lambda node, building: _apply(node, building, node.value(0), function)


def _with_attributes(of: Callable[[Node], Callable[[Float32], Float32]]) -> Translate:
    return lambda node, building: _apply(node, building, node.value(0), of(node))


def _qlinear(of: Callable[[Node], Callable[[Float32], Float32]]) -> Translate:
    """Return the translation of a function of com.microsoft.

    Inputs: x, its scale and zero point, scale and zero point of the output.
    """

    def translate(node: Node, building: Building) -> Value:
        pending = pending_function(building, held_with(node, building, 0), of(node))
        return quantise(node, building, pending, target_of(node, 3))

    return translate


# The kernel's name of each function.
_IN_FLOAT32: dict[str, Callable[[Node], FunctionOptions]] = {
    "Relu": lambda _: FunctionOptions("CLIP", 0.0, math.inf),
    "Clip": lambda node: FunctionOptions("CLIP", *_limits(node)),
    "HardSigmoid": lambda node: FunctionOptions(
        "HARD_SIGMOID", float(_number(node, "alpha", 0.2)), float(_number(node, "beta", 0.5))
    ),
    "HardSwish": lambda _: FunctionOptions("HARD_SWISH", float(np.float32(1 / 6)), 0.5),
    "LeakyRelu": lambda node: FunctionOptions("LEAKY_RELU", float(_number(node, "alpha", 0.01))),
    "Elu": lambda node: FunctionOptions("ELU", float(_number(node, "alpha", 1.0))),
}


def _named(name: str) -> Callable[[Node], FunctionOptions]:
    return lambda _: FunctionOptions(name.upper())


def _in_float32(options: Callable[[Node], FunctionOptions]) -> Translate:
    return lambda node, building: element_function(node, building, in_float32(node, building, 0), options(node))


FAMILY = NodeFamily(
    {
        "Relu": _relu,
        "Clip": _clip,
        **{name: _plain(function) for name, function in _FUNCTIONS.items()},
        **{name: _with_attributes(of) for name, of in _WITH_ATTRIBUTES.items()},
        "QLinearSigmoid": _qlinear(lambda _: _sigmoid),
        "QLinearLeakyRelu": _qlinear(_leaky_relu),
    },
    {name: _in_float32(_named(name)) for name in _FUNCTIONS if name.upper() in FUNCTIONS}
    | {name: _in_float32(options) for name, options in _IN_FLOAT32.items()},
)
