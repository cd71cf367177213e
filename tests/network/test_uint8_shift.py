"""Reason to compute uint8 models as int8: equal bits but for 128 more.

The reference interpreter gives the same bits for both types, with that difference.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import one_op_models as ops
import pytest
import reference_interpreter
from elementwise_models import binary, unary
from n6build.compile.reference.unsigned import SAME_SHIFTED
from numpy.typing import NDArray
from one_op_models import Quantisation
from sequence_models import search
from uint8_models import raised, to_uint8

MODELS = 12
# These rules fix the scale and zero point of an int8 output.
_OUTPUTS = {
    "LOGISTIC": Quantisation(1 / 256, -128),
    "TANH": Quantisation(1 / 128, 0),
    "LOG_SOFTMAX": Quantisation(16 / 256, 127),
}
SHAPE = (1, 5, 60)
_ALIKE = {"MAXIMUM", "MINIMUM", "REDUCE_MAX", "REDUCE_MIN"}


def _random(rng: np.random.Generator) -> Quantisation:
    return Quantisation(float(np.float32(rng.uniform(0.005, 0.2))), int(rng.integers(-128, 128)))


def _weights(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int8]:
    return rng.integers(-127, 128, shape, dtype=np.int8)


def _of_one(name: str, rng: np.random.Generator) -> bytes:
    given = _random(rng)
    options: dict[str, Any] = {"alpha": float(rng.uniform(0.01, 0.5))} if name == "LEAKY_RELU" else {}
    return unary(name, SHAPE, given, _OUTPUTS.get(name) or _random(rng), **options)


def _of_two(name: str, rng: np.random.Generator) -> bytes:
    scales = [_random(rng)] * 3 if name in _ALIKE else [_random(rng) for _ in range(3)]
    return binary(name, (SHAPE, SHAPE), scales)


def _prelu(name: str, rng: np.random.Generator) -> bytes:
    slopes, scales = (1, 1, 60), [_random(rng) for _ in range(3)]
    return binary(name, ((1, 3, 5, 60), slopes), scales, constants=(None, _weights(rng, slopes)))


def _reduction(name: str, rng: np.random.Generator) -> bytes:
    given = _random(rng)
    return ops.reduction(name, (1, 5, 6, 40), [2], given, given)


def _position(name: str, rng: np.random.Generator) -> bytes:
    return search(name.removeprefix("ARG_").title(), (1, 5, 6), 2, np.int32, _random(rng))


MAKERS: dict[str, Callable[[str, np.random.Generator], bytes]] = {
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "LEAKY_RELU"), _of_one),
    **dict.fromkeys(("HARD_SWISH", "LOG_SOFTMAX"), _of_one),
    **dict.fromkeys(("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM"), _of_two),
    **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN"), _reduction),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), _position),
    "PRELU": _prelu,
    "MEAN": lambda _, rng: ops.mean((7, 7, 60), _random(rng), _random(rng)),
    "SOFTMAX": lambda _, rng: ops.softmax(4, 60, float(np.float32(rng.uniform(0.01, 0.3)))),
    "MAX_POOL_2D": lambda _, rng: ops.pool_2d("MAX", (9, 7, 20), (2, 2), (2, 2), _random(rng)),
    "QUANTIZE": lambda _, rng: ops.quantize((1, 300), np.int8, np.int8, _random(rng), _random(rng)),
    "DEQUANTIZE": lambda _, rng: ops.dequantize((1, 300), np.int8, _random(rng)),
    "FULLY_CONNECTED": lambda _, rng: ops.fully_connected(
        4, _weights(rng, (60, 37)), np.zeros(60, np.int32), [0.01], _random(rng), _random(rng)
    ),
}
# tests/network/test_uint8.py compiles these as uint8, with kernels of their own.
_OWN_KERNELS = {"CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D"}


def test_every_operator_that_computes_is_compared() -> None:
    moving = {"BATCH_TO_SPACE_ND", "PAD", "RESHAPE", "TRANSPOSE"}
    assert moving <= SAME_SHIFTED
    assert set(MAKERS) | _OWN_KERNELS <= SAME_SHIFTED


@pytest.mark.parametrize("name", MAKERS)
def test_the_bits_are_the_same_but_for_128(name: str) -> None:
    for seed in range(MODELS):
        rng = np.random.default_rng(seed)
        model = MAKERS[name](name, rng)
        shapes = [detail["shape"] for detail in reference_interpreter.load(model).get_input_details()]
        inputs = [_weights(rng, tuple(shape)) for shape in shapes]
        signed = reference_interpreter.outputs(model, *inputs)[0]
        unsigned = reference_interpreter.outputs(to_uint8(model), *map(raised, inputs))[0]
        assert np.array_equal(unsigned, raised(signed) if signed.dtype == np.int8 else signed)
