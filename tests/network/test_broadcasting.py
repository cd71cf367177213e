"""Operators of two tensors whose shapes broadcast, with constants on either side."""

from pathlib import Path

import elementwise_models as ops
import numpy as np
import pytest
from movement_models import random_inputs
from n6build.compile.reference.kinds import all_kernels
from numpy.typing import NDArray
from one_op_models import Quantisation, conv_2d
from slow_rows import slow_rows

from network.equality import assert_equal_everywhere, assert_exact
from network.host_network import Build
from network.network_models import chain, edit, model_error, set_tensor

Shapes = tuple[tuple[int, ...], tuple[int, ...]]

A, B, OUT = Quantisation(0.05, 3), Quantisation(0.02, -9), Quantisation(0.06, -7)
TARGETS = {"DIV": Quantisation(0.006, -7), "SQUARED_DIFFERENCE": Quantisation(0.03, -128)}
SHAPES: dict[str, Shapes] = {
    "equal": ((1, 3, 5, 2), (1, 3, 5, 2)),
    "channels": ((1, 3, 5, 7), (7,)),
    "channels of an image": ((1, 6, 5, 7), (1, 1, 1, 7)),
    "one plane": ((1, 6, 5, 7), (1, 6, 5, 1)),
    "rows": ((1, 6, 5, 7), (1, 6, 1, 1)),
    "columns": ((1, 6, 5, 7), (1, 1, 5, 1)),
    "long rows": ((1, 3, 300), (1, 3, 1)),
    "an element": ((1, 3, 5, 7), (1, 1, 1, 1)),
    "a scalar": ((1, 3, 5, 7), ()),
    "both ways": ((1, 6, 1, 7), (1, 1, 5, 7)),
    "an outer product": ((1, 9, 1), (1, 1, 11)),
    "six dimensions": ((1, 2, 1, 3, 1, 2), (1, 1, 3, 1, 2, 2)),
    "every other one of six": ((1, 2, 1, 3, 1, 4), (1, 1, 3, 1, 2, 1)),
    "more dimensions": ((7,), (1, 3, 5, 7)),
}


def _inputs(operator: str, model: bytes, seed: int, zero_point: int = B.zero_point) -> list[NDArray[np.generic]]:
    """Return random inputs, without zeros among divisors."""
    inputs = random_inputs(model, seed)
    if operator == "DIV" and len(inputs) > 1:
        inputs[1] = ops.without(inputs[1].astype(np.int8), zero_point)
    return inputs


def _model(operator: str, shapes: Shapes, constant: str) -> bytes:
    rng = np.random.default_rng(5)
    constants = [
        ops.without(rng.integers(-128, 128, shape, dtype=np.int8), B.zero_point) if name == constant else None
        for name, shape in zip("ab", shapes, strict=True)
    ]
    quantisations = [A] * 3 if operator.endswith("IMUM") else [A, B, TARGETS.get(operator, OUT)]
    return ops.binary(operator, shapes, quantisations, constants=constants)


@pytest.mark.parametrize("constant", ["", "a", *slow_rows("b")])
@pytest.mark.parametrize("shapes", SHAPES)
def test_shapes_broadcast(host_network: Build, shapes: str, constant: str) -> None:
    for operator in ("MUL", "SUB"):
        for both in (SHAPES[shapes], SHAPES[shapes][::-1]):
            model = _model(operator, both, constant)
            network = host_network(model)
            assert len(network.artifacts.epochs) == 1
            assert_equal_everywhere(network, model, random_inputs(model, 1))


@pytest.mark.parametrize("operator", ops.BINARY)
def test_an_operator_alone(host_network: Build, operator: str) -> None:
    for constant in ("", "b"):
        model = _model(operator, ((1, 5, 4, 6), (1, 4, 6)), constant)
        network = host_network(model)
        for seed in range(4):
            assert_equal_everywhere(network, model, _inputs(operator, model, seed))


