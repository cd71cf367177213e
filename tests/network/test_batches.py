"""Operators on several images have the reference's bits, image by image."""

from typing import Any

import int16_models
import movement_models
import one_op_models as ops
import pytest
import reference_interpreter
from movement_models import random_inputs
from one_op_models import Quantisation
from qdq_models import Layers, Qdq, Scale

from network.host_network import Build
from network.network_models import edit
from network.onnx_equality import outputs_of, random_onnx_inputs

IN = Quantisation(0.05, -3)


def of_images(model: bytes, count: int = 3) -> bytes:
    """Return a model of one operator with several images."""

    def change(tree: Any) -> None:
        graph = tree.subgraphs[0]
        for index in (graph.inputs[0], graph.outputs[0]):
            graph.tensors[index].shape = [count, *graph.tensors[index].shape[1:]]

    return edit(model, change)


TFLITE = {
    "average pool": ops.pool_2d("AVERAGE", (9, 7, 4), (3, 2), (2, 2), IN),
    "max pool": ops.pool_2d("MAX", (9, 7, 4), (3, 3), (1, 2), IN),
    "int16 average pool": int16_models.pool_2d("AVERAGE", (9, 7, 4), (3, 2), (2, 1), Quantisation(0.001)),
    "resize": movement_models.resize("ResizeBilinear", (5, 4), (9, 7), 3, half_pixel_centers=True),
    "resize to the nearest": movement_models.resize("ResizeNearestNeighbor", (5, 4), (9, 7), 3),
}


@pytest.mark.parametrize("name", TFLITE)
def test_an_operator_of_tflite(host_network: Build, name: str) -> None:
    model = of_images(TFLITE[name])
    network = host_network(model)
    for seed in range(3):
        inputs = random_inputs(model, seed)
        network.trace(inputs)
        expected = reference_interpreter.outputs(model, *inputs)
        assert list(network.final.values()) == [each.tobytes() for each in expected]


def _onnx(kind: str, **options: Any) -> bytes:
    model, scale = Qdq(), Scale(0.031, -3)
    return model.model([model.operator(kind, [model.input((3, 6, 9, 7), scale)], scale, **options)])


def _conv() -> bytes:
    layers = Layers(3)
    scale = Scale(0.03, 5)
    return layers.model([layers.conv(layers.input((3, 6, 9, 7), scale), scale, (5, 6, 3, 3))[0]])


ONNX = {
    "max pool": _onnx("MaxPool", kernel_shape=[3, 2], strides=[2, 2]),
    "average pool": _onnx("AveragePool", kernel_shape=[3, 2]),
    "global average pool": _onnx("GlobalAveragePool"),
    "conv": _conv(),
}


@pytest.mark.parametrize("name", ONNX)
def test_an_operator_of_onnx(host_network: Build, name: str) -> None:
    network = host_network(ONNX[name])
    for seed in range(3):
        inputs = random_onnx_inputs(ONNX[name], seed)
        network.trace(inputs)
        assert list(network.final.values()) == [each.tobytes() for each in outputs_of(ONNX[name], inputs)]


def test_images_are_neither_taken_apart_nor_joined_by_a_copy(host_network: Build) -> None:
    network = host_network(of_images(TFLITE["max pool"]))
    assert [epoch.kind for epoch in network.artifacts.epochs] == ["MaxPool2D"] * 3
