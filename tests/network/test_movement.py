"""Operators that only move elements: exact, and free if no element moves."""

from pathlib import Path
from typing import Any

import movement_models as ops
import numpy as np
import pytest
import reference_interpreter
from ai_edge_litert import schema_py_generated as schema
from graph_models import Graph, Value
from movement_models import random_inputs
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import operands_of
from n6build.compile.reference.tflite_reader import read_graph
from one_op_models import Quantisation, conv_2d, depthwise_conv_2d, quantize
from slow_rows import slow_rows, telling_rows

from network.equality import assert_equal_everywhere, assert_exact
from network.host_network import Build
from network.network_models import chain, edit

ALONE = {
    "transpose to channels first": ops.transpose((1, 5, 7, 3), (0, 3, 1, 2)),
    "transpose to channels last": ops.transpose((1, 3, 5, 7), (0, 2, 3, 1)),
    "transpose of two": ops.transpose((9, 13), (1, 0)),
    "transpose of outer dimensions": ops.transpose((3, 4, 5), (1, 0, 2)),
    "transpose of six": ops.transpose((2, 3, 2, 3, 2, 3), (5, 3, 1, 4, 2, 0)),
    "strided slice": ops.strided_slice((1, 9, 7, 4), (0, 1, 0, 0), (1, 9, 7, 4), (1, 2, 3, 1)),
    "strided slice of channels": ops.strided_slice((1, 3, 5, 8), (0, 0, 0, 2), (1, 3, 5, 7), (1, 1, 1, 2)),
    "strided slice backwards": ops.strided_slice((1, 10), (0, 8), (1, 1), (1, -2)),
    "strided slice with masks": ops.strided_slice((1, 6, 5, 4), (9, 1, 0), (9, 0, 3), beginMask=1, endMask=3),
    "strided slice with an ellipsis": ops.strided_slice((1, 3, 4, 5), (0, 0, 1), (1, 0, 4), ellipsisMask=2),
    "strided slice with a new axis": ops.strided_slice((3, 7), (0, 0, 1), (3, 0, 6), newAxisMask=2),
    "strided slice that drops an axis": ops.strided_slice((3, 4, 7), (0, -1, 1), (3, 0, 6), shrinkAxisMask=2),
    "strided slice of one element": ops.strided_slice((3, 4), (1, 2), (0, 0), shrinkAxisMask=3),
    "slice": ops.slice_of((1, 6, 7, 5), (0, 1, 2, 1), (1, 4, -1, 3)),
    "split of channels": ops.split((1, 3, 4, 6), 3, 3),
    "split in very many": ops.split((1, 139, 4), 1, 139),
    "concatenation of very many": ops.concatenation(1, [(1, 1, 4)] * 100),
    "split from the end": ops.split((1, 3, 4, 6), -2, 2),
    "split in parts of any size": ops.split_v((1, 3, 4, 7), 3, (1, 4, 2)),
    "split with a rest": ops.split_v((1, 3, 4, 7), 2, (1, -1)),
    "unpack": ops.unpack((2, 3, 5), 1),
    "unpack of the last": ops.unpack((1, 4, 3), -1),
    "concatenation of channels": ops.concatenation(3, [(1, 4, 5, 3), (1, 4, 5, 1), (1, 4, 5, 8)]),
    "concatenation from the end": ops.concatenation(-2, [(1, 4, 5, 3), (1, 4, 2, 3)]),
    "concatenation of rows": ops.concatenation(1, [(1, 4, 5, 3), (1, 1, 5, 3)]),
    "concatenation with a constant": ops.concatenation(
        1, [ops.constant((1, 6, 4)), (1, 2, 4), ops.constant((1, 1, 4), 2)]
    ),
    "pack": ops.pack(0, [(3, 4), (3, 4)]),
    "pack of the last": ops.pack(-1, [(3, 4), (3, 4), (3, 4)]),
    "gather": ops.gather((1, 5, 4), 1, (4, 0, 0, 3)),
    "gather of channels": ops.gather((1, 3, 4, 6), -1, (5, 1, 3)),
    "gather by a table": ops.gather((6, 5), 0, ((4, 0), (1, 5))),
    "tile": ops.tile((1, 3, 4, 2), (1, 2, 1, 3)),
    "tile of one": ops.tile((1, 1, 1, 5), (1, 4, 3, 1)),
    "broadcast": ops.broadcast_to((1, 3, 1, 4), (1, 3, 5, 4)),
    "broadcast to more dimensions": ops.broadcast_to((3, 1), (1, 2, 3, 4)),
    "reverse": ops.reverse((1, 4, 5, 3), (1,)),
    "reverse of the last": ops.reverse((1, 4, 7), (2,)),
    "mirror pad without the border": ops.mirror_pad((1, 4, 5, 3), [(0, 0), (3, 2), (1, 4), (0, 0)], symmetric=False),
    "mirror pad with the border": ops.mirror_pad((1, 4, 5, 3), [(0, 0), (4, 2), (0, 5), (1, 1)], symmetric=True),
    "pad of three dimensions": ops.pad((1, 5, 3), [(0, 0), (2, 1), (1, 0)]),
    "pad of five dimensions": ops.pad((1, 2, 3, 2, 3), [(0, 0), (1, 0), (0, 2), (1, 1), (0, 0)]),
    "pad of uint8": ops.pad((1, 4, 5, 3), [(0, 0), (2, 1), (1, 0), (0, 1)], np.uint8),
    "pad of int16": ops.pad((1, 4, 5, 3), [(0, 0), (2, 1), (1, 0), (0, 1)], np.int16),
    "pad of float32": ops.pad((1, 4, 5, 3), [(0, 0), (2, 1), (1, 0), (0, 1)], np.float32),
    "space to depth": ops.space_to_depth((1, 6, 8, 3), 2),
    "depth to space": ops.depth_to_space((1, 3, 4, 12), 2),
    "depth to space of one channel": ops.depth_to_space((1, 3, 4, 9), 3),
}


