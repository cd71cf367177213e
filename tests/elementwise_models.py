"""Models of one elementwise operator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from one_op_models import Quantisation, Shape, Tensor, Type, write_model

UNARY = (
    *("ABS", "ELU", "EXP", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "RELU", "RELU6", "RELU_0_TO_1"),
    *("RELU_N1_TO_1", "RSQRT", "SQRT", "TANH"),
)
BINARY = ("ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "PRELU", "SQUARED_DIFFERENCE", "SUB")
INTEGERS = ("ADD", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "MUL", "SUB")
FLOAT_BINARY = (*[name for name in BINARY if name != "PRELU"], "FLOOR_DIV")
FLOAT_UNARY = ("ABS", "FLOOR", "RELU", "RELU6", "RSQRT", "SQRT", "SQUARE")
_WITHOUT_OPTIONS = ("ELU", "FLOOR", "LOG", "LOGISTIC", "PRELU", "RSQRT", "SQRT", "TANH")
ACTIVATED = ("ADD", "DIV", "MUL", "SUB")
# The interpreter allows only one quantisation of these outputs.
FIXED_OUTPUT = {"LOGISTIC": Quantisation(1 / 256, -128), "TANH": Quantisation(1 / 128, 0)}


def options_table(operator: str) -> str:
    """Return the name of an operator's table of options in a model file, "" for none."""
    if operator.startswith("RELU") or operator in _WITHOUT_OPTIONS:
        return ""
    return "MaximumMinimum" if operator in ("MAXIMUM", "MINIMUM") else operator.title().replace("_", "")


def unary(
    operator: str, shape: Shape, source: Quantisation, target: Quantisation, dtype: Type = np.int8, **options: Any
) -> bytes:
    """Return a model of an operator with one operand.

    Args:
        options: Attributes of the operator's table of options.
    """
    tensors = [Tensor("input", shape, dtype, source), Tensor("output", shape, dtype, target)]
    return write_model(operator, tensors, options_table(operator), 1 if dtype is np.int8 else 2, **options)


def binary(
    operator: str,
    shapes: Sequence[tuple[int, ...]],
    quantisations: Sequence[Quantisation],
    activation: str = "NONE",
    constants: Sequence[NDArray[np.generic] | None] = (None, None),
    dtype: Type = np.int8,
    **options: Any,
) -> bytes:
    """Return a model of an int8 operator with two operands.

    Args:
        shapes: Shapes of both inputs, which broadcast.
        quantisations: Quantisations of both inputs and the output.
        constants: Values of the operands; None for an input of the network.
    """
    tensors = [
        Tensor(name, shape, dtype, quantisation, data)
        for name, shape, quantisation, data in zip("ab", shapes, quantisations, constants, strict=False)
    ]
    tensors.append(Tensor("output", np.broadcast_shapes(*shapes), dtype, quantisations[2]))
    if operator in ACTIVATED:
        options["fusedActivationFunction"] = activation
    if dtype is np.int16 and operator != "MUL":
        options.setdefault("potScaleInt16", False)
    version = 1 if operator == "PRELU" else 2 if dtype is np.int8 else 4 if operator == "ADD" else 5
    return write_model(operator, tensors, options_table(operator), version, **options)


def unscaled(
    operator: str,
    shapes: Sequence[tuple[int, ...]],
    constant: NDArray[np.generic] | None = None,
    dtype: type[np.generic] = np.int32,
    **options: Any,
) -> bytes:
    """Return a model of an int32 or float32 operator with one or two operands.

    Args:
        constant: The second operand; None for an input.
    """
    data = (None, constant)
    tensors = [
        Tensor(name, shape, dtype, None, data[i]) for i, (name, shape) in enumerate(zip("ab", shapes, strict=False))
    ]
    tensors.append(Tensor("output", np.broadcast_shapes(*shapes), dtype))
    return write_model(operator, tensors, options_table(operator), **options)


def without(values: NDArray[np.int8], zero_point: int) -> NDArray[np.int8]:
    """Replace elements equal to the zero point by their neighbour.

    The interpreter refuses a divisor of zero.
    """
    return np.where(values == zero_point, zero_point - 1 if zero_point == 127 else zero_point + 1, values).astype(
        np.int8
    )
