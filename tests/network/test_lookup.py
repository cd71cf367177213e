"""Functions of one element: every table entry is the reference's result."""

import math
from pathlib import Path
from typing import Any

import elementwise_models as ops
import numpy as np
import pytest
import reference_interpreter
from movement_models import random_inputs
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import operands_of
from n6build.compile.reference.tflite_reader import read_graph
from numpy.typing import NDArray
from one_op_models import Quantisation

from network.equality import assert_equal_everywhere, assert_exact
from network.host_network import Build
from network.network_models import as_file, chain, model_error

EVERY = np.arange(-128, 128, dtype=np.int8)
MODELS = 150
# The reference resolver stops at the square root of a negative number.
NOT_NEGATIVE = ("RSQRT", "SQRT")
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "GELU": [{"approximate": False}, {"approximate": True}],
    "LEAKY_RELU": [{"alpha": 0.1}, {"alpha": 0.3}, {"alpha": -0.5}, {"alpha": 0.0}, {"alpha": 1.7}],
}


def table_of(model: bytes, folder: Path) -> NDArray[np.generic]:
    """Return the table of a model's only operator, for -128 to 127."""
    file = as_file(model, folder)
    graph = read_graph(file)
    check_graph(graph, file.name)
    (operator,) = graph.operators
    call = KINDS[operator.kind].lower(operands_of(graph, operator))
    assert isinstance(call, KernelCall)
    table = call.arguments["table"]
    assert isinstance(table, Constant)
    return table.data[EVERY.view(np.uint8)]


def random_quantisation(rng: np.random.Generator, binary: bool, low: float, high: float) -> Quantisation:
    """Return a random quantisation.

    Args:
        rng: Source of the numbers.
        binary: Take a power of two, with which many values are halfway between integers.
        low: Smallest scale, as a decimal logarithm.
        high: Largest scale, as a decimal logarithm.
    """
    scale = float(np.float32(10 ** rng.uniform(low, high)))
    return Quantisation(2.0 ** round(math.log2(scale)) if binary else scale, int(rng.integers(-128, 128)))


def random_model(operator: str, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    source = random_quantisation(rng, seed % 4 == 0, -3, 0.3)
    if operator in NOT_NEGATIVE:
        source = Quantisation(source.per_tensor, -128)
    # A hard swish whose input scale exceeds 128 times the output's is refused.
    lowest = math.log10(source.per_tensor / 60) if operator == "HARD_SWISH" else -2.5
    target = random_quantisation(rng, seed % 4 == 0, lowest, 0)
    choices = OPTIONS.get(operator, [{}])
    options = choices[seed % len(choices)]
    return ops.unary(operator, EVERY.shape, source, ops.FIXED_OUTPUT.get(operator, target), **options)


@pytest.mark.parametrize("operator", ops.UNARY)
def test_every_entry_of_the_table_is_the_reference_s(operator: str, tmp_path: Path) -> None:
    spread = 0
    for seed in range(MODELS):
        model = random_model(operator, seed)
        expected = reference_interpreter.outputs(model, EVERY)[0]
        different = int(np.sum(table_of(model, tmp_path) != expected))
        assert different == 0, f"seed {seed}: {different} entries differ"
        spread = max(spread, len(np.unique(expected)))
    assert spread > 100, "a table of few values shows little"


@pytest.mark.parametrize("operator", ["ABS", "LEAKY_RELU", "RELU"])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (Quantisation(0.07449513673782349, 78), Quantisation(0.01785651221871376, -84)),
        (Quantisation(0.07245352864265442, -64), Quantisation(0.06993936747312546, -67)),
    ],
)
def test_the_quotient_of_scales_is_a_float32(
    operator: str, source: Quantisation, target: Quantisation, tmp_path: Path
) -> None:
    """A quotient in double precision gives another entry with these scales."""
    options: dict[str, Any] = {"alpha": 0.1} if operator == "LEAKY_RELU" else {}
    model = ops.unary(operator, EVERY.shape, source, target, **options)
    assert np.array_equal(table_of(model, tmp_path), reference_interpreter.outputs(model, EVERY)[0])


@pytest.mark.parametrize("operator", ops.UNARY)
def test_an_operator_alone(operator: str, host_network: Build) -> None:
    source = Quantisation(0.05, -128 if operator in NOT_NEGATIVE else 3)
    target = ops.FIXED_OUTPUT.get(operator, Quantisation(0.04, -7))
    model = ops.unary(operator, (1, 3, 7, 13), source, target)
    network = host_network(model)
    assert len(network.artifacts.epochs) == 1
    for seed in range(3):
        assert_equal_everywhere(network, model, random_inputs(model, seed))


def test_a_chain_of_them(host_network: Build) -> None:
    shape, middle = (1, 5, 4, 9), Quantisation(0.03, -20)
    model = chain(
        ops.unary("HARD_SWISH", shape, Quantisation(0.06, 9), middle),
        ops.unary("LEAKY_RELU", shape, middle, Quantisation(0.02, 40), alpha=0.2),
        ops.unary("LOGISTIC", shape, Quantisation(0.02, 40), ops.FIXED_OUTPUT["LOGISTIC"]),
    )
    assert_exact(host_network(model), model, kinds=["HardSwish", "LeakyRelu", "Logistic"])


@pytest.mark.parametrize("operator", NOT_NEGATIVE)
def test_a_root_of_a_negative_number_is_that_of_zero(operator: str, tmp_path: Path) -> None:
    table = table_of(ops.unary(operator, EVERY.shape, Quantisation(0.1, 10), Quantisation(0.02, -100)), tmp_path)
    assert set(table[EVERY <= 10].tolist()) == {127 if operator == "RSQRT" else -100}


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (
            ops.unary("LOGISTIC", (1, 8), Quantisation(0.1, 1), Quantisation(1 / 128, 0)),
            "operator 0 (LOGISTIC): tensor 'output' (int8) has scale 0.0078125 and zero point 0; a logistic function has "
            "1/256 and -128",
        ),
        (
            ops.unary("TANH", (1, 8), Quantisation(0.1, 1), Quantisation(1 / 256, -128)),
            "operator 0 (TANH): tensor 'output' (int8) has scale 0.00390625 and zero point -128; a hyperbolic tangent has "
            "1/128 and 0",
        ),
        (
            ops.unary("HARD_SWISH", (1, 8), Quantisation(1.0, 1), Quantisation(0.0078, 0)),
            "operator 0 (HARD_SWISH): its input's scale is 128 times that of its output or more",
        ),
        (
            ops.unary("LEAKY_RELU", (1, 8), Quantisation(0.1, 1), Quantisation(0.1, 0), alpha=math.inf),
            "operator 0 (LEAKY_RELU): alpha is inf",
        ),
        (
            ops.unary("ABS", (1, 8), Quantisation(1000.0, 1), Quantisation(1e-8, 0)),
            "operator 0 (ABS): its accumulator would be scaled by 1e+11, more than 2^30",
        ),
    ],
)
def test_what_the_reference_resolver_cannot_compute_is_refused(model: bytes, what: str, tmp_path: Path) -> None:
    assert what in model_error(model, tmp_path).what