@pytest.mark.parametrize("name", ALONE)
def test_an_operator_alone(host_network: Build, name: str) -> None:
    model = ALONE[name]
    assert_exact(host_network(model), model, range(3))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.bool_])
def test_elements_of_any_type_are_moved(host_network: Build, dtype: type[np.generic]) -> None:
    for model in (
        ops.transpose((1, 3, 4, 5), (0, 3, 1, 2), dtype),
        ops.concatenation(2, [(1, 3, 2), (1, 3, 1)], dtype),
        ops.strided_slice((1, 5, 4), (0, 0, 1), (1, 5, 4), dtype=dtype),
    ):
        assert_exact(host_network(model), model)


WAYS = [(False, False), (True, False), (False, True)]
RESIZED = [
    ((3, 4), (6, 8)),
    ((5, 4), (9, 13)),
    ((9, 7), (4, 3)),
    ((1, 1), (3, 3)),
    ((4, 6), (16, 24)),
    ((5, 1), (1, 4)),
]


@pytest.mark.parametrize(("align_corners", "half_pixel_centers"), WAYS)
@pytest.mark.parametrize(
    ("given", "made"), [*RESIZED[:2], *(pytest.param(*each, marks=pytest.mark.slow) for each in RESIZED[2:])]
)
@pytest.mark.parametrize("name", ["ResizeBilinear", "ResizeNearestNeighbor"])
def test_images_are_resized(
    host_network: Build,
    name: str,
    given: tuple[int, int],
    made: tuple[int, int],
    align_corners: bool,
    half_pixel_centers: bool,
) -> None:
    for channels in (1, 3, 19):
        model = ops.resize(name, given, made, channels, align_corners, half_pixel_centers)
        assert_exact(host_network(model), model, range(3))


@pytest.mark.parametrize(("given", "made"), [(1, 65), (2, 65), (65, 513)])
def test_where_the_reference_reads_behind_an_image_its_last_row_goes_on(
    host_network: Build, given: int, made: int
) -> None:
    model = ops.resize("ResizeBilinear", (given, 2), (made, 2), 3)
    network = host_network(model)
    (image,) = random_inputs(model, 1)
    computed = np.frombuffer(network.trace([image])["ResizeBilinear_0_out_0"], np.int8).reshape(made, 2, 3)
    expected = reference_interpreter.outputs(model, image)[0][0]
    assert np.array_equal(computed[:-1], expected[:-1])
    assert np.array_equal(computed[-1], image[0, -1])


