"""A small float classifier that has learned something, with labelled samples.

Two random convolutions make features; least squares fit the last layer. So it is trained in a moment,
and its accuracy means something.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
from ai_edge_litert.interpreter import Interpreter
from graph_models import Graph
from numpy.typing import NDArray
from one_op_models import packed, tree_of
from onnx import helper
from onnx_models import onnx_bytes

CLASSES = ("circle", "square", "star", "cross")
SHAPE = (3, 12, 12)
_NOISE = 1.6


@dataclass(frozen=True)
class Trained:
    """A classifier and the samples that it was tried on.

    Attributes:
        model: The float model; the batch is open.
        samples: Inputs in the layout of the model.
        labels: Number of the right class of each.
        file: The name of its file.
    """

    model: bytes
    samples: NDArray[np.float32]
    labels: NDArray[np.int64]
    file: str = "net.onnx"

    def save(self, folder: Path, count: int | None = None) -> Path:
        """Write the model, samples.npy, labels.npy, and return the model's path."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / self.file).write_bytes(self.model)
        np.save(folder / "samples.npy", self.samples[:count])
        np.save(folder / "labels.npy", self.labels[:count])
        return folder / self.file


def pictures(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return noisy pictures of the classes, with their labels."""
    shapes = np.random.default_rng(7).normal(0, 1, (len(CLASSES), *SHAPE))
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(CLASSES), count)
    return (shapes[labels] + rng.normal(0, _NOISE, (count, *SHAPE))).astype(np.float32), labels


def network(last: NDArray[np.float32], bias: NDArray[np.float32], *, features: bool = False) -> bytes:
    """Return the network with this last layer, or only with the features before it."""
    rng = np.random.default_rng(3)
    values = {
        "w1": rng.normal(0, 0.2, (8, 3, 3, 3)),
        "b1": rng.normal(0, 0.1, 8),
        "scale": rng.uniform(0.5, 1.5, 8),
        "shift": rng.normal(0, 0.2, 8),
        "mean": rng.normal(0, 0.2, 8),
        "variance": rng.uniform(0.5, 1.5, 8),
        "w2": rng.normal(0, 0.15, (8, 8, 3, 3)),
        "b2": rng.normal(0, 0.1, 8),
        "last": last,
        "bias": bias,
    }
    make, pads = helper.make_node, [1, 1, 1, 1]
    nodes = [
        make("Conv", ["picture", "w1", "b1"], ["c1"], "first", kernel_shape=[3, 3], pads=pads),
        make("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"], "norm"),
        make("Relu", ["n1"], ["r1"], "relu"),
        make("Conv", ["r1", "w2", "b2"], ["c2"], "second", kernel_shape=[3, 3], strides=[2, 2], pads=pads),
        make("Relu", ["c2"], ["r2"], "relu2"),
        make("Flatten", ["r2"], ["flat"], "flatten"),
        make("Gemm", ["flat", "last", "bias"], ["classes"], "dense"),
    ]
    constants = {name: np.asarray(each, np.float32) for name, each in values.items()}
    inputs, outputs = {"picture": ["batch", *SHAPE]}, {"classes": ["batch", len(CLASSES)]}
    if features:
        nodes, outputs = nodes[:-1], {"flat": ["batch", 288]}
    return onnx_bytes(nodes, inputs, outputs, constants, 12, 7)


def _least_squares(flat: NDArray[np.float32], classes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return weights and bias of the last layer."""
    known = np.hstack([flat, np.ones((len(flat), 1), np.float32)]).astype(np.float64)
    wanted = np.eye(len(CLASSES))[classes]
    fitted = np.linalg.solve(known.T @ known + 50 * np.eye(known.shape[1]), known.T @ wanted)
    # Rounded, so that processors that add in another order get the same weights.
    return np.round(fitted, 4).astype(np.float32)


@cache
def classifier() -> Trained:
    """Return the trained classifier with 200 samples that it has not seen."""
    nothing = np.zeros((288, len(CLASSES)), np.float32), np.zeros(len(CLASSES), np.float32)
    front = onnxruntime.InferenceSession(network(*nothing, features=True))
    learned, classes = pictures(600, 1)
    (flat,) = front.run(None, {"picture": learned})
    fitted = _least_squares(flat, classes)
    samples, labels = pictures(200, 2)
    return Trained(network(fitted[:-1], fitted[-1]), samples, labels)


def tflite_network(last: NDArray[np.float32], bias: NDArray[np.float32], *, features: bool = False) -> bytes:
    """Return the network with this last layer, or only with the features before it."""
    rng = np.random.default_rng(3)
    graph = Graph()
    value = graph.input((1, 12, 12, 3), 0.0, 0)
    same = graph.constant(rng.normal(0, 0.1, 8).astype(np.float32))
    for depth, stride, spread in ((3, 1, 0.2), (8, 2, 0.15)):
        weights = graph.constant(rng.normal(0, spread, (8, 3, 3, depth)).astype(np.float32))
        size = value.shape[1] // stride
        conv = {"padding": "SAME", "strideH": stride, "strideW": stride, "fusedActivationFunction": "RELU"}
        value = graph.add_real("CONV_2D", [value, weights, same], (1, size, size, 8), table="Conv2D", **conv)
    flat = graph.reshape(value, 1, 288)
    operands = [flat, graph.constant(last.T.copy()), graph.constant(bias)]
    classes = graph.add_real("FULLY_CONNECTED", operands, (1, len(CLASSES)))
    graph.tensors[value.index].name = graph.tensors[same.index].name
    graph.tensors[classes.index].name = b"classes"
    graph.tensors[0].shapeSignature = [-1, 12, 12, 3]
    model = graph.bytes(flat if features else classes)
    tree = tree_of(model)
    for code in tree.operatorCodes:
        # As converters wrote it before there were more than 127 operators.
        code.builtinCode = 0
    if features:
        tree.subgraphs[0].operators = tree.subgraphs[0].operators[:-1]
    return packed(tree)


@cache
def tflite_classifier() -> Trained:
    """Return the trained classifier with 200 samples that it has not seen."""
    nothing = np.zeros((288, len(CLASSES)), np.float32), np.zeros(len(CLASSES), np.float32)
    front = Interpreter(model_content=tflite_network(*nothing, features=True))
    front.allocate_tensors()
    learned, classes = pictures(600, 1)
    features = []
    for each in learned.transpose(0, 2, 3, 1):
        front.set_tensor(front.get_input_details()[0]["index"], each[None])
        front.invoke()
        features.append(front.get_tensor(front.get_output_details()[0]["index"]))
    flat = np.concatenate(features)
    fitted = _least_squares(flat, classes)
    samples, labels = pictures(200, 2)
    rows = np.ascontiguousarray(samples.transpose(0, 2, 3, 1))
    return Trained(tflite_network(fitted[:-1], fitted[-1]), rows, labels, "net.tflite")
