"""Random elementwise operators."""

from dataclasses import replace

import elementwise_models as ops
import numpy as np
from numpy.typing import NDArray
from one_op_models import Quantisation

from kernels.case_of_call import case_of
from kernels.kernel_descriptors import Case


def _quantisation(rng: np.random.Generator) -> Quantisation:
    """Return a quantisation, of which every other one has a power of two as scale.

    With it, many values are halfway between integers.
    """
    scale = float(np.float32(10 ** rng.uniform(-2.5, -0.5)))
    return Quantisation(scale if rng.random() < 0.5 else 2.0 ** round(np.log2(scale)), int(rng.integers(-128, 128)))


def lookup(rng: np.random.Generator, elements: int) -> Case:
    values = rng.integers(-128, 128, (1, elements), dtype=np.int8)
    operator = ("ABS", "LEAKY_RELU", "RELU6")[int(rng.integers(3))]
    model = ops.unary(operator, values.shape, _quantisation(rng), _quantisation(rng))
    return case_of(f"lookup of {operator} {elements}", model, [values])


def shapes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two shapes that broadcast.

    They are equal, differ along some dimensions, or one has fewer dimensions.
    """
    rank = int(rng.integers(1, 5))
    whole = rng.integers(1, (90, 20, 7, 4)[rank - 1] + 1, rank)
    a, b = (np.where(rng.random(rank) < rng.choice((0.0, 0.5)), 1, whole).tolist() for _ in range(2))
    return tuple(a), tuple(b[int(rng.integers(rank)) :] if rng.random() < 0.3 else b)


def integers(rng: np.random.Generator, operator: str) -> Case:
    """Return an operator on int32, with small operands or some that overflow."""
    a, b = shapes(rng)
    limit = int(rng.choice((10, 1000, 2**31 - 1)))
    values = [rng.integers(-limit, limit, shape, dtype=np.int32) for shape in (a, b)]
    if operator.startswith("FLOOR") or operator == "DIV":
        values[1] = np.where(values[1] == 0, 3, values[1]).astype(np.int32)
    return case_of(f"{operator} of int32 {a} and {b} below {limit}", ops.unscaled(operator, (a, b)), values)


def reals(rng: np.random.Generator, shape: tuple[int, ...], positive: bool = False) -> NDArray[np.float32]:
    """Return values of all sizes, some subnormal or overflowing; none is 0."""
    exponents = rng.uniform(*((-6, 6) if rng.random() < 0.7 else (-148, 128)), shape)
    values = np.maximum(2.0**exponents, 2.0**-149) * (1 if positive else rng.choice([-1, 1], shape))
    return values.astype(np.float32)


def float_arithmetic(rng: np.random.Generator) -> Case:
    a, b = shapes(rng)
    operator = list(ops.FLOAT_BINARY)[int(rng.integers(len(ops.FLOAT_BINARY)))]
    options = {"fusedActivationFunction": int(rng.choice([0, 0, 1, 2, 3]))} if operator in ops.ACTIVATED else {}
    values = [reals(rng, a), reals(rng, b)]
    constant = values[1] if rng.random() < 0.3 else None
    model = ops.unscaled(operator, (a, b), constant, np.float32, **options)
    return case_of(f"{operator} of float32 {a} and {b}", model, values if constant is None else values[:1])


def float_function(rng: np.random.Generator) -> Case:
    shape = (int(rng.integers(1, 90)),)
    operator = list(ops.FLOAT_UNARY)[int(rng.integers(len(ops.FLOAT_UNARY)))]
    values = reals(rng, shape, positive="SQRT" in operator)
    return case_of(f"{operator} of float32 {shape}", ops.unscaled(operator, [shape], dtype=np.float32), [values])


FLOAT_CASES = {"arithmetic_float32": float_arithmetic, "function_float32": float_function}


def quotient_scale(rng: np.random.Generator, a: float, b: float) -> float:
    """Return an output's scale, from fine to very coarse.

    With the coarsest ones, the reference resolver's shifts have more than 31 bits.
    """
    return float(np.float32(a / b / 2 ** rng.uniform(-4, 11)))


def broadcast(
    rng: np.random.Generator,
    operator: str,
    activation: str = "NONE",
    both: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
    constant: str = "",
) -> Case:
    """Return an operator on two operands that broadcast.

    Args:
        both: Shapes; random ones if None.
        constant: Operand that is constant: "a", "b" or neither.
    """
    a, b = both or shapes(rng)
    if operator == "PRELU":
        a = tuple(int(size) for size in np.broadcast_shapes(a, b))
    quantisations = [_quantisation(rng) for _ in range(3)]
    scale_a, scale_b = (each.per_tensor for each in quantisations[:2])
    if operator in ("MAXIMUM", "MINIMUM"):
        quantisations = quantisations[:1] * 3
    elif operator == "SQUARED_DIFFERENCE":
        target = np.float32(max(scale_a, scale_b) ** 2 * 10 ** rng.uniform(0, 2.5))
        quantisations[2] = Quantisation(float(target), quantisations[2].zero_point)
    elif operator == "DIV":
        quantisations[2] = Quantisation(quotient_scale(rng, scale_a, scale_b), quantisations[2].zero_point)
    elif rng.random() < 0.7:
        product = operator in ("MUL", "PRELU")
        natural = scale_a * scale_b * 30 if product else scale_a + scale_b
        target = np.float32(natural * 10 ** rng.uniform(-1, 1))
        quantisations[2] = Quantisation(float(target), quantisations[2].zero_point)
    values = [rng.integers(-128, 128, shape, dtype=np.int8) for shape in (a, b)]
    if operator == "DIV":
        values[1] = ops.without(values[1], quantisations[1].zero_point)
    constants = [value if each == constant else None for each, value in zip("ab", values, strict=True)]
    activation = activation if operator in ops.ACTIVATED else "NONE"
    model = ops.binary(operator, (a, b), quantisations, activation, constants)
    inputs = [value for value, frozen in zip(values, constants, strict=True) if frozen is None]
    return case_of(f"{operator} of {a} and {b} {activation}, constant {constant}", model, inputs)


def every_pair(rng: np.random.Generator, operator: str) -> Case:
    """Return an operator on all 65,536 pairs of elements."""
    shape = (1, 256, 256, 1)
    case = broadcast(rng, operator, both=(shape, shape))
    every = np.arange(-128, 128).astype(np.int8)
    pairs = [np.repeat(every, 256).reshape(shape), np.tile(every, 256).reshape(shape)]
    if operator == "DIV":
        zero_point = case.values["b_zero_point"]
        assert isinstance(zero_point, int)
        pairs[1] = ops.without(pairs[1], zero_point)
    return replace(case, buffers=dict(zip("ab", pairs, strict=True)), inputs=pairs)