@pytest.mark.parametrize("blocks", [(3, 2), *slow_rows((1, 1), (2, 2), (4, 4))])
@pytest.mark.parametrize("before", [(0, 0), (1, 0), (3, 5)])
def test_blocks_become_batches_and_images_again(
    host_network: Build, blocks: tuple[int, int], before: tuple[int, int]
) -> None:
    for height, width in ((5, 6), (1, 1), (8, 4)):
        behind = [-(size + first) % block for size, first, block in zip((height, width), before, blocks, strict=True)]
        paddings = list(zip(before, behind, strict=True))
        apart = ops.space_to_batch((1, height, width, 3), blocks, paddings)
        shape = [int(size) for size in reference_interpreter.load(apart).get_output_details()[0]["shape"]]
        model = chain(apart, ops.batch_to_space(shape, blocks, paddings))
        assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))


TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.bool_]


@pytest.mark.parametrize("made", TYPES)
@pytest.mark.parametrize("given", telling_rows(TYPES, TYPES[::3].__contains__))
def test_numbers_become_another_type(host_network: Build, given: type[np.generic], made: type[np.generic]) -> None:
    model = ops.cast((1, 60), given, made)
    inputs = random_inputs(model, 1)
    if given is np.float32:
        # Beyond the range of the type, the reference's result is undefined.
        low, high = (-100.0, 100.0) if made is not np.uint8 else (0.0, 250.0)
        inputs = [np.random.default_rng(2).uniform(low, high, (1, 60)).astype(np.float32)]
    assert_equal_everywhere(host_network(model), model, inputs)


SCALED = (ops.SCALED.per_tensor, ops.SCALED.zero_point)


def _image(graph: Graph, *shape: int) -> Value:
    return graph.input(shape or (1, 6, 4), *SCALED)


def _requantised(graph: Graph, source: Value, scaled: tuple[float, int] = (0.07, 2)) -> Value:
    return graph.add("QUANTIZE", [source], source.shape, scaled, table="Quantize")


def _between_requantisations(*models: bytes) -> bytes:
    """Return the models between requantisations.

    Their tensors are then neither inputs nor outputs of the network.
    """
    first, last = (reference_interpreter.load(model) for model in (models[0], models[-1]))
    given = first.get_input_details()[0]["shape"].tolist()
    made = last.get_output_details()[0]["shape"].tolist()
    return chain(
        quantize(given, np.int8, np.int8, Quantisation(0.06, 1), ops.SCALED),
        *models,
        quantize(made, np.int8, np.int8, ops.SCALED, Quantisation(0.07, 2)),
    )


CONTIGUOUS = {
    "expand dims": (ops.expand_dims((1, 6, 4), 2),),
    "squeeze": (ops.squeeze((1, 6, 1, 4), (2,)),),
    "squeeze of all": (ops.squeeze((1, 6, 1, 4), ()),),
    "transpose of a dimension of one": (ops.transpose((1, 6, 1, 4), (0, 2, 1, 3)),),
    "rows": (ops.strided_slice((1, 6, 5, 4), (0, 2, 0, 0), (1, 5, 5, 4)),),
    "rows of rows": (
        ops.slice_of((1, 6, 5, 4), (0, 2, 0, 0), (1, 3, 5, 4)),
        ops.strided_slice((1, 3, 5, 4), (0, 1, 0, 0), (1, 0, 5, 4), shrinkAxisMask=2),
    ),
    "last elements": (ops.strided_slice((1, 40), (0, 30), (1, 40)),),
}


@pytest.mark.parametrize("name", CONTIGUOUS)
def test_what_lies_together_is_not_copied(host_network: Build, name: str) -> None:
    model = _between_requantisations(*CONTIGUOUS[name])
    assert_exact(host_network(model), model, kinds=["Quantize", "Quantize"])


