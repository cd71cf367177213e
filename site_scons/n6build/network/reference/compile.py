"""The reference backend: compiles an int8 .tflite or .onnx model so that every epoch runs on the Cortex-M55.

Its results are those of LiteRT's reference resolver, bit for bit. Equal inputs give byte-identical files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import file_size, to_json, write_atomically
from n6build.network.artifacts.description import OWN_TOOL
from n6build.network.ll_aton import Version, own_version
from n6build.network.pools.memory_pools import MemoryPool, RoomierProfile
from n6build.network.reference.c_info import c_info
from n6build.network.reference.dilation import dilated
from n6build.network.reference.epochs import Network
from n6build.network.reference.external_ram import ExternalUse, external_uses
from n6build.network.reference.folding import folded
from n6build.network.reference.generated_c import network_header, network_source
from n6build.network.reference.graph import Graph
from n6build.network.reference.graph_checks import check_graph
from n6build.network.reference.kinds import KINDS
from n6build.network.reference.lowering import lower
from n6build.network.reference.placement import Placement, place
from n6build.network.reference.report import report
from n6build.network.reference.tflite_reader import read_graph
from n6build.network.reference.unsigned import as_signed

# Of the generated files: raised with every change to them, since version control is not part of an installed library.
VERSION = "1.1"


@dataclass(frozen=True)
class Compiled:
    """What is said of a network that was compiled. external: external RAM that it uses. transposes: epochs that put the
    dimensions of a tensor in another order."""

    external: tuple[ExternalUse, ...]
    transposes: int


def kernels_of(model: Path) -> tuple[str, ...]:
    """Names of the kernels that its operators may call, sorted. Raises N6Error where the file is no such model."""
    kinds = {operator.kind for operator in _graph_of(model).operators}
    return tuple(sorted({kernel.name for kind in kinds for kernel in KINDS[kind].kernels}))


def compile_network(
    model: Path,
    pools: Sequence[MemoryPool],
    out: Path,
    name: str = "network",
    ll_aton: Version | None = None,
    roomier: Sequence[RoomierProfile] = (),
) -> Compiled:
    """Writes <name>.c, <name>.h, <name>_atonbuf.<fname>.raw, <name>_c_info.json and <name>_generate_report.txt to `out`.

    The raw files are those of `initializer_pools(pools)`, empty for a network without weights. name: suffix of every symbol.
    ll_aton: version of the runtime that the source is for, None for n6build's own. roomier: profiles of the board with more RAM,
    for the hint where this one has too little. external is empty where there is no external RAM in use.

    Raises N6-NET-014 for a name that is not a C identifier, N6-NET-0xx for a model or pools that cannot be compiled; `out` is
    then left as it was.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise N6Error("N6-NET-014", f"'{name}' is not a valid name for a network", hint="letters, digits and _ only")
    graph = _graph_of(model)
    check_graph(graph, model.name)
    network = lower(graph, model.name)
    placement = place(network, pools, roomier)
    identity = f"{OWN_TOOL} {VERSION}"
    info = c_info(
        network,
        placement,
        pools,
        name=name,
        model_file=model.name,
        model_bytes=file_size(model),
        tool=OWN_TOOL,
        tool_version=VERSION,
    )
    raw = out / f"{name}_atonbuf.{placement.initializer_pool.fname}.raw"
    files: dict[Path, bytes | str] = {
        out / f"{name}.c": network_source(network, placement, pools, name, identity, ll_aton or own_version()),
        out / f"{name}.h": network_header(network, name, model.stem),
        raw: initializer_image(network, placement),
        out / f"{name}_c_info.json": to_json(info),
        out / f"{name}_generate_report.txt": report(
            network, placement, pools, name=name, origin=model.stem, tool=identity
        ),
    }
    for path, content in files.items():
        write_atomically(path, content)
    transposes = sum(epoch.kind == "Transpose" for epoch in network.epochs)
    return Compiled(external_uses(network, placement, pools), transposes)


def _graph_of(model: Path) -> Graph:
    if model.suffix == ".onnx":
        from n6build.network.reference.onnx.reader import read_onnx_graph  # noqa: PLC0415 - it takes 0.2 s.

        return read_onnx_graph(model)
    return as_signed(dilated(folded(read_graph(model))))


def initializer_image(network: Network, placement: Placement) -> bytes:
    """The pool from its start to the end of the last initializer; gaps are 0."""
    image = bytearray(placement.initializer_bytes)
    for initializer in network.initializers:
        offset = placement.places[initializer.name].offset
        image[offset : offset + len(initializer.data)] = initializer.data
    return bytes(image)
