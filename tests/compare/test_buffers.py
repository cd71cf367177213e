"""The tensor of the model that belongs to a buffer, and unknowable cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.compile.artifacts.made_buffers import MadeBuffer, MadeBuffers
from n6build.judge.compare.buffers import join_buffers
from n6build.judge.compare.tensors import ReferenceTensor


def tensor(name: str, *inputs: str, operator: str = "CONV_2D", size: int = 8, scale: float = 0.5) -> ReferenceTensor:
    values = np.zeros((1, 1, 1, size), np.int8)
    return ReferenceTensor(name, operator, inputs, values.shape, True, "int8", scale, -128, values)


def buffer(name: str, epoch: int, *, size: int = 8, scale: float = 0.5, kind: str = "uint8") -> MadeBuffer:
    zero_point = 0 if kind == "uint8" else -128
    return MadeBuffer(name, epoch, 0x1000 * epoch, size, kind, (1, 1, 1, size), scale, zero_point)


INPUT = tensor("in", operator="input", size=4)


def pairs(buffers: list[MadeBuffer], tensors: list[ReferenceTensor]) -> dict[str, str]:
    return {
        each.buffer.name: each.tensor.name
        for each in join_buffers(MadeBuffers(tuple(buffers), {}), [INPUT, *tensors])[0]
    }


def reasons(buffers: list[MadeBuffer], tensors: list[ReferenceTensor]) -> dict[str, str]:
    return {each.buffer.name: each.why for each in join_buffers(MadeBuffers(tuple(buffers), {}), [INPUT, *tensors])[1]}


def test_size_scale_and_zero_point_tell_tensors_apart() -> None:
    tensors = [tensor("a", "in"), tensor("b", "a", size=16), tensor("c", "b", scale=0.25)]
    buffers = [buffer("Conv2D_9_zero_off_out_1", 2), buffer("y", 3, size=16), buffer("z", 4, scale=0.25)]
    assert pairs(buffers, tensors) == {"Conv2D_9_zero_off_out_1": "a", "y": "b", "z": "c"}


def test_an_unsigned_buffer_is_the_signed_tensor_moved_by_half_the_range() -> None:
    assert pairs([buffer("x", 1, kind="uint8")], [tensor("a", "in")]) == {"x": "a"}
    assert pairs([buffer("x", 1, kind="int8")], [tensor("a", "in")]) == {"x": "a"}


def test_scales_are_compared_as_numbers_of_32_bits() -> None:
    written = 0.0235294122248888
    assert pairs([buffer("x", 1, scale=written)], [tensor("a", "in", scale=float(np.float32(written)))]) == {"x": "a"}
    assert pairs([buffer("x", 1, scale=written)], [tensor("a", "in", scale=written * 1.001)]) == {}


def test_tensors_alike_are_joined_in_the_order_in_which_they_are_made_from_each_other() -> None:
    tensors = [tensor("a", "in"), tensor("b", "a"), tensor("c", "b")]
    buffers = [buffer("x", 3), buffer("y", 5), buffer("z", 9)]
    assert pairs(buffers, tensors) == {"x": "a", "y": "b", "z": "c"}


def test_branches_that_look_alike_are_listed_not_compared() -> None:
    tensors = [tensor("a", "in"), tensor("b", "in")]
    said = reasons([buffer("x", 3), buffer("y", 4)], tensors)
    assert set(said) == {"x", "y"}
    assert "side by side" in said["x"]


def test_what_an_epoch_makes_on_the_way_is_told_apart_by_its_operator() -> None:
    tensors = [tensor("conv", "in"), tensor("add", "in", "conv", operator="ADD")]
    assert pairs([buffer("Add_43_out_0", 3)], tensors) == {"Add_43_out_0": "add"}


def test_a_name_for_the_operator_that_reads_tells_what_is_read() -> None:
    tensors = [tensor("first", "in"), tensor("second", "first")]
    assert pairs([buffer("Conv2D_16_zero_off_out_19", 3)], tensors) == {"Conv2D_16_zero_off_out_19": "first"}
    said = reasons([buffer("Pool_16_zero_off_out_19", 3)], tensors)
    assert "1 of its size, scale and zero point in the network, 2 in the model" in said["Pool_16_zero_off_out_19"]


def test_a_name_for_the_operator_that_reads_tells_where_what_that_makes_is_known() -> None:
    tensors = [tensor("first", "in"), tensor("second", "first"), tensor("third", "second", size=3)]
    buffers = [buffer("Conv2D_16_zero_off_out_19", 3), buffer("Conv2D_16_off_bias_out_25", 4, size=3)]
    assert pairs(buffers, tensors) == {buffers[0].name: "second", buffers[1].name: "third"}


def test_a_copy_is_the_tensor_of_what_it_is_a_copy_of() -> None:
    buffers = [buffer("Conv2D_49_zero_off_out_124", 3), buffer("Conv2D_49_zero_off_out_124_cp_in_12", 4)]
    assert pairs(buffers, [tensor("a", "in")]) == {buffers[0].name: "a", buffers[1].name: "a"}
    assert "a copy of" in reasons(buffers, [])[buffers[1].name]


def test_the_same_memory_under_two_names_counts_once() -> None:
    assert pairs([buffer("x", 3), buffer("y", 3)], [tensor("a", "in")]) == {"y": "a"}
    assert "memory is that of y" in reasons([buffer("x", 3), buffer("y", 3)], [tensor("a", "in")])["x"]


def test_a_reshaped_tensor_is_the_one_before() -> None:
    tensors = [tensor("a", "in"), tensor("flat", "a", operator="RESHAPE"), tensor("b", "flat", size=2)]
    assert pairs([buffer("x", 3)], tensors) == {"x": "a"}


def test_two_of_a_kind_in_one_epoch_are_not_compared() -> None:
    two = [buffer("x", 3), MadeBuffer("y", 3, 0x9000, 8, "uint8", (1, 1, 1, 8), 0.5, 0)]
    assert "epoch 3 makes several" in reasons(two, [tensor("a", "in"), tensor("b", "a")])["x"]


def test_what_the_model_does_not_have_is_listed() -> None:
    assert "no tensor" in reasons([buffer("x", 3, size=99)], [tensor("a", "in")])["x"]


@pytest.mark.parametrize("scale", [float("inf"), float("nan"), 1e300, 0.0])
def test_impossible_scales_are_no_mistake_of_ours(scale: float) -> None:
    assert "no tensor" in reasons([buffer("x", 3, scale=scale)], [INPUT, tensor("a", "in")])["x"]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 6), st.sampled_from((0.5, 0.25))), max_size=12),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from((0.5, 0.25))), max_size=12),
)
def test_every_buffer_is_joined_or_listed_and_no_two_that_are_made_are_the_same_tensor(
    made: list[tuple[int, int, float]], model: list[tuple[int, int, float]]
) -> None:
    tensors = [INPUT]
    for number, (back, size, scale) in enumerate(model):
        source = tensors[max(0, len(tensors) - 1 - back)].name
        tensors.append(tensor(f"t{number}", source, size=size, scale=scale))
    buffers = [
        MadeBuffer(f"b{number}", epoch, 0x100 * number, size, "int8", (1, size), scale, -128)
        for number, (size, epoch, scale) in enumerate(sorted(made, key=lambda each: each[1]))
    ]
    joined, unjoined = join_buffers(MadeBuffers(tuple(buffers), {}), tensors)
    listed = [each.buffer.name for each in joined] + [each.buffer.name for each in unjoined]
    assert sorted(listed) == sorted(each.name for each in buffers)
    assert len({each.tensor.name for each in joined}) == len(joined)
    assert all(each.buffer.bytes == each.tensor.values.nbytes for each in joined)
