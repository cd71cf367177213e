"""A cause is named for exactly the outputs that it makes on a board.

The tests cover every cause and real models.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from slow_rows import slow_rows

from compare.boards import OWN, Board, Table, board, named

RESNET, FLOAT_RESNET = "mlperf_resnet8_int8.tflite", "pretrainedResnet.tflite"
MOBILENET = "mobilenet_v2_128_0.5.onnx"


def real(each: Board, table: Table) -> Table:
    return np.asarray((table.astype(np.float64) - each.gives.zero_point) * each.gives.scale)


def softmax(values: Table) -> Table:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def like_an_npu(table: Table, seed: int = 1) -> Table:
    """Return the outputs with differences of one step at random places."""
    random = np.random.default_rng(seed)
    if table.dtype.kind == "f":
        return np.asarray(table + random.normal(0, 0.002, table.shape), table.dtype)
    limits = np.iinfo(table.dtype)
    return np.asarray(
        np.clip(table.astype(int) + random.integers(-1, 2, table.shape), limits.min, limits.max), table.dtype
    )


@pytest.mark.parametrize("name", OWN)
def test_what_the_reference_gives_is_equal_and_has_no_cause(name: str) -> None:
    each = board(name)
    found = each.diagnose(each.outputs)
    assert (found.within, found.near.max, found.fits, found.unproved) == (True, 0, (), ())


@pytest.mark.parametrize("name", OWN)
def test_rounding_of_the_npu_has_no_cause(name: str) -> None:
    each = board(name)
    found = each.diagnose(like_an_npu(each.outputs))
    assert found.within
    assert (found.fits, found.unproved) == ((), ())


# Causes of the input follow: the reference computes with the changed input.


@pytest.mark.parametrize("name", [*OWN, RESNET, FLOAT_RESNET, *slow_rows(MOBILENET)])
def test_a_change_of_the_input_is_named_by_what_it_makes_of_the_output(name: str) -> None:
    each = board(name)
    causes = {change.cause for change, _ in each.changes}
    assert len(causes) >= 3
    found_causes = set()
    for change, table in each.changes:
        if not np.isfinite(table).all():
            continue
        # Two causes may give the same outputs here.
        same = {
            other.cause for other, made in each.changes if np.abs(each.steps(made) - each.steps(table)).max() <= 1e-6
        }
        found = each.diagnose(table)
        assert found.within or named(found) & same or (not found.fits and found.unproved), change.what
        found_causes |= named(found) & same
        # Few outputs, rounded by the NPU, may prove too little: then no cause is named, and never a wrong one.
        rounded = each.diagnose(like_an_npu(table))
        assert rounded.within or not rounded.fits or named(rounded) & same, change.what
    assert found_causes >= causes - {"byte order of the input"}


def test_colours_that_are_swapped_are_named() -> None:
    for name in ("picture", RESNET, FLOAT_RESNET):
        each = board(name)
        table = next(table for change, table in each.changes if change.cause == "RGB/BGR")
        captured = table if name == FLOAT_RESNET else like_an_npu(table)
        assert named(each.diagnose(captured)) == {"RGB/BGR"}, name


@pytest.mark.parametrize(
    "what", ["scaled to 0 to 1 (divided by 255) in place of -1 to 1", "scaled to 0 to 255 in place of -1"]
)
def test_another_normalisation_is_named_with_both_ranges(what: str) -> None:
    each = board(FLOAT_RESNET)
    table = next(table for change, table in each.changes if what in change.what)
    found = each.diagnose(table)
    assert named(found) == {"normalisation of the input"}
    assert any(what in text for fit in found.fits for text in fit.what)


# Causes of the output follow: they are undone.


def as_uint8(each: Board) -> Table:
    return np.asarray(each.outputs.astype(int) + 128, np.uint8)


def as_bytes_of_uint8(each: Board) -> Table:
    return as_uint8(each).view(np.int8)


def not_dequantised(each: Board) -> Table:
    return each.outputs.astype(np.float32)


def without_zero_point(each: Board) -> Table:
    return np.asarray(each.outputs.astype(np.float64) * each.gives.scale, np.float32)


def without_scale(each: Board) -> Table:
    return np.asarray(each.outputs.astype(np.float64) - each.gives.zero_point, np.float32)


def channels_first(each: Board) -> Table:
    return np.ascontiguousarray(np.moveaxis(each.outputs, -1, 2))


def height_and_width(each: Board) -> Table:
    return np.ascontiguousarray(np.swapaxes(each.outputs, 2, 3))


def a_softmax_more(each: Board) -> Table:
    return softmax(real(each, each.outputs)).astype(np.float32)


def no_softmax(each: Board) -> Table:
    return np.asarray(np.log(np.maximum(real(each, each.outputs), 1e-6)) + 2, np.float32)


def of_the_vector_before(each: Board) -> Table:
    return np.concatenate([each.outputs[:1], each.outputs[:-1]])


def of_one_vector(each: Board) -> Table:
    return np.repeat(each.outputs[2:3], len(each.outputs), 0)


def of_other_vectors(each: Board) -> Table:
    return each.outputs[np.roll(np.arange(len(each.outputs)), 2)]


MIX, IGNORED = "uint8/int8 mix", "quantisation of the output ignored"
LAYOUT = "channel order of the output (NHWC/NCHW)"


@pytest.mark.parametrize(
    ("name", "make", "cause"),
    [
        *((name, make, MIX) for name in ("keyword", "anomaly", "picture") for make in (as_uint8, as_bytes_of_uint8)),
        *((name, not_dequantised, IGNORED) for name in ("keyword", "anomaly", "picture")),
        ("anomaly", without_zero_point, IGNORED),
        ("anomaly", without_scale, IGNORED),
        ("picture", without_scale, IGNORED),
        ("picture", channels_first, LAYOUT),
        ("picture", height_and_width, LAYOUT),
        ("keyword", a_softmax_more, "softmax applied twice"),
        ("miniresnet", a_softmax_more, "softmax applied twice"),
        ("anomaly", a_softmax_more, "softmax already applied"),
        ("miniresnet", no_softmax, "softmax missing"),
        ("keyword", no_softmax, "softmax missing"),
        *((name, of_the_vector_before, "stale output buffer") for name in OWN),
        *((name, of_one_vector, "stale output buffer") for name in OWN),
        *((name, of_other_vectors, "vectors in another order") for name in ("miniresnet", "anomaly", "picture")),
    ],
)
def test_a_change_of_the_output_is_named(name: str, make: Callable[[Board], Table], cause: str) -> None:
    each = board(name)
    found = each.diagnose(make(each).reshape(each.outputs.shape))
    assert not found.within
    assert named(found) == {cause}, found
    assert all(fit.near.error < 0.01 for fit in found.fits)


@pytest.mark.parametrize("name", ["keyword", "anomaly", "picture"])
def test_the_rounding_of_the_npu_hides_no_cause(name: str) -> None:
    each = board(name)
    noisy = like_an_npu(each.outputs)
    assert named(each.diagnose(np.asarray(noisy.astype(int) + 128, np.uint8))) == {MIX}
    assert named(each.diagnose(np.roll(noisy, 1, 0))) <= {"stale output buffer", "vectors in another order"}


@pytest.mark.parametrize(
    ("name", "dtype", "cause"),
    [
        ("miniresnet", ">f4", "byte order"),
        ("miniresnet", "<f2", "float16/float32 reading"),
        ("miniresnet", ">f2", "float16/float32 reading"),
        ("miniresnet", "<f8", "float16/float32 reading"),
        ("anomaly", ">f4", "byte order"),
        ("anomaly", "<f2", "float16/float32 reading"),
        ("picture", "<i2", "integers of another size"),
        ("picture", ">i4", "integers of another size"),
    ],
)
def test_bytes_of_another_type_are_read_as_what_they_are(name: str, dtype: str, cause: str) -> None:
    each = board(name)
    values = each.outputs if "i" in dtype else real(each, each.outputs)
    data = np.frombuffer(values.astype(dtype).tobytes(), np.uint8)
    found = each.diagnose(data, is_raw=True, rows=len(each.outputs))
    assert named(found) == {cause}, found


def test_floats_of_a_quantised_output_are_read_as_usual() -> None:
    each = board("anomaly")
    data = np.frombuffer(real(each, each.outputs).astype("<f4").tobytes(), np.uint8)
    found = each.diagnose(data, is_raw=True, rows=len(each.outputs))
    assert (found.within, found.how, found.fits) == (True, "float32", ())


def test_rows_of_an_output_in_another_order_are_named() -> None:
    each = board("picture")
    pixels = each.outputs.reshape(len(each.outputs), -1, each.gives.shape[-1])
    shuffled = pixels[:, np.random.default_rng(3).permutation(pixels.shape[1])].reshape(each.outputs.shape)
    assert named(each.diagnose(shuffled)) == {"rows of the output in another order"}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("byte", [0x00, 0x55, 0xFF])
def test_an_output_that_was_never_written_says_what_is_there(name: str, byte: int) -> None:
    each = board(name)
    data = np.full(each.outputs.nbytes, byte, np.uint8)
    found = each.diagnose(data, is_raw=True, rows=len(each.outputs))
    assert found.written == ("0" if byte == 0 else f"0x{byte:02X}")
    assert not found.within


def test_a_buffer_that_had_something_else_before_the_first_vector_is_stale() -> None:
    each = board("anomaly")
    captured = of_the_vector_before(each)
    captured[0] = 7
    found = each.diagnose(captured)
    assert named(found) == {"stale output buffer"}
    assert found.fits[0].what == ("outputs are those of the vector before",)


def test_two_causes_at_once_are_named_together() -> None:
    each = board("picture")
    table = next(table for change, table in each.changes if change.cause == "RGB/BGR")
    found = each.diagnose(np.asarray(table.astype(int) + 128, np.uint8))
    assert [fit.causes for fit in found.fits] == [("uint8/int8 mix", "RGB/BGR")]


# Other differences follow: they have no cause here, and none is named.


@pytest.mark.parametrize("name", [*OWN, RESNET])
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_unrelated_outputs_have_no_cause(name: str, rows: int) -> None:
    """Outputs for other inputs look like outputs of this model.

    A classifier has few outputs that differ.
    """
    each = board(name)
    wrong = 0
    for start in range(0, len(each.unrelated) - rows + 1, rows):
        found = each.diagnose(each.unrelated[start : start + rows])
        wrong += not found.within and bool(found.fits)
    assert wrong == 0


@pytest.mark.parametrize("name", ["keyword", "miniresnet"])
def test_a_single_wrong_class_proves_nothing(name: str) -> None:
    """Many changes of an input lead to one of ten classes, also by accident."""
    each = board(name)
    for number in range(len(each.outputs)):
        wrong = each.outputs[(number + 1) % len(each.outputs)][None]
        found = each.diagnose(np.concatenate([each.outputs[:number], wrong, each.outputs[number + 1 :]]))
        assert not {cause for cause in named(found) if cause != "stale output buffer"}, number


@pytest.mark.parametrize("name", OWN)
def test_shuffled_values_have_no_cause(name: str) -> None:
    each = board(name)
    for seed in range(10):
        flat = np.random.default_rng(seed).permutation(each.outputs.reshape(-1))
        assert each.diagnose(flat.reshape(each.outputs.shape)).fits == ()


def test_wrong_weights_have_no_cause() -> None:
    """No rule here recognises this fault."""
    each = board("picture")
    half = np.asarray(np.rint(each.outputs * 0.6), np.int8)
    found = each.diagnose(half)
    assert (found.within, found.fits) == (False, ())