@pytest.mark.parametrize("activation", ["RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("operator", ops.ACTIVATED)
def test_a_fused_activation_clamps(host_network: Build, operator: str, activation: str) -> None:
    model = ops.binary(operator, ((1, 5, 40), (40,)), (A, B, TARGETS.get(operator, OUT)), activation)
    assert_equal_everywhere(host_network(model), model, _inputs(operator, model, 1))


@pytest.mark.parametrize("seed", range(30))
def test_random_ones(host_network: Build, seed: int) -> None:
    """Shapes, scales, zero points, constants and activations are random."""
    rng = np.random.default_rng(seed)
    operator = list(ops.BINARY)[seed % len(ops.BINARY)]
    whole = rng.integers(1, 8, int(rng.integers(1, 6)))
    a, b = (tuple(np.where(rng.random(len(whole)) < 0.4, 1, whole).tolist()) for _ in range(2))
    frozen = rng.random() < 0.5
    # An input of the network has a batch of 1.
    shapes = ((1, *(whole.tolist() if operator == "PRELU" else a)), b if frozen else (1, *b))
    scales = [Quantisation(float(np.float32(10 ** rng.uniform(-3, 0))), int(rng.integers(-128, 128))) for _ in range(3)]
    if operator.endswith("IMUM"):
        scales = scales[:1] * 3
    elif operator == "SQUARED_DIFFERENCE":
        scales[2] = Quantisation(max(scale.per_tensor for scale in scales) ** 2 * 4, 17)
    elif operator == "DIV":
        scales[2] = Quantisation(scales[0].per_tensor / scales[1].per_tensor / 600, 17)
    zero_point = scales[1].zero_point
    constant = ops.without(rng.integers(-128, 128, shapes[1], dtype=np.int8), zero_point) if frozen else None
    activation = str(rng.choice(["NONE", "RELU", "RELU6"])) if operator in ops.ACTIVATED else "NONE"
    model = ops.binary(operator, shapes, scales, activation, (None, constant))
    assert_equal_everywhere(host_network(model), model, _inputs(operator, model, seed, zero_point))


@pytest.mark.parametrize(
    ("operator", "quantisations"),
    [
        ("MUL", [(0.20783346891403198, -66), (0.062482427805662155, 26), (1.2346343994140625, -114)]),
        ("MUL", [(0.005897948052734137, -120), (1.7689858675003052, -113), (0.42401570081710815, -83)]),
        ("PRELU", [(0.06923727691173553, -40), (0.0035275656264275312, -14), (0.015384581871330738, 22)]),
    ],
)
def test_the_quotient_of_scales_is_a_float32(
    host_network: Build, operator: str, quantisations: list[tuple[float, int]]
) -> None:
    """A quotient in double precision gives another element with these scales."""
    shape = (1, 256, 256, 1)
    every = np.arange(-128, 128).astype(np.int8)
    inputs = [np.repeat(every, 256).reshape(shape), np.tile(every, 256).reshape(shape)]
    model = ops.binary(operator, (shape, shape), [Quantisation(*each) for each in quantisations])
    assert_equal_everywhere(host_network(model), model, list(inputs))


def test_normalisation_attention_and_activation_in_one_network(host_network: Build) -> None:
    """The network normalises, applies a gate and a PReLU, with constants everywhere.

    It computes (x - mean) * factor, times a gate made from it, as squeeze-and-excitation does, then
    PReLU. Constants with a value for each channel are on both sides.
    """
    image, channels = (1, 6, 5, 8), (1, 1, 1, 8)
    rng = np.random.default_rng(1)
    mean, factor, slope = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((8,), (8,), (1, 1, 8)))
    gated = Quantisation(0.04, 11)
    model = chain(
        ops.binary("SUB", ((8,), image), (B, A, OUT), constants=(mean, None)),
        ops.binary("MUL", (image, (8,)), (OUT, B, A), constants=(None, factor)),
        ops.unary("LOGISTIC", image, A, ops.FIXED_OUTPUT["LOGISTIC"]),
        ops.binary("MUL", (image, channels), (ops.FIXED_OUTPUT["LOGISTIC"], A, gated)),
        ops.binary("PRELU", (image, (1, 1, 8)), (gated, B, OUT), constants=(None, slope)),
        ops.binary("MAXIMUM", (image, channels), (OUT, OUT, OUT)),
    )
    assert_exact(host_network(model), model, range(4), ["Sub", "Mul", "Logistic", "Mul", "Prelu", "Maximum"])


def test_a_quotient_by_zero_is_the_end_of_the_range_on_the_side_of_the_dividend(host_network: Build) -> None:
    """The reference resolver stops at a division by zero."""
    network = host_network(ops.binary("DIV", ((1, 4), (1, 4)), (A, B, TARGETS["DIV"])))
    a, b = np.array([[4, 2, 3, 127]], np.int8), np.full((1, 4), B.zero_point, np.int8)
    (output,) = network.trace([a, b]).values()
    assert np.frombuffer(output, np.int8).tolist() == [127, -128, TARGETS["DIV"].zero_point, 127]


def test_a_square_of_a_tensor(host_network: Build) -> None:
    def same_input_twice(tree: object) -> None:
        graph = tree.subgraphs[0]  # type: ignore[attr-defined]
        graph.operators[0].inputs = [0, 0]
        graph.inputs = [0]

    model = edit(ops.binary("MUL", ((1, 40), (1, 40)), (A, A, OUT)), same_input_twice)
    assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))


