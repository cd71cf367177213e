"""The compiler of the reference backend, from a model file to C source.

It compiles an int8 .tflite or .onnx model so that every epoch runs on the Cortex-M55. The results
of the network are those of LiteRT's reference resolver, bit for bit. Equal inputs give
byte-identical files.

Operators on several images, computed image by image. The kernels of windows and of resizing read
one image. The images of a batch are parts of a tensor that costs nothing to take apart, and their
results are made at their places in the output.

The four outputs of a detector's last operator, as parts of one tensor. A kernel makes all of them
at once, in float32.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically, write_chunks_atomically
from n6build.compile.artifacts.description import OF_FLOAT32, OWN_TOOL
from n6build.compile.ll_aton import Version, own_version
from n6build.compile.memory_pools import MemoryPool, RoomierProfile
from n6build.compile.reference.c_info import c_info
from n6build.compile.reference.epochs import Network
from n6build.compile.reference.external_ram import ExternalUse, external_uses
from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.graph_rewrites import dilated, folded
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.lowering import lower
from n6build.compile.reference.network_sources import network_header, network_source
from n6build.compile.reference.operands import operands_of
from n6build.compile.reference.operators.detections import KIND, NUMBERS_EACH, DetectionOptions
from n6build.compile.reference.placement import Placement, place
from n6build.compile.reference.report import report
from n6build.compile.reference.tflite_reader import read_graph
from n6build.compile.reference.unsigned import as_signed

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


# Numbers of a detection in each output, the last of which is the number of detections.
_SIZES = (4, 1, 1)


def detections_together(graph: Graph) -> Graph:
    """Return the graph with one operator for the outputs of each detector."""
    found = [operator for operator in graph.operators if operator.kind == KIND]
    if not found:
        return graph
    tensors = dict(graph.tensors)
    numbers = itertools.count(1 + max(operator.index for operator in graph.operators))
    operators: list[Operator] = []
    made: dict[int, Tensor] = {}
    for operator in graph.operators:
        if operator.kind != KIND:
            operators.append(operator)
            continue
        if operator.index not in made:
            made[operator.index] = _whole(tensors, operator)
            operators += _computed(tensors, operator, made[operator.index], numbers)
        operators += _part(tensors, operator, made[operator.index], numbers)
    return replace(graph, tensors=tensors, operators=tuple(operators))


def _added(tensors: dict[int, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    tensor = Tensor(max(tensors) + 1, name, "float32", shape, None)
    tensors[tensor.index] = tensor
    return tensor


def _whole(tensors: dict[int, Tensor], operator: Operator) -> Tensor:
    assert isinstance(operator.options, DetectionOptions)
    name = f"{tensors[operator.output].name} and others"
    return _added(tensors, name, (operator.options.places * NUMBERS_EACH + 1,))


def _computed(
    tensors: dict[int, Tensor], operator: Operator, whole: Tensor, numbers: Iterator[int]
) -> Iterator[Operator]:
    """Yield the operator, behind those that make float32 of its inputs."""
    inputs = []
    for index in operator.inputs:
        given = None if index is None else tensors[index]
        if given is None or given.dtype == "float32" or given.quantisation is None:
            inputs.append(index)
            continue
        real = _added(tensors, f"{given.name} as float32", given.shape)
        inputs.append(real.index)
        if given.data is None:
            yield Operator(next(numbers), "DEQUANTIZE", (given.index,), real.index, added=True)
        else:
            numbers_of = np.float32(given.quantisation.scale) * (
                given.data.astype(np.float32) - np.float32(given.quantisation.zero_point)
            )
            tensors[real.index] = replace(real, data=numbers_of.astype(np.float32))
    yield replace(operator, inputs=tuple(inputs), output=whole.index, part=0)


def _part(tensors: dict[int, Tensor], operator: Operator, whole: Tensor, numbers: Iterator[int]) -> Iterator[Operator]:
    """Yield the operators that take an output from the whole."""
    places = whole.elements // NUMBERS_EACH
    begin = places * sum(_SIZES[: operator.part])
    end = begin + places * _SIZES[operator.part] if operator.part < len(_SIZES) else whole.elements
    output = tensors[operator.output]
    flat = _added(tensors, f"{output.name} flat", (end - begin,))
    yield Operator(next(numbers), "Part", (whole.index,), flat.index, (slice(begin, end),), added=True)
    yield Operator(next(numbers), "RESHAPE", (flat.index,), output.index, added=True)


# Version of the generated files. Every change to them raises it, because an installed library has no version control.
VERSION = "1.1"


@dataclass(frozen=True)
class Compiled:
    """Facts about a compiled network for the console.

    Attributes:
        external: Uses of external RAM; empty if the network uses none.
        transposes: Number of epochs that put the dimensions of a tensor in another order.
        in_float32: Names of the epochs of layers that the model does not quantise.
        doubts: Warnings about operators, by the names of the operators.
    """

    external: tuple[ExternalUse, ...]
    transposes: int
    in_float32: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)


def kernels_of(model: Path) -> tuple[str, ...]:
    """Return the sorted names of the kernels that a model's operators may call.

    Raises:
        N6Error: The file is not a model that this backend reads.
    """
    kinds = {operator.kind for operator in graph_of(model).operators}
    return tuple(sorted({kernel.name for kind in kinds for kernel in KINDS[kind].kernels}))


def compile_network(
    model: Path,
    pools: Sequence[MemoryPool],
    out: Path,
    name: str = "network",
    ll_aton: Version | None = None,
    roomier: Sequence[RoomierProfile] = (),
) -> Compiled:
    """Compile a model and write the files of the network to a folder.

    The files are <name>.c, <name>.h, <name>_atonbuf.<fname>.raw, <name>_c_info.json and
    <name>_generate_report.txt. The raw files are those of `initializer_pools(pools)`. They are
    empty for a network without weights.

    Args:
        model: The .tflite or .onnx file.
        pools: Memory pools of the profile.
        out: Folder of the files. It stays as it was if the model cannot be compiled.
        name: Suffix of every symbol.
        ll_aton: Version of the runtime that the source is for; None for n6build's own.
        roomier: Profiles of the board with more RAM, for the hint if this one has too little.

    Raises:
        N6Error: N6-NET-014 if the name is not a C identifier; N6-NET-0xx if the model or the pools
            cannot be compiled.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise N6Error(
            "N6-NET-014", f"'{name}' is not a valid name for a network", hint="use letters, digits and _ only"
        )
    graph = graph_of(model)
    check_graph(graph, model.name)
    network = lower(graph, model.name)
    placement = place(network, pools, roomier)
    identity = f"{OWN_TOOL} {VERSION}"
    info = c_info(
        network,
        placement,
        pools,
        name=name,
        model=model,
        tool=OWN_TOOL,
        tool_version=VERSION,
    )
    raw = out / f"{name}_atonbuf.{placement.initializer_pool.fname}.raw"
    files: dict[Path, str] = {
        out / f"{name}.c": network_source(network, placement, pools, name, identity, ll_aton or own_version()),
        out / f"{name}.h": network_header(network, name, model.stem),
        out / f"{name}_c_info.json": to_json(info),
        out / f"{name}_generate_report.txt": report(
            network, placement, pools, name=name, origin=model.stem, tool=identity
        ),
    }
    for path, content in files.items():
        write_atomically(path, content)
    write_chunks_atomically(raw, initializer_chunks(network, placement))
    transposes = sum(epoch.kind == "Transpose" for epoch in network.epochs)
    in_float32 = tuple(epoch.node for epoch in network.epochs if epoch.kind.startswith(OF_FLOAT32))
    return Compiled(external_uses(network, placement, pools), transposes, in_float32, doubts_of(graph))


