"""Join by the graphs of compiler and model, and counts of real networks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from n6build.compile.artifacts.made_buffers import MadeBuffer, MadeBuffers, made_buffers
from n6build.judge.compare.buffers import join_buffers
from n6build.judge.compare.interpret import interpret, ports_of
from n6build.judge.compare.memory_order import in_memory_order
from n6build.judge.compare.tensors import ReferenceTensor, kernel_mark
from samples import sample

SHAPE = (1, 2, 3, 8)
BYTES = 48


def tensor(
    name: str, *inputs: str, operator: str = "CONV_2D", kernel: float = 0, scale: float = 0.5, size: int = 8
) -> ReferenceTensor:
    values = np.zeros((*SHAPE[:3], size), np.int8)
    mark = kernel_mark([kernel]) if kernel else ""
    return ReferenceTensor(name, operator, inputs, values.shape, True, "int8", scale, -128, values, kernel=mark)


def buffer(name: str, epoch: int, *, scale: float = 0.5, size: int = 8, kind: str = "uint8") -> MadeBuffer:
    zero_point = 0 if kind == "uint8" else -128
    return MadeBuffer(name, epoch, 0x1000 * epoch + 16 * size, 6 * size, kind, (*SHAPE[:3], size), scale, zero_point)


def pairs(buffers: list[MadeBuffer], kernels: dict[str, float], tensors: list[ReferenceTensor]) -> dict[str, str]:
    made = MadeBuffers(tuple(buffers), {name: (scale,) for name, scale in kernels.items()})
    joined, _ = join_buffers(made, [tensor("in", operator="input", size=3), *tensors])
    return {each.buffer.name: each.tensor.name for each in joined}


def test_branches_that_look_alike_are_told_apart_by_their_weights() -> None:
    tensors = [tensor("a", "in", kernel=1), tensor("b", "in", kernel=2)]
    buffers = [buffer("Conv2D_7_off_bias_out_1", 3), buffer("Conv2D_4_off_bias_out_2", 4)]
    assert pairs(buffers, {"Conv2D_7": 1, "Conv2D_4": 2}, tensors) == {buffers[0].name: "a", buffers[1].name: "b"}


def test_equal_weights_are_told_apart_by_what_they_read() -> None:
    tensors = [
        tensor("a", "in", kernel=3, scale=0.1),
        tensor("b", "in", kernel=4, scale=0.2),
        tensor("ga", "a", kernel=9),
        tensor("gb", "b", kernel=9),
    ]
    buffers = [
        buffer("Conv2D_20_zero_off_out_1", 3, scale=0.2),
        buffer("Conv2D_20_off_bias_out_2", 4),
        buffer("Conv2D_10_zero_off_out_3", 5, scale=0.1),
        buffer("Conv2D_10_off_bias_out_4", 6),
    ]
    found = pairs(buffers, {"Conv2D_20": 9, "Conv2D_10": 9}, tensors)
    assert found == dict(zip((each.name for each in buffers), ("b", "gb", "a", "ga"), strict=True))


def test_a_node_without_weights_reads_the_node_in_front_of_it() -> None:
    tensors = [
        tensor("a", "in", kernel=1),
        tensor("b", "in", kernel=2),
        tensor("sa", "a", operator="LOGISTIC", scale=0.1),
        tensor("sb", "b", operator="LOGISTIC", scale=0.1),
    ]
    buffers = [
        buffer("Conv2D_4_off_bias_out_2", 3),
        buffer("Conv2D_8_off_bias_out_5", 3, kind="int8"),
        buffer("Sigmoid_9_out_0", 4, scale=0.1),
        buffer("Sigmoid_5_out_0", 5, scale=0.1),
    ]
    buffers[1] = MadeBuffer(**{**vars(buffers[1]), "address": 0x9000})
    found = pairs(buffers, {"Conv2D_4": 1, "Conv2D_8": 2}, tensors)
    assert (found["Sigmoid_5_out_0"], found["Sigmoid_9_out_0"]) == ("sa", "sb")


def test_an_input_behind_padding_is_the_padded_tensor() -> None:
    tensors = [
        tensor("a", "in", kernel=1),
        tensor("padded", "a", operator="PAD", size=12),
        tensor("b", "padded", kernel=2, scale=0.1),
    ]
    assert pairs([buffer("Conv2D_8_zero_off_out_1", 3)], {"Conv2D_8": 2}, tensors) == {"Conv2D_8_zero_off_out_1": "a"}


def test_only_the_last_step_of_a_node_is_its_output() -> None:
    tensors = [tensor("a", "in", kernel=1), tensor("pool", "a", operator="MAX_POOL_2D", scale=0.1)]
    steps = [buffer(f"MaxPool_5_decomposed_{step}_out_{step + 90}", step + 2, scale=0.1) for step in (1, 3)]
    made = MadeBuffers(tuple(steps), {})
    joined, others = join_buffers(made, [tensor("in", operator="input", size=3), *tensors])
    assert [(each.buffer.name, each.tensor.name) for each in joined] == [(steps[1].name, "pool")]
    assert [(each.why, each.is_explained) for each in others] == [
        ("it is a step inside MaxPool_5, which the model does not have", True)
    ]


def test_of_two_names_for_one_memory_the_later_node_counts() -> None:
    first = buffer("MaxPool_5_out_0", 3, scale=0.1)
    second = MadeBuffer(**{**vars(first), "name": "Transpose_6_out_0"})
    tensors = [tensor("a", "in", kernel=1), tensor("pool", "a", operator="MAX_POOL_2D", scale=0.1)]
    for made in ([first, second], [second, first]):
        joined, others = join_buffers(MadeBuffers(tuple(made), {}), [tensor("in", operator="input", size=3), *tensors])
        assert [(each.buffer.name, each.tensor.name) for each in joined] == [("Transpose_6_out_0", "pool")]
        assert "memory is that of Transpose_6_out_0" in others[0].why


def test_partial_sums_are_listed_as_such() -> None:
    sums = MadeBuffer("Conv2D_5_mul_scale_out_2", 3, 0x1000, 96, "", SHAPE, 1.0, 0)
    joined, others = join_buffers(MadeBuffers((sums,), {}), [tensor("a", "in", kernel=1)])
    assert joined == []
    assert [(each.why, each.is_explained) for each in others] == [
        ("it holds partial sums or working memory, which the model does not have", True)
    ]


def test_a_dequantised_tensor_has_the_step_of_its_source() -> None:
    values = np.zeros(SHAPE, np.float32)
    real = ReferenceTensor("real", "DEQUANTIZE", ("a",), SHAPE, True, "float32", 1.0, 0, values)
    made = MadeBuffer("Dequantize_9_out_0", 3, 0x1000, 4 * BYTES, "float32", SHAPE, 1.0, 0)
    (joined,), _ = join_buffers(MadeBuffers((made,), {}), [tensor("a", kernel=1, scale=0.25), real])
    assert (joined.tensor.name, joined.step) == ("real", 0.25)


@dataclass(frozen=True)
class Operator:
    """A generated operator, which reads the one before it and perhaps an earlier one."""

    earlier: int | None
    scale: float
    output: bool
    read: bool


operators = st.lists(
    st.builds(
        Operator,
        earlier=st.none() | st.integers(0, 10),
        scale=st.sampled_from((0.5, 0.25)),
        output=st.booleans(),
        read=st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


# Add_16 is not named, so that Add_20 follows a convolution that only Add_24 reads.
@example(
    [
        *[Operator(None, 0.5, output=False, read=False)] * 3,
        Operator(0, 0.5, output=False, read=False),
        Operator(0, 0.25, output=True, read=False),
        Operator(2, 0.25, output=False, read=False),
    ]
)
# Add_16 is not named, so that Add_20 follows a convolution that Add_28 reads, too, but behind another convolution.
@example(
    [
        *[Operator(None, 0.5, output=False, read=False)] * 3,
        Operator(0, 0.25, output=False, read=False),
        Operator(0, 0.5, output=True, read=False),
        Operator(None, 0.5, output=False, read=False),
        Operator(2, 0.5, output=False, read=False),
    ]
)
@given(operators)
def test_joined_buffers_of_any_network_hold_their_tensors(made: list[Operator]) -> None:
    """Convolutions have weights of their own; everything else may look alike."""
    tensors: list[ReferenceTensor] = []
    buffers: list[MadeBuffer] = []
    kernels: dict[str, float] = {}
    held: dict[str, str] = {}

    def add(name: str, holds: str, scale: float) -> None:
        buffers.append(
            MadeBuffer(name, len(tensors), 0x100 * len(buffers), BYTES, "int8", SHAPE, scale, -128, order="last")
        )
        held[name] = holds

    for number, operator in enumerate(made, 1):
        before = f"t{number - 1}"
        if operator.earlier is not None and number > 2:
            other = f"t{operator.earlier % (number - 2) + 1}"
            node = f"Add_{4 * number}"
            tensors.append(tensor(f"t{number}", before, other, operator="ADD", scale=operator.scale))
        else:
            node = f"Conv2D_{4 * number}"
            kernels[node] = number
            if operator.read and tensors:
                add(f"{node}_zero_off_out_{number}", before, tensors[-1].scale)
            tensors.append(tensor(f"t{number}", before, kernel=number, scale=operator.scale))
        if operator.output:
            add(f"{node}_out_0", f"t{number}", operator.scale)
    joined, others = join_buffers(
        MadeBuffers(tuple(buffers), {name: (scale,) for name, scale in kernels.items()}),
        [tensor("t0", operator="input", size=3), *tensors],
    )
    assert len(joined) + len(others) == len(buffers)
    assert {each.buffer.name: each.tensor.name for each in joined} == {
        each.buffer.name: held[each.buffer.name] for each in joined
    }
    found = {each.buffer.name for each in joined}
    assert {name for name in held if name.startswith("Conv2D")} <= found


ZOO = "projects/STM32N6-GettingStarted-ObjectDetection/Model"
YOLOX = f"{ZOO}/st_yolo_x_nano_480_1.0_0.25_3_st_int8.tflite"
NETWORKS = [
    # Folder, name, model; buffers with a type, joined, and without a known tensor.
    ("npu/reid-mobilenetv2-core-3.0", "reid", "mobilenetv2_a100_256_128_fft_int8.tflite", 53, 52, 0),
    ("npu/yamnet-core-2.2", "network", "yamnet_1024_64x96_tl_qdq_int8.onnx", 40, 38, 0),
    (
        "projects/STM32N6Example/Appli/X-CUBE-AI/App",
        "network",
        "projects/STM32N6Example/st_ai_output/mobilenet_v2_128_0.5_QDQ_quant_OE_3_3_1.onnx",
        54,
        51,
        0,
    ),
    ("npu/pose-movenet-core-2.1", "network", "st_movenet_lightning_heatmaps_192_int8_pc.tflite", 77, 76, 0),
    pytest.param(
        "npu/fallguard-ssd-core-2.1",
        "network",
        "fall_guard_st_ssd_mobilenet_v1_256v2.tflite",
        149,
        101,
        0,
        marks=pytest.mark.slow,
    ),
    pytest.param(f"{ZOO}/STM32N6570-DK", "network", YOLOX, 289, 280, 3, marks=pytest.mark.slow),
    pytest.param("npu/yolox-core-2.2", "network", YOLOX, 286, 277, 3, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("folder", "name", "model", "typed", "joined", "unknown"), NETWORKS)
def test_buffers_of_real_networks_are_joined_or_explained(
    folder: str, name: str, model: str, typed: int, joined: int, unknown: int
) -> None:
    path = sample(model if "/" in model else f"{folder}/{model}")
    made = made_buffers(sample(folder), name)
    found, others = join_buffers(made, interpret(path, _noise(path)))
    assert sum(bool(each.type) for each in made.buffers) == typed
    assert len(found) == joined
    assert sum(not each.is_explained for each in others) == unknown
    for each in found:
        tensor, memory = each.tensor, each.buffer
        assert (
            in_memory_order(tensor.values, memory.shape, channels_last=tensor.channels_last, order=memory.order)
            is not None
        ), memory.name


def _noise(model: Path) -> list[np.ndarray]:
    generator = np.random.default_rng(3)
    takes, _ = ports_of(model)
    return [
        generator.random(port.shape, np.float32)
        if port.type == "float32"
        else generator.integers(np.iinfo(port.type).min, np.iinfo(port.type).max + 1, port.shape).astype(port.type)
        for port in takes
    ]
