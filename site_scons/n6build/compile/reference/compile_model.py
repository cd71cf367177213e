"""The compiler of the reference backend, from a model file to C source.

It compiles an int8 .tflite or .onnx model so that every epoch runs on the Cortex-M55. The results
of the network are those of LiteRT's reference resolver, bit for bit. Equal inputs give
byte-identical files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically, write_chunks_atomically
from n6build.compile.artifacts.description import OF_FLOAT32, OWN_TOOL
from n6build.compile.ll_aton import Version, own_version
from n6build.compile.memory_pools import MemoryPool, RoomierProfile
from n6build.compile.reference.batches import image_by_image
from n6build.compile.reference.c_info import c_info
from n6build.compile.reference.detecting import detections_together
from n6build.compile.reference.dilation import dilated
from n6build.compile.reference.epochs import Network
from n6build.compile.reference.external_ram import ExternalUse, external_uses
from n6build.compile.reference.folding import folded
from n6build.compile.reference.graph import Graph
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.lowering import lower
from n6build.compile.reference.network_sources import network_header, network_source
from n6build.compile.reference.operands import operands_of
from n6build.compile.reference.placement import Placement, place
from n6build.compile.reference.report import report
from n6build.compile.reference.tflite_reader import read_graph
from n6build.compile.reference.unsigned import as_signed

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