def doubts_of(graph: Graph) -> dict[str, str]:
    """Return warnings about operators, by the name and the output of the operator."""
    doubts = {}
    for operator in graph.operators:
        doubt = KINDS[operator.kind].doubt
        text = doubt(operands_of(graph, operator)) if doubt else None
        if text:
            doubts[f"{operator}, {graph.tensors[operator.output].name!a}"] = text
    return doubts


def graph_of(model: Path) -> Graph:
    """Read a model file into a graph with constants folded.

    A uint8 model becomes an int8 model unless all its operators support uint8.

    Raises:
        N6Error: The file is not a model that this backend reads.
    """
    if model.suffix == ".onnx":
        from n6build.compile.reference.onnx.reader import read_onnx_graph  # noqa: PLC0415 - it takes 0.2 s.

        return image_by_image(read_onnx_graph(model))
    return image_by_image(as_signed(dilated(detections_together(folded(read_graph(model))))))


def initializer_chunks(network: Network, placement: Placement) -> Iterator[memoryview | bytes]:
    """Yield the bytes of the initializers' pool in pieces, with gaps of 0.

    They extend from the pool's start to the end of the last initializer.
    """
    at = 0
    for initializer in sorted(network.initializers, key=lambda each: placement.places[each.name].offset):
        offset = placement.places[initializer.name].offset
        yield bytes(offset - at)
        yield initializer.data
        at = offset + len(initializer.data)
    yield bytes(placement.initializer_bytes - at)
