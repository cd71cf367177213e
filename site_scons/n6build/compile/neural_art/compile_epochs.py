"""Compilation of a model to a network that runs on the NPU where it can.

It makes all files but those about the proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.compile.artifacts.description import NPU_TOOL
from n6build.compile.ll_aton import Version
from n6build.compile.memory_pools import MemoryPool, RoomierProfile
from n6build.compile.neural_art.blob_header import blob_header
from n6build.compile.neural_art.blocks import Block, blocks_of
from n6build.compile.neural_art.hardware_epoch import ends_of_writes
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.neural_art.lowering import Lowered, lower_for_npu
from n6build.compile.neural_art.placement import placed
from n6build.compile.reference.c_info import c_info
from n6build.compile.reference.compile_model import initializer_chunks
from n6build.compile.reference.graph import Graph
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.lowering import lower
from n6build.compile.reference.network_sources import network_header, network_source
from n6build.compile.reference.placement import Placement
from n6build.compile.reference.report import report
from n6build.describe.hardware.npu import Npu

# Version of the generated files. It is raised with every change to them.
VERSION = "0.5"
IDENTITY = f"{NPU_TOOL} {VERSION} (experimental)"


@dataclass(frozen=True)
class Request:
    """Input of a compilation.

    Attributes:
        model: File of the model.
        name: Name of the network.
        pools: Memory pools in order of preference.
        ll_aton: Version of the runtime.
        roomier: Profiles with more RAM.
        guard: As in `NpuOptions`.
    """

    model: Path
    name: str
    pools: Sequence[MemoryPool]
    ll_aton: Version
    roomier: Sequence[RoomierProfile]
    guard: int = 0


@dataclass(frozen=True)
class CompiledForNpu:
    """Result of a compilation.

    Attributes:
        lowered: Network and epochs of the NPU.
        placement: Addresses of buffers and initializers.
        blocks: Blobs in the order in which they run.
        kernels: Content of the pool of initializers.
        files: Content of the files of the output folder, by name.
    """

    lowered: Lowered
    placement: Placement
    blocks: tuple[Block, ...]
    kernels: bytes
    files: Mapping[str, bytes | str]


def compile_for_npu(
    npu: Npu,
    request: Request,
    graph: Graph,
    calibration: Calibration,
    kept: Mapping[int, str],
    apart: Set[int] = frozenset(),
) -> CompiledForNpu:
    """Compile a model for the NPU.

    Args:
        npu: Description of the NPU.
        request: Names, pools and versions.
        graph: Graph of the model.
        calibration: Values of the activations.
        kept: Operators that stay on the CPU in any case: index -> reason.
        apart: Operators that are cut into many epochs, each with shifts of its own.

    Raises:
        N6Error: N6-NET-0xx if the model or the pools cannot be compiled; N6-NET-030 if no operator
            goes to the NPU.
    """
    name, model = request.name, request.model
    check_graph(graph, model.name)
    # Engines write whole frames and may pass the end of a tensor, so a tensor cannot be made inside a larger one.
    cpu = lower(graph, model.name, in_parts=False)
    lowered = lower_for_npu(npu, graph, cpu, calibration, kept, apart)
    if not lowered.hardware:
        raise nothing_for_npu(model.name, lowered)
    written = ends_of_writes(lowered.hardware.values())
    network, placement = placed(lowered.network, request.pools, request.roomier, request.guard, written)
    blocks = blocks_of(npu, lowered, placement, name)
    info = c_info(
        network,
        placement,
        request.pools,
        name=name,
        model=model,
        tool=NPU_TOOL,
        tool_version=VERSION,
    )
    kernels = b"".join(initializer_chunks(network, placement))
    blobs = [block.blob for block in blocks]
    return CompiledForNpu(
        lowered,
        placement,
        blocks,
        kernels,
        {
            f"{name}.c": network_source(network, placement, request.pools, name, IDENTITY, request.ll_aton, blobs),
            f"{name}.h": network_header(network, name, model.stem),
            f"{name}_ecblobs.h": blob_header(blocks, name, IDENTITY),
            f"{name}_atonbuf.{placement.initializer_pool.fname}.raw": kernels,
            f"{name}_c_info.json": to_json(info),
            f"{name}_generate_report.txt": report(
                network,
                placement,
                request.pools,
                name=name,
                origin=model.stem,
                tool=IDENTITY,
                backend="neural_art",
            ),
        },
    )


def nothing_for_npu(where: str, lowered: Lowered) -> N6Error:
    """Return the error N6-NET-030 with every reason at once."""
    lines = [f"operator {each.index} ({each.operator}): {each.why}" for each in lowered.on_cpu]
    indent = "\n    "
    what = f"the NPU can run none of its operators:{indent}{indent.join(lines)}"
    return N6Error("N6-NET-030", what, where=where, hint="use backend=reference, which runs all of them on the CPU")
