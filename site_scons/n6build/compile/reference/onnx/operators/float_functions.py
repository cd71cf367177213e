"""Functions of one float32 element, where a model does not quantise."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.compile.reference.descriptors import Member, elements, enumeration, kernel_with, of_type
from n6build.compile.reference.kernel_call import KernelCall, element_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, Rule, check_elementwise

_NAMES = (
    "CLIP",
    "EXP",
    "LOG",
    "SQRT",
    "RECIPROCAL",
    "NEG",
    "ABS",
    "SIGMOID",
    "TANH",
    "ERF",
    "FLOOR",
    "CEIL",
    "ROUND",
    "SOFTPLUS",
    "SOFTSIGN",
    "HARD_SIGMOID",
    "HARD_SWISH",
    "LEAKY_RELU",
    "ELU",
    "GELU",
    "MISH",
    "POWER",
)
# The functions, and the number of each in a descriptor.
FUNCTIONS = {name: number for number, name in enumerate(_NAMES)}

_KERNEL = kernel_with(
    "float_function",
    *elements("float", "float"),
    *of_type("float", "alpha", "beta"),
    Member("function", "uint8_t", note="N6K_FLOAT_..."),
    doc="Of each float32 element. alpha, beta: limits of CLIP; factor and summand of HARD_SIGMOID and HARD_SWISH; factor of "
    "LEAKY_RELU and ELU; exponent of POWER.",
    definitions=enumeration("N6K_FLOAT", FUNCTIONS),
    in_place=("input",),
)


@dataclass(frozen=True)
class FunctionOptions:
    """Options of a FloatFunction.

    Attributes:
        name: Name of the function, one of FUNCTIONS.
        alpha: First parameter, as in the descriptor.
        beta: Second parameter.
    """

    name: str
    alpha: float = 0.0
    beta: float = 0.0


def _lower(operands: Operands) -> KernelCall:
    options = operands.options(FunctionOptions)
    return KernelCall(
        _KERNEL,
        {
            **element_arguments(operands),
            "alpha": options.alpha,
            "beta": options.beta,
            "function": FUNCTIONS[options.name],
        },
    )


_RULE = Rule((FLOAT32,), 1, (), FLOAT32, check_elementwise, first_may_be_constant=True)
OPERATORS = (OperatorKind("FloatFunction", "FloatFunction", _RULE, _lower, (_KERNEL,)),)
