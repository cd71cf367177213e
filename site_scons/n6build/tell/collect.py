"""Collection of a report's content from the results of the stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from n6build.check.run import Result
from n6build.compile.artifacts.buffer_lives import buffer_lives
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.compile.artifacts.timed_epochs import TimedEpoch, timed_epochs
from n6build.describe.hardware.aliases import secure_alias
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.slots import flash_of
from n6build.engine.perform import DoneStep
from n6build.place.image.manifest import FlashManifest, used_slots
from n6build.place.image.sizes import ProgramExtent
from n6build.place.memory_plan.plan import MemoryPlan, PlannedRegion
from n6build.tell.content import (
    AddressRange,
    EpochRow,
    Kind,
    NetworkSection,
    Part,
    Report,
    Space,
    Unit,
)

_UNITS: dict[str, Unit] = {"NODE_SW": "CPU", "NODE_SW_HW": "both"}
# Consecutive RAM in the chip. The memories of NPU cache and video encoder are shown only if they are used.
_RAM = ("FLEXRAM", *(f"AXISRAM{number}" for number in range(1, 7)))
_SPECIAL_RAM = ("CACHEAXIRAM", "VENCRAM")
_SLOT_KINDS: dict[str, Kind] = {"weights": "weights", "vectors": "vectors"}


def collect(
    *,
    board: Board,
    plan: MemoryPlan,
    manifest: FlashManifest,
    networks: Sequence[tuple[str, NetworkArtifacts]],
    programs: Sequence[ProgramExtent],
    cycles: Sequence[dict[int, int]],
    checks: Sequence[Result],
    versions: Sequence[tuple[str, str]],
    actions: Sequence[DoneStep],
    seconds: float,
) -> Report:
    """Return the report of a build.

    Args:
        board: The board.
        plan: Memory plan.
        manifest: Flash manifest.
        networks: Backend and artifacts of each network, in the order of the plan.
        programs: Programs with their addresses and sizes.
        cycles: Cycles by epoch, for each network; empty without a run.
        checks: Results of the checks.
        versions: Name and version of each tool and library.
        actions: Steps of this call of scons.
        seconds: Time of this call.
    """
    sections = tuple(
        _section(planned.model, backend, artifacts, cycles[number] if number < len(cycles) else {})
        for number, (planned, (backend, artifacts)) in enumerate(zip(plan.networks, networks, strict=True))
    )
    parts = _parts(networks, programs, labelled=len(networks) > 1)
    pools = _pools([artifacts for _, artifacts in networks])
    memory = tuple(_memory(board, parts, pools, plan.external_regions))
    flash = _flash(board, manifest, pools)
    return Report(
        application=plan.application,
        board=board.title,
        profile=plan.profile,
        versions=tuple(versions),
        networks=sections,
        memory=memory,
        flash=flash,
        elsewhere=_elsewhere(parts, [space for axis in memory for space in axis.spaces], flash),
        checks=tuple(checks),
        actions=tuple(actions),
        seconds=seconds,
    )


def _section(model: str, backend: str, artifacts: NetworkArtifacts, cycles: dict[int, int]) -> NetworkSection:
    pools, epochs = artifacts.pools, timed_epochs(artifacts)
    return NetworkSection(
        model=model,
        backend=backend,
        inputs=tuple(_port(port) for port in artifacts.inputs),
        outputs=tuple(_port(port) for port in artifacts.outputs),
        weights_bytes=sum(pool.weights_bytes for pool in pools),
        activations_bytes=sum(pool.used_bytes - pool.weights_bytes for pool in pools if pool.rights == "ACC_WRITE"),
        epochs=tuple(_epoch(epoch, cycles, counts_macs=any(each.macs for each in epochs)) for epoch in epochs),
        buffers=tuple(replace(life, address=_secure(life.address)) for life in buffer_lives(artifacts)),
        pools=tuple(_pools([artifacts])),
    )


def _port(port: IoBuffer) -> str:
    shape = " x ".join(str(size) for size in port.shape)
    quantisation = "" if port.type == "float32" else f", scale {port.scale:.6g}, zero point {port.zero_point}"
    return f"{port.name}: {port.type} {shape}{quantisation}"


def _epoch(epoch: TimedEpoch, cycles: dict[int, int], *, counts_macs: bool) -> EpochRow:
    return EpochRow(
        index=epoch.first,
        kind=epoch.kind,
        unit=_UNITS.get(epoch.mapping, "NPU"),
        macs=epoch.macs if counts_macs else None,
        bytes=epoch.bytes,
        cycles=cycles.get(epoch.first),
        last=epoch.last,
        count=epoch.count,
    )


def _parts(
    networks: Sequence[tuple[str, NetworkArtifacts]], programs: Sequence[ProgramExtent], *, labelled: bool
) -> list[Part]:
    parts = [Part(program.name, "program", program.address, program.size) for program in programs]
    for _, artifacts in networks:
        name = f"{artifacts.name} " if labelled else ""
        for pool in artifacts.pools:
            address = _secure(pool.address)
            if pool.weights_bytes and not pool.relative:
                parts.append(Part(f"{name}weights, pool {pool.name}", "weights", address, pool.weights_bytes))
            rest = pool.used_bytes - pool.weights_bytes
            if rest > 0 and not pool.relative:
                address += pool.weights_bytes
                parts.append(Part(f"{name}activations, pool {pool.name}", "activations", address, rest))
    return parts


def _pools(networks: Sequence[NetworkArtifacts]) -> list[Part]:
    pools = {
        (pool.address, pool.size): Part(f"pool {pool.name}", "pool", _secure(pool.address), pool.size)
        for artifacts in networks
        for pool in artifacts.pools
        if pool.size and not pool.relative
    }
    return [pool for _, pool in sorted(pools.items())]


def _secure(address: int) -> int:
    """Return the secure alias of an address: a memory has one place on the axis."""
    return secure_alias(address) if address >> 28 == 2 else address


def _elsewhere(parts: Sequence[Part], spaces: Sequence[Space], flash: AddressRange) -> tuple[Part, ...]:
    """Return the parts that no axis shows completely.

    Weights that are read in place are shown by their file in a flash slot.
    """
    places = [*((space.address, space.size) for space in spaces), (flash.address, flash.size)]
    return tuple(
        part for part in parts if sum(shown.size for place in places for shown in _inside([part], *place)) < part.size
    )


def _inside(parts: Sequence[Part], address: int, size: int) -> tuple[Part, ...]:
    """Return the parts clipped to [address, address + size)."""
    clipped = []
    for part in parts:
        begin, end = max(part.address, address), min(part.address + part.size, address + size)
        if begin < end:
            clipped.append(Part(part.label, part.kind, begin, end - begin))
    return tuple(sorted(clipped, key=lambda part: (part.address, part.label)))


def _memory(
    board: Board, parts: Sequence[Part], pools: Sequence[Part], regions: Sequence[PlannedRegion]
) -> list[AddressRange]:
    """Return the RAM of programs and networks, and the external RAM of the board."""
    memories = [(name, board.soc.memories[name]) for name in (*_RAM, *_SPECIAL_RAM)]
    spaces = [Space(name, each.base, each.size, _inside(parts, each.base, each.size)) for name, each in memories]
    spaces = [space for space in spaces if space.parts or space.name in _RAM]
    begin, end = spaces[0].address, max(space.address + space.size for space in spaces)
    inside = _inside(pools, begin, end - begin)
    ranges = [AddressRange("RAM in the chip", begin, end - begin, tuple(spaces), inside)]
    if board.external_ram:
        base = board.soc.memories[board.external_ram.memory].base
        external = [
            Space(each.name, each.address, each.size, _inside(parts, each.address, each.size)) for each in regions
        ]
        size = board.external_ram.size
        ranges.append(AddressRange("External RAM", base, size, tuple(external), _inside(pools, base, size)))
    return ranges


def _flash(board: Board, manifest: FlashManifest, pools: Sequence[Part]) -> AddressRange:
    spaces = []
    names = {name for name, _ in board.slots.items()}
    for each in used_slots(flash_of(board), manifest):
        parts = tuple(
            Part(
                PurePosixPath(segment.file).name,
                _SLOT_KINDS.get(segment.name, "program"),
                segment.address,
                segment.length,
            )
            for segment in each.segments
        )
        if each.slot.size:
            name = each.name if each.name in names else "fixed weights"
            spaces.append(Space(name, each.slot.address, each.slot.size, parts))
    ordered = tuple(sorted(spaces, key=lambda space: space.address))
    inside = _inside(pools, manifest.base, manifest.size)
    return AddressRange("Flash", manifest.base, manifest.size, ordered, inside)