def test_parts_of_a_split_are_where_the_whole_is(host_network: Build) -> None:
    graph = Graph()
    whole = _requantised(graph, graph.input((1, 6, 4), 0.06, 1), SCALED)
    model = graph.bytes(*[_requantised(graph, part) for part in graph.split(whole, 3, 1)])
    assert_exact(host_network(model), model, kinds=["Quantize"] * 4)


def test_a_shape_that_is_computed_is_a_constant(host_network: Build) -> None:
    """Converters write a RESHAPE in this way if the batch was left open."""
    graph = Graph()
    given = _image(graph, 1, 4, 6)
    shape = [graph.positions("SHAPE", [given], (3,), outType=schema.TensorType.INT32)]
    shape += [graph.numbers(bound) for bound in (0, 1, 1)]
    batch = graph.add("STRIDED_SLICE", shape, (), version=1, table="StridedSlice", dtype="int32", shrinkAxisMask=1)
    others = [graph.constant(np.array(size, np.int32)) for size in (8, 3)]
    sizes = graph.positions("PACK", [batch, *others], (3,), valuesCount=3)
    reshaped = graph.add("RESHAPE", [given, sizes], (1, 8, 3), version=1, table="Reshape")
    model = graph.bytes(_requantised(graph, reshaped))
    assert_exact(host_network(model), model, kinds=["Quantize"])


def test_sizes_are_computed_and_filled_in_when_the_network_is_compiled(host_network: Build) -> None:
    """TILE takes computed multiples, and FILL makes its tensor.

    The multiples are twice the number of dimensions less 5.
    """
    graph = Graph()
    given = _image(graph)
    rank = graph.add("RANK", [given], (), (0.0, 0), version=1, table="Rank", dtype="int32")
    twice = graph.add("ADD", [rank, rank], (), table="Add", dtype="int32")
    times = graph.positions("ADD", [twice, graph.numbers(-5, -4, -4)])
    filling = graph.constant(np.array(7, np.int8), *SCALED)
    filled = graph.add("FILL", [graph.numbers(1, 3, 2), filling], (1, 3, 2), SCALED, version=1, table="Fill")
    tiled = graph.add("TILE", [filled, times], given.shape, table="Tile")
    model = graph.bytes(graph.add("ADD", [given, tiled], given.shape, table="Add"))
    assert_exact(host_network(model), model, kinds=["Add"])


def test_a_reshape_needs_no_shape_but_its_output_s(host_network: Build) -> None:
    """The shape may even depend on the network's inputs.

    A model that runs always computes the shape of the output.
    """
    graph = Graph()
    given, sizes = _image(graph), graph.input((3,), 0.0, 0, "int32")
    turned = graph.positions("GATHER", [sizes, graph.numbers(2, 1, 0)], (3,), axis=0)
    reshaped = graph.add("RESHAPE", [given, turned], (4, 3, 2), version=1, table="Reshape")
    network = host_network(graph.bytes(_requantised(graph, reshaped)))
    assert [epoch.kind for epoch in network.artifacts.epochs] == ["Quantize"]


def test_one_tensor_may_be_joined_with_itself_and_with_parts_of_it(host_network: Build) -> None:
    graph = Graph()
    whole = _requantised(graph, graph.input((1, 6, 4), 0.06, 1), SCALED)
    part = graph.add("SLICE", [whole, graph.numbers(0, 2, 0), graph.numbers(1, 3, 4)], (1, 3, 4), table="Slice")
    joined = graph.concat(whole, part, whole, axis=1)
    model = graph.bytes(joined, graph.concat(joined, joined, axis=2))
    assert_exact(host_network(model), model, kinds=["Quantize", *["Concatenation"] * 5])


def test_what_nothing_uses_is_not_computed(host_network: Build) -> None:
    graph = Graph()
    parts = graph.split(_image(graph), 4, 2)
    model = graph.bytes(_requantised(graph, parts[2]))
    assert_exact(host_network(model), model, kinds=["Split", "Quantize"])


