"""Operators on several images, computed image by image.

The kernels of windows and of resizing read one image. The images of a batch are parts of a tensor that
costs nothing to take apart, and their results are made at their places in the output.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from n6build.compile.reference.graph import Graph, Operator, Tensor

_WINDOWS = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "RESIZE_BILINEAR")
_TYPES = ("", " int16", " unsigned", " asymmetric")
_OF_ONNX = (
    *("QLinearConv", "MaxPool", "QLinearAveragePool", "QLinearGlobalAveragePool", "Resize"),
    *("FloatConv", "FloatPool", "FloatResize"),
)
_KINDS = frozenset((*(f"{kind}{dtype}" for kind in _WINDOWS for dtype in _TYPES), "RESIZE_NEAREST_NEIGHBOR", *_OF_ONNX))
_MOST = 256


def image_by_image(graph: Graph) -> Graph:
    """Return the graph with an operator for each image of a batch."""
    if not any(_images(graph, operator) for operator in graph.operators):
        return graph
    tensors = dict(graph.tensors)
    numbers = itertools.count(1 + max(operator.index for operator in graph.operators))
    operators = tuple(
        each
        for operator in graph.operators
        for each in (_apart(graph, tensors, operator, numbers) if _images(graph, operator) else [operator])
    )
    return replace(graph, tensors=tensors, operators=operators)


def _images(graph: Graph, operator: Operator) -> int:
    """Return the number of images that an operator computes.

    It is 0 for a single image, and for other operators.
    """
    given = operator.inputs[0] if operator.kind in _KINDS and operator.inputs else None
    if given is None or graph.tensors[given].data is not None:
        return 0
    shape, made = graph.tensors[given].shape, graph.tensors[operator.output].shape
    fits = len(shape) in (3, 4) and len(made) == len(shape) and made[0] == shape[0]
    return shape[0] if fits and 1 < shape[0] <= _MOST else 0


def _apart(graph: Graph, tensors: dict[int, Tensor], operator: Operator, numbers: Iterator[int]) -> Iterator[Operator]:
    given, whole = operator.inputs[0], graph.tensors[operator.output]
    assert given is not None
    made = []
    for image in range(graph.tensors[given].shape[0]):
        source, target = (_image(tensors, graph.tensors[index], image) for index in (given, operator.output))
        rest = (slice(None),) * (len(tensors[source].shape) - 1)
        yield Operator(next(numbers), "Part", (given,), source, (slice(image, image + 1), *rest), added=True)
        yield replace(operator, inputs=(source, *operator.inputs[1:]), output=target, part=image)
        made.append(target)
    yield Operator(next(numbers), "CONCATENATION", tuple(made), whole.index, 0, added=True)


def _image(tensors: dict[int, Tensor], whole: Tensor, image: int) -> int:
    """Add a tensor for one image of a batch, and return its index."""
    index = max(tensors) + 1
    tensors[index] = replace(whole, index=index, name=f"{whole.name} image {image}", shape=(1, *whole.shape[1:]))
    return index