def test_a_value_for_each_channel_is_stored_often_enough_for_long_runs_only(host_network: Build) -> None:
    sizes = {}
    for channels in (8, 200):
        model = _model("MUL", ((1, 6, 6, channels), (channels,)), "b")
        sizes[channels] = host_network(model).artifacts.initializers[0].bytes
    assert sizes == {8: 8 * 18, 200: 200}


def test_every_kernel_of_elements_may_write_where_it_reads() -> None:
    found = {kernel.name: kernel.in_place for kernel in all_kernels() if kernel.in_place}
    two = dict.fromkeys(("add", "div", "maximum", "minimum", "mul", "prelu", "squared_difference", "sub"), ("a", "b"))
    assert found.items() >= {**two, "lookup": ("input",), "requantize": ("input",)}.items()


@pytest.mark.parametrize(
    ("model", "identity", "what", "hint"),
    [
        (
            edit(ops.binary("MUL", ((1, 4, 6), (1, 4, 6)), (A, B, OUT)), set_tensor(1, shape=[1, 6, 4])),
            "N6-NET-007",
            "operator 0 (MUL): the shapes of tensors 'a' (int8) [1, 4, 6] and 'b' (int8) [1, 6, 4] do not broadcast",
            "equal or 1",
        ),
        (
            edit(ops.binary("SUB", ((1, 4, 6), (6,)), (A, B, OUT)), set_tensor(2, shape=[1, 6, 4])),
            "N6-NET-007",
            "operator 0 (SUB): tensor 'output' (int8) has the shape [1, 6, 4] instead of [1, 4, 6]",
            "convert",
        ),
        (
            ops.binary("MAXIMUM", ((1, 6), (1, 6)), (A, B, A)),
            "N6-NET-006",
            "tensors 'b' (int8) and 'output' (int8) have to have the same scale and zero point",
            "quantise",
        ),
        (
            ops.binary("SUB", ((1, 6), (1, 6)), (A, B, Quantisation(1e-8))),
            "N6-NET-006",
            "operator 0 (SUB): its sum would be scaled by",
            "calibrate",
        ),
        (
            ops.binary("MUL", ((1, 6), (1, 6)), (Quantisation(1e4), Quantisation(1e4), Quantisation(1e-8))),
            "N6-NET-006",
            "operator 0 (MUL): its accumulator would be scaled by 1e+16",
            "calibrate",
        ),
        (
            ops.binary(
                "DIV", ((1, 6), (6,)), (A, B, TARGETS["DIV"]), constants=(None, np.arange(-12, -6, dtype=np.int8))
            ),
            "N6-NET-007",
            "operator 0 (DIV): tensor 'b' (int8) contains zeros",
            "remove the zeros",
        ),
        (
            ops.binary("DIV", ((1, 6), (1, 6)), (Quantisation(1e-6), B, Quantisation(1e4))),
            "N6-NET-006",
            "operator 0 (DIV): with these scales quotients would be shifted by 50 to 65 bits, outside 0 to 63",
            "multiply by the reciprocal",
        ),
        (
            ops.binary("DIV", ((1, 6), (1, 6)), (Quantisation(1e3), B, Quantisation(1e-6))),
            "N6-NET-006",
            "operator 0 (DIV): with these scales quotients would be shifted by",
            "multiply by the reciprocal",
        ),
        (
            ops.binary("PRELU", ((1, 6), (1, 6)), (A, B, OUT), constants=(np.zeros((1, 6), np.int8), None)),
            "N6-NET-007",
            "operator 0 (PRELU): tensor 'a' (int8) is a constant",
            "fold",
        ),
    ],
)
def test_what_cannot_be_computed_is_refused(model: bytes, identity: str, what: str, hint: str, tmp_path: Path) -> None:
    error = model_error(model, tmp_path)
    assert (error.id, what in error.what, hint in (error.hint or "")) == (identity, True, True), error


def test_a_residual_branch_with_a_hard_swish(host_network: Build) -> None:
    """The network is like a branch of MobileNetV3.

    It has a convolution, its separate activation, a gate, and a sum with a constant first operand.
    """
    rng = np.random.default_rng(3)
    weights, bias = rng.integers(-127, 128, (4, 1, 1, 3), dtype=np.int8), rng.integers(-900, 900, 4, dtype=np.int32)
    image = (1, 5, 6, 4)
    model = chain(
        conv_2d((5, 6, 3), weights, bias, [0.004], A, B),
        ops.unary("HARD_SWISH", image, B, OUT),
        ops.unary("RELU6", image, OUT, A),
        ops.binary("ADD", (image, image), (A, B, OUT)),
        ops.binary("SQUARED_DIFFERENCE", (image, (1, 5, 6, 1)), (OUT, A, Quantisation(0.02, -128))),
        ops.unary("SQRT", image, Quantisation(0.02, -128), A),
    )
    assert_exact(host_network(model), model, range(4))