def test_constants_are_moved_when_the_network_is_compiled(host_network: Build) -> None:
    """A constant is transposed, tiled, gathered and joined with another.

    The result is then added to an activation.
    """
    graph = Graph()
    given = _image(graph)
    small, large = (
        graph.constant(graph.random.integers(-128, 128, shape, dtype=np.int8), *SCALED)
        for shape in ((1, 2, 3), (1, 5, 4))
    )
    tiled = graph.add("TILE", [graph.transpose(small, 0, 2, 1), graph.numbers(1, 1, 2)], (1, 3, 4), table="Tile")
    gathered = graph.add("GATHER", [large, graph.numbers(4, 0, 0)], (1, 3, 4), table="Gather", axis=1)
    joined = graph.concat(tiled, gathered, axis=1)
    model = graph.bytes(graph.add("ADD", [given, joined], given.shape, table="Add"))
    assert_exact(host_network(model), model, kinds=["Add"])


def test_each_input_of_a_concatenation_has_a_call_of_its_own(host_network: Build) -> None:
    model = ops.concatenation(1, [(1, 4, 5), (1, 2, 5), (1, 1, 5)])
    network = host_network(model)
    assert [epoch.name for epoch in network.artifacts.epochs] == [
        "Concatenation_0_part_1",
        "Concatenation_0_part_2",
        "Concatenation_0",
    ]


@pytest.mark.parametrize(("axis", "expected"), [(1, [0, 20, None, 35]), (2, [None] * 4)])
def test_parts_say_where_an_input_lies_in_the_output(tmp_path: Path, axis: int, expected: list[int | None]) -> None:
    shapes = [(1, 4, 5), (1, 2, 5), (1, 1, 5), (1, 2, 5)] if axis == 1 else [(1, 4, 5)] * 4
    inputs: list[Any] = [*shapes[:2], ops.constant(shapes[2]), shapes[3]]
    (tmp_path / "model.tflite").write_bytes(ops.concatenation(axis, inputs))
    graph = read_graph(tmp_path / "model.tflite")
    parts = KINDS["CONCATENATION"].parts
    assert parts is not None and parts(operands_of(graph, graph.operators[0])) == expected


@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize(("size", "block"), [((9, 7), 2), ((8, 8), 2), ((10, 9), 4), ((5, 6), 1)])
def test_a_convolution_of_batches_becomes_a_dilated_one(
    host_network: Build, depthwise: bool, size: tuple[int, int], block: int
) -> None:
    """Padding at the bottom and right is cropped again.

    It makes the image a multiple of the block.
    """
    channels, extent = 4, 2 * block
    behind = [-(side + extent) % block for side in size]
    paddings = [(block, block + more) for more in behind]
    apart = ops.space_to_batch((1, *size, channels), (block, block), paddings)
    batches, height, width, _ = reference_interpreter.load(apart).get_output_details()[0]["shape"]
    convolution = _convolution((int(height), int(width)), int(batches), depthwise)
    made = [int(batches), int(height) - 2, int(width) - 2, channels]
    removed = [(0, more) for more in behind]
    model = chain(apart, convolution, ops.batch_to_space(made, (block, block), removed, OUT))
    assert_exact(host_network(model), model, range(3), ["DepthwiseConv2D" if depthwise else "Conv2D"])


OUT = Quantisation(0.11, -7)


def _convolution(size: tuple[int, int], batches: int, depthwise: bool) -> bytes:
    rng = np.random.default_rng(1)
    bias, scales = rng.integers(-3000, 3000, 4, dtype=np.int32), rng.uniform(0.0005, 0.02, 4).tolist()
    weights = rng.integers(-127, 128, (1, 3, 3, 4) if depthwise else (4, 3, 3, 4), dtype=np.int8)
    make = depthwise_conv_2d if depthwise else conv_2d
    model = make((*size, 4), weights, bias, scales, ops.SCALED, OUT, padding="VALID")

    def more_batches(tree: Any) -> None:
        for tensor in (tree.subgraphs[0].tensors[0], tree.subgraphs[0].tensors[-1]):
            tensor.shape = [batches, *tensor.shape[1:]]

    return edit(model, more_batches)
