"""A model as a network whose epochs run on the NPU where they can: all files but what tells of their proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.hardware.npu import Npu
from n6build.network.artifacts.description import NPU_TOOL
from n6build.network.ll_aton import Version
from n6build.network.neural_art.blob_header import blob_header
from n6build.network.neural_art.blocks import Block, blocks_of
from n6build.network.neural_art.hardware_epoch import ends_of_writes
from n6build.network.neural_art.layer import Calibration
from n6build.network.neural_art.lowering import Lowered, lower_for_npu
from n6build.network.neural_art.placement import placed
from n6build.network.pools.memory_pools import MemoryPool, RoomierProfile
from n6build.network.reference.c_info import c_info
from n6build.network.reference.compile import initializer_chunks
from n6build.network.reference.generated_c import network_header, network_source
from n6build.network.reference.graph import Graph
from n6build.network.reference.graph_checks import check_graph
from n6build.network.reference.lowering import lower
from n6build.network.reference.placement import Placement
from n6build.network.reference.report import report

# Of the generated files: raised with every change to them.
VERSION = "0.4"
IDENTITY = f"{NPU_TOOL} {VERSION} (experimental)"


@dataclass(frozen=True)
class Request:
    """What is compiled. pools: in order of preference. ll_aton: version of the runtime. roomier: profiles with more RAM. guard:
    as of `NpuOptions`."""

    model: Path
    name: str
    pools: Sequence[MemoryPool]
    ll_aton: Version
    roomier: Sequence[RoomierProfile]
    guard: int = 0


@dataclass(frozen=True)
class CompiledForNpu:
    """kernels: content of the pool of initializers. files: by name, of the output folder."""

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
    """kept: operators that stay on the CPU whatever they are, by their index, with the reason. apart: those that are cut into
    many epochs, each with shifts of its own. Raises N6-NET-0xx for a model or pools that cannot be compiled, N6-NET-030 where no
    operator goes to the NPU."""
    name, model = request.name, request.model
    check_graph(graph, model.name)
    lowered = lower_for_npu(npu, graph, lower(graph, model.name), calibration, kept, apart)
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
    """Every reason at once."""
    lines = [f"operator {each.index} ({each.operator}): {each.why}" for each in lowered.on_cpu]
    indent = "\n    "
    what = f"no operator of it can go to the NPU:{indent}{indent.join(lines)}"
    return N6Error("N6-NET-030", what, where=where, hint="backend=reference runs all of them on the CPU")
