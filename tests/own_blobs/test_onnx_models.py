"""ONNX models for the NPU: operators like TFLite's, tensors like onnxruntime's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.compile.reference.compile_model import graph_of
from n6build.judge.npu.moved import bytes_moved
from n6build.judge.npu.source_settings import epochs_of_source
from n6build.judge.own_blobs.envelope import Grade
from n6build.judge.own_blobs.figures import whole_work
from n6build.judge.own_blobs.grades import grades_of
from n6build.judge.own_blobs.proof import imprecise, prove, require_agreement
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from network.network_models import as_file
from qdq_models import Layers, Scale
from samples import sample

from own_blobs import compiled as own
from own_blobs.compiled import NAMES, NPU, SEEN

SIZE = 16
IMAGE, CUT_OFF = Scale(0.03, 7), Scale(0.05, -128)
YAMNET = "npu/yamnet-core-2.2/yamnet_1024_64x96_tl_qdq_int8.onnx"


def tensors(file: Path, folder: Path, *shape: int, count: int = 3) -> ReferenceTensors:
    """Return the reference's tensors for inputs of noise."""
    np.save(folder / "inputs.npy", np.random.default_rng(1).normal(0, 1.5, (count, *shape)).astype(np.float32))
    return reference_tensors(file, graph_of(file), folder / "inputs.npy")


def classifier() -> bytes:
    """Return a classifier with every operator that the NPU takes.

    Height and width differ, so that a wrong order of dimensions shows.
    """
    layers = Layers(3)
    name = layers.input([1, 3, SIZE, SIZE + 4], IMAGE)
    name, scale = layers.conv(name, IMAGE, (32, 3, 3, 3), relu=True, strides=[2, 2], pads=[0, 0, 1, 1])
    name, scale = layers.conv(name, scale, (32, 1, 3, 3), relu=True, group=32, pads=[1, 1, 1, 1])
    wide, wide_scale = layers.conv(name, scale, (32, 32, 1, 1))
    total = Scale(scale.scale + wide_scale.scale, -9)
    name = layers.operator("Add", [name, wide], total)
    name = layers.operator("MaxPool", [name], total, kernel_shape=[2, 2], strides=[2, 2])
    mean = Scale(total.scale * 0.2713, 4)
    name = layers.operator("GlobalAveragePool", [name], mean)
    name = layers.operator("Flatten", [name], mean)
    name, _ = layers.gemm(name, mean, 32, 10)
    return layers.model([name])


def test_every_tensor_is_onnxruntime_s_within_one_step(tmp_path: Path) -> None:
    file = as_file(classifier(), tmp_path, "model.onnx")
    values = tensors(file, tmp_path, 3, SIZE, SIZE + 4)
    network = own.compile_file(file, graph_of(file), values)
    assert [each.operator for each in network.lowered.on_cpu] == ["QuantizeLinear", "TRANSPOSE", "DEQUANTIZE"]
    proof = prove(own.program(), network, values)
    require_agreement(proof, file.name)
    assert imprecise(proof.forced, network) == {}
    # All outputs of the NPU were compared, each operator in every form that its readers need.
    compared = {operator for each in proof.forced for operator in network.lowered.hardware[each.epoch].operators}
    assert compared == {each for epoch in network.lowered.hardware.values() for each in epoch.operators}
    assert len(compared) == 7
    assert max(each.grade for each in grades_of(network.blocks, NPU, SEEN)) <= Grade.SMALLER
    assert (proof.interpreter, proof.same_class) == ("onnxruntime", 3)


def one_convolution(layers: Layers, source: Scale, kernels: tuple[int, ...], **attributes: object) -> bytes:
    shape = [1, kernels[1], *[SIZE] * (len(kernels) - 2)]
    if "group" in attributes:
        shape[1] *= 2
    return layers.model([layers.conv(layers.input(shape, source), source, kernels, **attributes)[0]])  # type: ignore[arg-type]


def clipped() -> bytes:
    layers = Layers()
    weights = layers.weights(np.ones((32, 32, 1, 1), np.int8), 0.01)
    name = layers.node("Conv", [layers.input([1, 32, SIZE, SIZE], CUT_OFF), weights])[0]
    limits = [layers.constant(np.float32(each)) for each in (0.5, 2)]
    return layers.model([layers.qdq(layers.node("Clip", [name, *limits])[0], IMAGE)])


def with_integer_operators() -> bytes:
    """Return a model with QLinearConv in its file.

    onnxruntime names none of its tensors as quantised.
    """
    layers = Layers()
    weights = [layers.constant(np.ones((32, 32, 1, 1), np.int8)), *layers.scale(Scale(0.01, 0))]
    given = [
        *layers.node("QuantizeLinear", [layers.port([1, 32, 4, 4]), *layers.scale(CUT_OFF)]),
        *layers.scale(CUT_OFF),
    ]
    made = layers.node("QLinearConv", [*given, *weights, *layers.scale(IMAGE)])
    return layers.model(layers.node("DequantizeLinear", [*made, *layers.scale(IMAGE)]))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: one_convolution(Layers(dtype="uint8"), Scale(0.03, 0, "uint8"), (32, 32, 1, 1)), "uint8 in the model"),
        (lambda: one_convolution(Layers(), CUT_OFF, (32, 16, 1, 1), group=2), "in 2 groups of several channels"),
        (lambda: one_convolution(Layers(), CUT_OFF, (32, 32, 1)), "a window of one dimension"),
        (lambda: one_convolution(Layers(), IMAGE, (32, 32, 3, 3)), "another zero point than -128"),
        (lambda: one_convolution(Layers(), CUT_OFF, (32, 32, 3, 3), dilations=[2, 2]), "dilation"),
        (clipped, "limited to 0.5 to 2"),
    ],
)
def test_what_stays_on_the_cpu_says_why(make: Callable[[], bytes], why: str, tmp_path: Path) -> None:
    file = as_file(make(), tmp_path, "model.onnx")
    graph = graph_of(file)
    silent = {
        each.index: np.zeros((1, *each.shape), np.int8) for each in graph.tensors.values() if each.dtype == "int8"
    }
    with pytest.raises(N6Error, match=f"N6-NET-030(.|\n)*{why}"):
        own.compile_file(file, graph, ReferenceTensors(1, silent, "nobody"))


def test_a_tensor_that_onnxruntime_does_not_show_is_not_made_by_the_npu(tmp_path: Path) -> None:
    file = as_file(with_integer_operators(), tmp_path, "model.onnx")
    values = tensors(file, tmp_path, 32, 4, 4)
    with pytest.raises(
        N6Error, match=r"N6-NET-030(.|\n)*QLinearConv.*the reference interpreter does not show its input or"
    ):
        own.compile_file(file, graph_of(file), values)


@pytest.mark.slow
def test_yamnet_moves_less_than_what_st_s_compiler_makes_of_it(tmp_path: Path) -> None:
    file = sample(YAMNET)
    values = tensors(file, tmp_path, 64, 96, 1, count=10)
    network = own.compile_file(file, graph_of(file), values)
    assert (len(network.lowered.hardware), len(network.lowered.on_cpu)) == (54, 3)
    proof = prove(own.program(), network, values)
    require_agreement(proof, file.name)
    assert imprecise(proof.forced, network) == {}
    assert max(each.grade for each in grades_of(network.blocks, NPU, SEEN)) <= Grade.SMALLER
    theirs = epochs_of_source(sample("npu/yamnet-core-2.2/network.c").read_text(), NAMES)
    assert whole_work(network.lowered.hardware.values()).moved < bytes_moved(theirs)
