"""Models of one elementwise operator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray
from one_op_models import _ACTIVATIONS, Quantisation, Tensor, write_model

# Operator -> its table of options in a model file, or None.
UNARY: dict[str, str | None] = {
    "ABS": "AbsOptions",
    "EXP": "ExpOptions",
    "GELU": "GeluOptions",
    "HARD_SWISH": "HardSwishOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "LOG": None,
    "LOGISTIC": None,
    "RELU": None,
    "RELU6": None,
    "RELU_0_TO_1": None,
    "RELU_N1_TO_1": None,
    "RSQRT": None,
    "SQRT": None,
    "TANH": None,
}
BINARY: dict[str, str | None] = {
    "ADD": "AddOptions",
    "DIV": "DivOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MUL": "MulOptions",
    "PRELU": None,
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
    "SUB": "SubOptions",
}
INTEGERS: dict[str, str | None] = {
    "ADD": "AddOptions",
    "DIV": "DivOptions",
    "FLOOR_DIV": "FloorDivOptions",
    "FLOOR_MOD": "FloorModOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MUL": "MulOptions",
    "SUB": "SubOptions",
}
FLOAT_BINARY: dict[str, str | None] = {
    **{name: table for name, table in BINARY.items() if name != "PRELU"},
    "FLOOR_DIV": "FloorDivOptions",
}
FLOAT_UNARY: dict[str, str | None] = {
    "ABS": "AbsOptions",
    "FLOOR": None,
    "RELU": None,
    "RELU6": None,
    "RSQRT": None,
    "SQRT": None,
    "SQUARE": "SquareOptions",
}
FLOATS = FLOAT_BINARY | FLOAT_UNARY
ACTIVATED = ("ADD", "DIV", "MUL", "SUB")
# The interpreter allows only one quantisation of these outputs.
FIXED_OUTPUT = {"LOGISTIC": Quantisation(1 / 256, -128), "TANH": Quantisation(1 / 128, 0)}


def unary(
    operator: str, shape: tuple[int, ...], source: Quantisation, target: Quantisation, **options: object
) -> bytes:
    """Return a model of an operator with one operand.

    Args:
        options: Attributes of the operator's table of options.
    """
    tensors = [Tensor("input", shape, np.int8, source), Tensor("output", shape, np.int8, target)]
    return _written(operator, tensors, UNARY[operator], options, 1)


def binary(
    operator: str,
    shapes: Sequence[tuple[int, ...]],
    quantisations: Sequence[Quantisation],
    activation: str = "NONE",
    constants: Sequence[NDArray[np.int8] | None] = (None, None),
) -> bytes:
    """Return a model of an int8 operator with two operands.

    Args:
        shapes: Shapes of both inputs, which broadcast.
        quantisations: Quantisations of both inputs and the output.
        constants: Values of the operands; None for an input of the network.
    """
    tensors = [
        Tensor(name, shape, np.int8, quantisation, data)
        for name, shape, quantisation, data in zip("ab", shapes, quantisations, constants, strict=False)
    ]
    tensors.append(Tensor("output", np.broadcast_shapes(*shapes), np.int8, quantisations[2]))
    options = {"fusedActivationFunction": _ACTIVATIONS[activation]} if operator in ACTIVATED else {}
    return _written(operator, tensors, BINARY[operator], options, 1 if operator == "PRELU" else 2)


def unscaled(
    operator: str,
    shapes: Sequence[tuple[int, ...]],
    constant: NDArray[np.generic] | None = None,
    dtype: type[np.generic] = np.int32,
    **options: object,
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
    return _written(operator, tensors, (FLOATS if dtype is np.float32 else INTEGERS)[operator], options, 1)


def without(values: NDArray[np.int8], zero_point: int) -> NDArray[np.int8]:
    """Replace elements equal to the zero point by their neighbour.

    The interpreter refuses a divisor of zero.
    """
    return np.where(values == zero_point, zero_point - 1 if zero_point == 127 else zero_point + 1, values).astype(
        np.int8
    )


def _written(
    operator: str, tensors: Sequence[Tensor], options_table: str | None, options: dict[str, Any], version: int
) -> bytes:
    opcode = getattr(schema.BuiltinOperator, operator)
    if options_table is None:
        return write_model(opcode, tensors, version=version)
    table = getattr(schema, f"{options_table}T")()
    for name, value in options.items():
        setattr(table, name, value)
    return write_model(opcode, tensors, table, getattr(schema.BuiltinOptions, options_table), version)
