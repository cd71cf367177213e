"""A compiled network and its model: matching ports and exact conversions.

No conversion is a guess.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer, TensorType
from n6build.judge.compare.join import Joined, join
from n6build.judge.compare.tensors import Port

SCALE = 0.0143347764387727


def port(
    name: str = "x", type: str = "int8", shape: tuple[int, ...] = (1, 4), scale: float = SCALE, zero: int = 0
) -> Port:
    return Port(name, type, shape, scale, zero)


def buffer(
    name: str = "Input_0_out_0",
    type: TensorType = "int8",
    shape: tuple[int, ...] = (1, 4),
    scale: float = SCALE,
    zero: int = 0,
) -> IoBuffer:
    return IoBuffer(name, None, 0, type, shape, scale, zero)


def only(network: IoBuffer, model: Port, *, channels_last: bool = True) -> Joined:
    (joined,) = join([network], [model], "input", channels_last=channels_last)
    return joined


def refusal(network: list[IoBuffer], model: list[Port], *, channels_last: bool = True) -> str:
    with pytest.raises(N6Error) as caught:
        join(network, model, "output", channels_last=channels_last)
    assert caught.value.id == "N6-COMPARE-004"
    return caught.value.what


def test_reid_s_output_is_unsigned_in_the_network_and_signed_in_the_model() -> None:
    joined = only(buffer(type="uint8"), port(type="int8", zero=-128, scale=float(np.float32(SCALE))))
    values = np.array([[-128, -1, 0, 127]], np.int8)
    made = joined.for_network(values)
    assert made.dtype == np.uint8
    assert made.tolist() == [[0, 127, 128, 255]]
    assert np.array_equal(joined.for_model(made), values)


def test_yamnet_s_input_is_quantised_in_the_network_and_a_float_in_the_model() -> None:
    joined = only(buffer(scale=0.5, zero=33), port(type="float32", scale=1.0))
    values = joined.for_model(np.array([[33, 34, -128, 127]], np.int8))
    assert values.dtype == np.float32
    assert values.tolist() == [[0.0, 0.5, -80.5, 47.0]]
    assert joined.for_network(values).tolist() == [[33, 34, -128, 127]]


def test_a_float_output_is_what_the_model_s_integers_mean() -> None:
    joined = only(buffer(type="float32", scale=1.0), port(scale=0.25, zero=-1))
    assert joined.for_network(np.array([[-1, 0, 1, 127]], np.int8)).tolist() == [[0.0, 0.25, 0.5, 32.0]]


def test_floats_beyond_the_range_saturate_and_what_is_no_number_is_the_zero_point() -> None:
    joined = only(buffer(type="uint8", scale=0.5, zero=10), port(type="float32", scale=1.0))
    values = np.array([[1e30, -1e30, np.nan, 0.75]], np.float32)
    assert joined.for_network(values).tolist() == [[255, 0, 10, 12]]


@given(st.tuples(st.just(1), *[st.integers(1, 4)] * 3), st.booleans())
def test_channels_are_moved_and_come_back(shape: tuple[int, ...], channels_last: bool) -> None:
    moved = (1, shape[3], *shape[1:3]) if channels_last else (1, *shape[2:], shape[1])
    model, network = port(shape=shape), buffer(shape=moved)
    values = np.arange(np.prod(shape), dtype=np.int8).reshape(shape)
    try:
        joined = only(network, model, channels_last=channels_last)
    except N6Error as error:
        # The only refused shape is one that looks the same in both orders and is not.
        assert sorted(each for each in moved if each > 1) == sorted(each for each in shape if each > 1)
        assert not channels_last
        assert "different shape" in error.what
        return
    made = joined.for_network(values)
    assert made.shape == moved
    assert np.array_equal(joined.for_model(made), values)
    if joined.channels != "as they are":
        assert np.array_equal(made, np.moveaxis(values, *((-1, 1) if channels_last else (1, -1))))


def test_the_pixels_of_an_onnx_picture_are_moved() -> None:
    joined = only(buffer(shape=(1, 2, 2, 3)), port(shape=(1, 3, 2, 2)), channels_last=False)
    pixels = np.arange(12, dtype=np.int8).reshape(1, 2, 2, 3)
    assert joined.for_model(pixels)[0, 0].tolist() == [[0, 3], [6, 9]]


@pytest.mark.parametrize("shape", [(1, 3, 3, 3), (1, 8, 8, 1)])
def test_a_shape_that_is_the_same_either_way_is_refused_for_onnx(shape: tuple[int, ...]) -> None:
    network = buffer(shape=(1, *shape[2:], shape[1]) if shape == (1, 8, 8, 1) else shape)
    assert "different shape" in refusal([network], [port(shape=shape)], channels_last=False)
    assert only(buffer(shape=shape), port(shape=shape)).channels == "as they are"


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (buffer(scale=SCALE * 1.001), port(), "different quantisation"),
        (buffer(zero=1), port(), "different quantisation"),
        (buffer(type="uint8", zero=0), port(zero=0), "different quantisation"),
        (buffer(type="int16"), port(), "different quantisation"),
        (buffer(type="int32"), port(type="float32", scale=1.0), "different quantisation"),
        (buffer(shape=(1, 5)), port(), "different shape"),
        (buffer(shape=(2, 2)), port(), "different shape"),
        (buffer(shape=(1, 2, 3, 4)), port(shape=(1, 4, 3, 2)), "different shape"),
    ],
)
def test_what_does_not_fit_is_refused_with_both_sides(network: IoBuffer, model: Port, why: str) -> None:
    what = refusal([network], [model])
    assert why in what
    assert f"{network.type} {list(network.shape)}" in what
    assert f"{model.type} {list(model.shape)}" in what


def test_several_are_told_apart_by_what_they_are() -> None:
    model = [port("boxes", shape=(1, 8)), port("scores", shape=(1, 4))]
    joined = join([buffer(shape=(1, 4)), buffer(shape=(1, 8))], model, "output", channels_last=True)
    assert [one.model.name for one in joined] == ["scores", "boxes"]


def test_several_alike_are_told_apart_by_their_names_or_not_at_all() -> None:
    model = [port("a"), port("b")]
    joined = join([buffer("b"), buffer("a")], model, "output", channels_last=True)
    assert [one.place for one in joined] == [1, 0]
    assert "matches 'a' or 'b' of the model" in refusal([buffer("c"), buffer("d")], model)
    assert "1 outputs, but the model has 2" in refusal([buffer("a")], model)
    assert "the same one" in refusal([buffer("a"), buffer("a")], model)


def test_several_alike_are_told_apart_by_the_names_that_the_compiler_gives_them() -> None:
    network = [replace(buffer("Mul_3_out_0"), original="b"), replace(buffer("Mul_2_out_0"), original="a")]
    joined = join(network, [port("a"), port("b")], "output", channels_last=False)
    assert [one.place for one in joined] == [1, 0]
