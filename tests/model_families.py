"""Small models of the usual families.

Operators, their order and their conventions are those of the real models, but sizes are not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from graph_models import Graph, Value


def pose() -> bytes:
    """Return a model like MoveNet.

    It has MobileNetV2 blocks, a feature pyramid with bilinear resizing, and heads whose keypoints
    pass LOGISTIC.
    """
    graph = Graph(11)
    heads = _pose_heads(graph, 5)
    return graph.bytes(graph.logistic(heads[0]), graph.logistic(heads[1]), *heads[2:])


def pose_with_decoder() -> bytes:
    """Return a model like MoveNet as published, with its decoder.

    It finds the person nearest to the middle of the image. Then it finds each keypoint where it is
    likely and near to the place that the person's centre gives. Positions are int32, distances
    float32.
    """
    graph, count = Graph(20), 5
    centres, keypoints, regression, offsets = _pose_heads(graph, count)
    _, height, width, _ = centres.shape
    weights = graph.constant(graph.random.integers(1, 128, centres.shape, dtype=np.int8), 1 / 128)
    centre = graph.reshape(graph.product(graph.logistic(centres), weights), 1, height * width)
    row, column = _row_and_column(graph, _largest(graph, centre, 1), width)
    one_position = graph.positions("PACK", [row, column], (1, 2), axis=1, valuesCount=2)
    grid = graph.reshape(regression, height, width, 2 * count)
    expected = graph.dequantize(
        graph.add("GATHER_ND", [grid, one_position], (1, 2 * count), table="GatherNd", version=1)
    )
    expected = graph.reshape(expected, 1, count, 2)
    scores = graph.dequantize(graph.logistic(keypoints))
    squares = []
    for axis, (size, at) in enumerate(((height, row), (width, column))):
        parts = graph.add_all("UNPACK", [expected], [(1, count)] * 2, version=1, table="Unpack", num=2, axis=2)
        wanted = graph.add_real("ADD", [parts[axis], _as_float(graph, at)])
        shape = (1, size, 1, 1) if axis == 0 else (1, 1, size, 1)
        away = graph.add_real("SUB", [graph.constant(np.arange(size, dtype=np.float32).reshape(shape)), wanted])
        squares.append(graph.add_real("MUL", [away, away]))
    distance = graph.add_real("SQRT", [graph.add_real("ADD", squares)], table="")
    distance = graph.add_real("ADD", [distance, graph.constant(np.array(1.8, np.float32))])
    likely = graph.reshape(graph.add_real("DIV", [scores, distance]), 1, height * width, count)
    largest = _largest(graph, likely, 1)
    largest = graph.positions("RESHAPE", [largest, graph.numbers(count)], (count,), newShape=[count])
    rows, columns = _row_and_column(graph, largest, width)
    numbers = graph.constant(np.arange(count, dtype=np.int32))
    places = graph.positions("PACK", [rows, columns, numbers], (count, 3), axis=1, valuesCount=3)
    moved = graph.dequantize(graph.reshape(offsets, height, width, count, 2))
    moved = graph.add_real("GATHER_ND", [moved, places], (count, 2), table="GatherNd")
    score = graph.add_real(
        "GATHER_ND", [graph.reshape(scores, height, width, count), places], (count,), table="GatherNd"
    )
    found = graph.positions("PACK", [rows, columns], (count, 2), axis=1, valuesCount=2)
    found = graph.add_real("ADD", [_as_float(graph, found), moved])
    found = graph.add_real("MUL", [found, graph.constant(np.array([1 / height, 1 / width], np.float32))])
    both = [graph.reshape(found, 1, 1, count, 2), graph.reshape(score, 1, 1, count, 1)]
    return graph.bytes(graph.add_real("CONCATENATION", both, (1, 1, count, 3), axis=3))


def _largest(graph: Graph, source: Value, axis: int) -> Value:
    shape = (*source.shape[:axis], *source.shape[axis + 1 :])
    axes = graph.constant(np.array(axis, np.int32))
    return graph.positions("ARG_MAX", [source, axes], shape, outputType=schema.TensorType.INT32)


def _row_and_column(graph: Graph, index: Value, width: int) -> tuple[Value, Value]:
    size = graph.constant(np.array(width, np.int32))
    row = graph.positions("FLOOR_DIV", [index, size])
    return row, graph.positions("SUB", [index, graph.positions("MUL", [row, size])])


def _as_float(graph: Graph, source: Value) -> Value:
    types = {"inDataType": schema.TensorType.INT32, "outDataType": schema.TensorType.FLOAT32}
    return graph.add_real("CAST", [source], **types)


def _pose_heads(graph: Graph, keypoints: int) -> list[Value]:
    """Return heatmaps of centres and keypoints, then two outputs.

    Each of the two has two numbers for each keypoint.
    """
    image = graph.input((1, 32, 32, 3))
    stem = graph.conv(image, 8, stride=2, activation="RELU6")
    levels = [_inverted(graph, stem, 8, 1)]
    for channels in (12, 16):
        levels.append(_inverted(graph, levels[-1], channels, 2))
    features = graph.conv(levels[-1], 12, size=1)
    for level in reversed(levels[:-1]):
        _, height, width, _ = level.shape
        upper = graph.resize(features, height, width, halfPixelCenters=True, alignCorners=False)
        features = graph.sum(graph.conv(level, 12, size=1), upper)
        features = graph.conv(graph.depthwise(features), 12, size=1, activation="RELU")
    counts = (1, keypoints, 2 * keypoints, 2 * keypoints)
    return [graph.conv(graph.conv(features, 8, activation="RELU"), count, size=1) for count in counts]


def detector_without_anchors() -> bytes:
    """Return a model like YOLOv8.

    It has SiLU, split and concatenated bottlenecks, pyramid pooling and nearest-neighbour resizing.
    SOFTMAX and a convolution turn a distribution over distances into boxes.
    """
    graph = Graph(12)
    image = graph.input((1, 32, 32, 3))
    small = _bottlenecks(graph, _silu_conv(graph, image, 8, 3, 2))
    middle = _bottlenecks(graph, _silu_conv(graph, small, 16, 3, 2))
    pooled = [_silu_conv(graph, middle, 8, 1)]
    for _ in range(3):
        pooled.append(graph.pool(pooled[-1], "MAX", 5, 1))
    middle = _silu_conv(graph, graph.concat(*pooled), 16, 1)
    upper = graph.resize(middle, 16, 16, "NearestNeighbor", halfPixelCenters=False, alignCorners=False)
    small = _bottlenecks(graph, _silu_conv(graph, graph.concat(upper, small), 8, 1))
    lower = _silu_conv(graph, small, 8, 3, 2)
    middle = _bottlenecks(graph, _silu_conv(graph, graph.concat(lower, middle), 16, 1))
    rows = []
    for level in (small, middle):
        boxes = graph.conv(_silu_conv(graph, level, 8), 16, size=1)
        classes = graph.conv(_silu_conv(graph, level, 8), 3, size=1)
        both = graph.concat(boxes, classes)
        rows.append(graph.reshape(both, 1, both.shape[1] * both.shape[2], 19))
    cells = graph.concat(*rows, axis=1)
    count = cells.shape[1]
    boxes = graph.slice(cells, (0, 0, 0), (1, count, 16))
    scores = graph.logistic(graph.slice(cells, (0, 0, 16), (1, count, 19)))
    bins = graph.softmax(graph.reshape(boxes, 1, count, 4, 4))
    distances = graph.reshape(graph.conv(bins, 1, size=1), 1, count, 4)
    anchors = graph.constant(graph.random.integers(-128, 128, (1, count, 2), dtype=np.int8), 0.02, 5)
    start = graph.difference(anchors, graph.slice(distances, (0, 0, 0), (1, count, 2)))
    end = graph.sum(anchors, graph.slice(distances, (0, 0, 2), (1, count, 4)))
    half = graph.constant(np.array([64], np.int8), 1 / 128)
    centre = graph.product(graph.sum(start, end), half)
    box = graph.concat(centre, graph.difference(end, start), axis=2)
    strides = graph.constant(graph.random.integers(1, 128, (1, count, 1), dtype=np.int8), 0.01)
    box = graph.product(box, strides)
    together = graph.concat(box, graph.like(scores, box), axis=2)
    return graph.bytes(graph.transpose(together, 0, 2, 1))


def detector_with_focus() -> bytes:
    """Return a model like YOLOX.

    Strided slices cut the image into four parts. Objectness and classes pass LOGISTIC.
    """
    graph = Graph(13)
    image = graph.input((1, 24, 24, 3))
    parts = []
    for row, column in ((0, 0), (1, 0), (0, 1), (1, 1)):
        bounds = [graph.numbers(0, row, column, 0), graph.numbers(1, 24, 24, 3), graph.numbers(1, 2, 2, 1)]
        parts.append(graph.add("STRIDED_SLICE", [image, *bounds], (1, 12, 12, 3), table="StridedSlice"))
    features = _silu_conv(graph, graph.concat(*parts), 8)
    features = _silu_conv(graph, graph.depthwise(features, stride=2), 12, 1)
    box, objectness, classes = (graph.conv(features, count, size=1) for count in (4, 1, 3))
    scale = graph.logistic(objectness)
    head = graph.concat(graph.like(box, scale), scale, graph.logistic(classes))
    return graph.bytes(graph.reshape(head, 1, head.shape[1] * head.shape[2], 8))


def landmarks() -> bytes:
    """Return a model like BlazeFace, palm and hand.

    The shortcut of its residual blocks is pooled and padded in channels. Anchors are concatenated.
    """
    graph = Graph(14)
    features = graph.conv(graph.input((1, 32, 32, 3)), 8, size=5, stride=2, activation="RELU")
    levels = []
    for channels, stride in ((8, 1), (12, 2), (12, 1), (16, 2)):
        shortcut = graph.pool(features, "MAX") if stride == 2 else features
        if channels > shortcut.shape[3]:
            shortcut = graph.pad(shortcut, (0, 0), (0, 0), (0, 0), (0, channels - shortcut.shape[3]))
        body = graph.conv(graph.depthwise(features, stride=stride), channels, size=1)
        total = graph.sum(body, shortcut)
        features = graph.add("RELU", [total], total.shape, graph.spread("RELU"))
        levels.append(features)
    scores, boxes = [], []
    for level, anchors in ((levels[2], 2), (levels[3], 6)):
        cells = level.shape[1] * level.shape[2] * anchors
        scores.append(graph.reshape(graph.conv(level, anchors, size=1), 1, cells, 1))
        boxes.append(graph.reshape(graph.conv(level, anchors * 4, size=1), 1, cells, 4))
    score = graph.concat(*scores, axis=1)
    return graph.bytes(graph.concat(*boxes, axis=1), graph.logistic(score))


def parametric_landmarks() -> bytes:
    """Return a model like MediaPipe's face and hand landmarks.

    PRELU has a slope for each channel.
    """
    graph = Graph(15)
    features = graph.input((1, 16, 16, 3))
    for channels in (8, 12):
        features = _prelu(graph, graph.conv(features, channels, stride=2))
        body = graph.conv(graph.depthwise(features), channels, size=1)
        features = _prelu(graph, graph.sum(body, features))
    _, height, width, depth = features.shape
    flat = graph.reshape(features, 1, height * width * depth)
    return graph.bytes(graph.dense(flat, 42), graph.logistic(graph.dense(flat, 1)))


def segmentation() -> bytes:
    """Return a model like DeepLabV3.

    It has dilated convolutions, and an image-wide mean, resized and concatenated. The last step
    resizes the classes.
    """
    graph = Graph(16)
    features = graph.conv(graph.input((1, 33, 33, 3)), 8, stride=2, activation="RELU6")
    features = _inverted(graph, features, 12, 2)
    local = [graph.conv(features, 8, size=1, activation="RELU")]
    local += [graph.conv(graph.depthwise(features, dilation=rate), 8, size=1, activation="RELU") for rate in (2, 3)]
    whole = graph.conv(graph.mean(features, 1, 2), 8, size=1, activation="RELU")
    _, height, width, _ = features.shape
    whole = graph.resize(whole, height, width, alignCorners=True, halfPixelCenters=False)
    classes = graph.conv(graph.concat(whole, *local), 4, size=1)
    return graph.bytes(graph.resize(classes, 33, 33, alignCorners=True, halfPixelCenters=False))


def re_identification() -> bytes:
    """Return a model like OSNet.

    It has streams of different depth, each weighted channel by channel by a gate.
    """
    graph = Graph(17)
    features = graph.conv(graph.input((1, 16, 8, 3)), 8, stride=2, activation="RELU")
    streams = []
    for depth in (1, 2, 3):
        stream = features
        for _ in range(depth):
            stream = graph.depthwise(graph.conv(stream, 8, size=1), activation="RELU")
        gate = graph.conv(graph.conv(graph.mean(stream, 1, 2), 4, size=1, activation="RELU"), 8, size=1)
        streams.append(graph.product(stream, graph.logistic(gate)))
    total = graph.sum(graph.sum(streams[0], streams[1]), streams[2])
    mean = graph.mean(total, 1, 2)
    return graph.bytes(graph.dense(graph.reshape(mean, 1, 8), 16, "RELU"))


def mobile_classifier() -> bytes:
    """Return a model like MobileNetV3 small and MCUNet.

    It has squeeze and excitation, and HARD_SWISH.
    """
    graph = Graph(18)
    features = _hard_swish(graph, graph.conv(graph.input((1, 24, 24, 3)), 8, stride=2))
    for channels, stride in ((8, 1), (12, 2)):
        wide = _hard_swish(graph, graph.conv(features, 16, size=1))
        wide = _hard_swish(graph, graph.depthwise(wide, size=5, stride=stride))
        gate = graph.conv(graph.conv(graph.mean(wide, 1, 2), 4, size=1, activation="RELU"), 16, size=1)
        # This is the hard sigmoid of a converter: relu6(x + 3) / 6.
        three = graph.constant(np.array(127, np.int8), 3 / 127)
        raised = graph.add("ADD", [gate, three], gate.shape, (6 / 255, -128), table="Add", fusedActivationFunction=3)
        sixth = graph.constant(np.array(127, np.int8), 1 / 762)
        gate = graph.add("MUL", [raised, sixth], raised.shape, (1 / 255, -128), table="Mul")
        narrow = graph.conv(graph.product(wide, gate), channels, size=1)
        features = graph.sum(features, narrow) if narrow.shape == features.shape else narrow
    mean = graph.mean(features, 1, 2)
    return graph.bytes(graph.softmax(graph.dense(graph.reshape(mean, 1, 12), 5)))


def channel_shuffle() -> bytes:
    """Return a model like ShuffleNetV2.

    Half of the channels pass, and the other half goes through convolutions. Then a TRANSPOSE
    interleaves them.
    """
    graph = Graph(19)
    features = graph.conv(graph.input((1, 12, 12, 3)), 16, stride=2, activation="RELU")
    for _ in range(2):
        left, right = graph.split(features, 2)
        right = graph.conv(graph.depthwise(graph.conv(right, 8, size=1)), 8, size=1, activation="RELU")
        both = graph.concat(left, right)
        _, height, width, depth = both.shape
        grouped = graph.transpose(graph.reshape(both, 1, height, width, 2, depth // 2), 0, 1, 2, 4, 3)
        features = graph.reshape(grouped, 1, height, width, depth)
    return graph.bytes(graph.dequantize(graph.mean(features, 1, 2)))


FAMILIES: dict[str, Callable[[], bytes]] = {
    "pose": pose,
    "pose with its decoder": pose_with_decoder,
    "detector without anchors": detector_without_anchors,
    "detector with focus": detector_with_focus,
    "landmarks": landmarks,
    "parametric landmarks": parametric_landmarks,
    "segmentation": segmentation,
    "re-identification": re_identification,
    "mobile classifier": mobile_classifier,
    "channel shuffle": channel_shuffle,
}


def _inverted(graph: Graph, source: Value, channels: int, stride: int) -> Value:
    """Add a block of MobileNetV2."""
    wide = graph.conv(source, 2 * source.shape[3], size=1, activation="RELU6")
    narrow = graph.conv(graph.depthwise(wide, stride=stride, activation="RELU6"), channels, size=1)
    return graph.sum(source, narrow) if narrow.shape == source.shape else narrow


def _silu_conv(graph: Graph, source: Value, channels: int, size: int = 3, stride: int = 1) -> Value:
    return graph.silu(graph.conv(source, channels, size, stride))


def _bottlenecks(graph: Graph, source: Value) -> Value:
    """Add a block of YOLOv8.

    Half of the channels pass through, the other half through two convolutions.
    """
    whole = _silu_conv(graph, source, source.shape[3], 1)
    left, right = graph.split(whole, 2)
    half = right.shape[3]
    deep = graph.sum(right, _silu_conv(graph, _silu_conv(graph, right, half), half))
    return _silu_conv(graph, graph.concat(left, right, deep), source.shape[3], 1)


def _prelu(graph: Graph, source: Value) -> Value:
    slopes = graph.random.integers(-40, 128, (1, 1, source.shape[3]), dtype=np.int8)
    return graph.add("PRELU", [source, graph.constant(slopes, 0.004)], source.shape, graph.spread(), version=1)


def _hard_swish(graph: Graph, source: Value) -> Value:
    return graph.add("HARD_SWISH", [source], source.shape, graph.spread(), version=1)
