"""Construction of the memory plan from the networks of an application and a board."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.size_text import counted
from n6build.base.span import Span
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.describe.hardware.board import Slot
from n6build.describe.hardware.slots import BoardFlash, next_sector, vectors_slot
from n6build.place.memory_plan.board_memory import BoardMemory
from n6build.place.memory_plan.images import plan_images, spans_of
from n6build.place.memory_plan.plan import (
    NPU_READ_AHEAD,
    MemoryPlan,
    OwnBuffer,
    PlannedModel,
    PlannedNetwork,
    PlannedRegion,
    PlannedVectors,
    PoolUse,
    application_name,
)
from n6build.place.memory_plan.slot_image import TRAILER_BYTES, trailer_offset, vectors_slot_file
from n6build.place.memory_plan.vectors import VectorShape, seeded_shape
from n6build.place.reloc.model_format import up

# Buffers may take one eighth of the Appli's RAM. Code and constants of a large network were observed to take two thirds of it.
_SHARE = 8
# A network's name and one of its buffers.
_Key = tuple[str, OwnBuffer]


def own_buffers(artifacts: NetworkArtifacts) -> tuple[OwnBuffer, ...]:
    """Return the inputs, then the outputs, that the application must allocate."""
    directions: list[tuple[Literal["input", "output"], tuple[IoBuffer, ...]]] = [
        ("input", artifacts.inputs),
        ("output", artifacts.outputs),
    ]
    return tuple(
        OwnBuffer(direction, index, port.bytes)
        for direction, ports in directions
        for index, port in enumerate(ports)
        if port.own
    )


def in_external_ram(
    networks: Sequence[PlannedNetwork],
    pools: Sequence[PoolUse],
    region: PlannedRegion,
    appli_ram: int,
    cache_line: int,
) -> tuple[PlannedNetwork, ...]:
    """Move buffers to external RAM, the largest first.

    Buffers move only if all together would take too much of the Appli's RAM.

    Args:
        networks: Networks with all buffers in the Appli's RAM.
        pools: Pools in use; their part of the region is not free.
        region: Region of the external RAM.
        appli_ram: Bytes of RAM that the Appli is linked to.
        cache_line: Bytes of a cache line; each buffer begins on one.

    Raises:
        N6Error: N6-PLAN-010 if the region has no room for the buffers.
    """
    moved = _too_many(networks, appli_ram // _SHARE)
    inside = (pool.address + pool.used for pool in pools if region.address <= pool.address < region.end)
    free = max(inside, default=region.address)
    starts: dict[_Key, int] = {}
    for key in moved:
        starts[key] = up(free, cache_line)
        free = starts[key] + key[1].bytes
    if moved and free > region.end:
        what = (
            f"inputs and outputs of the application need {free - region.end} bytes more than region '{region.name}' has"
        )
        hint = "compile without --no-inputs-allocation and --no-outputs-allocation, or enlarge the region"
        raise N6Error("N6-PLAN-010", what, where=f"external_ram.regions.{region.name}", hint=hint)
    return tuple(
        replace(
            each,
            own_buffers=tuple(replace(own, address=starts.get((each.name, own), 0)) for own in each.own_buffers),
        )
        for each in networks
    )


def _too_many(networks: Sequence[PlannedNetwork], limit: int) -> list[_Key]:
    """Return the largest buffers, so that the others fit into `limit` bytes."""
    buffers = [(network.name, own) for network in networks for own in network.own_buffers]
    buffers.sort(key=lambda each: -each[1].bytes)
    left = sum(own.bytes for _, own in buffers)
    count = 0
    while left > limit:
        left -= buffers[count][1].bytes
        count += 1
    return buffers[:count]


@dataclass(frozen=True)
class CompiledNetwork:
    """A network as an input of the plan.

    Attributes:
        model: Name of the model.
        artifacts: Artifacts of stage 1.
        vectors: Shape of the test vectors that go to flash with it.
        is_classification: The output is a class.
    """

    model: str
    artifacts: NetworkArtifacts
    vectors: VectorShape
    is_classification: bool


def compiled_network(
    model: str,
    folder: Path,
    name: str,
    weights: tuple[str, ...],
    vectors: VectorShape | None,
    *,
    is_classification: bool,
) -> CompiledNetwork:
    """Read a network that stage 1 has compiled.

    Args:
        model: Name of the model.
        folder: Folder of stage 1.
        name: Name of the network's files in this folder.
        weights: Names of the raw files among them.
        vectors: Shape of the test vectors; None for seeded ones.
        is_classification: The output is a class.

    Raises:
        N6Error: The errors of `read_artifacts`.
    """
    artifacts = read_artifacts(folder, name, weights)
    return CompiledNetwork(model, artifacts, vectors or seeded_shape(artifacts.inputs), is_classification)


def make_plan(
    board: BoardMemory,
    profile: str,
    networks: Sequence[CompiledNetwork],
) -> MemoryPlan:
    """Return the memory plan of linked networks.

    The checks decide if the plan is sound.

    Args:
        board: Memory of the board.
        profile: Memory profile.
        networks: Networks of the application.

    Raises:
        N6Error: N6-PLAN-00x or N6-PLAN-010 if no plan can be made.
    """
    for network in networks:
        _check_relative(network.artifacts)
    _check_symbols([network.artifacts for network in networks])
    images = plan_images(board.flash, [network.artifacts for network in networks])
    plan = _plan(board, profile, networks, spans_of(images))
    placed = plan.networks
    if board.pool_region:
        room = board.programs.appli.max_bytes
        placed = in_external_ram(placed, plan.pools, board.pool_region, room, board.cache_line)
    moved = any(buffer.address for network in placed for buffer in network.own_buffers)
    return replace(
        plan,
        networks=placed,
        images=images,
        banks=tuple(bank for bank in board.banks if _is_used(bank.span, plan.pools, NPU_READ_AHEAD)),
        maps_external_ram=moved or (board.psram is not None and _is_used(board.psram, plan.pools)),
    )


def make_reloc_plan(
    board: BoardMemory,
    profile: str,
    networks: Sequence[CompiledNetwork],
    models: Sequence[PlannedModel],
) -> MemoryPlan:
    """Return the memory plan of networks that are installed at run time.

    Their weights are in `models`, and the loader powers the memories that they use.

    Args:
        board: Memory of the board.
        profile: Memory profile.
        networks: Networks of the application.
        models: Relocatable models with their places in flash.

    Raises:
        N6Error: N6-PLAN-004 if a test vector has the wrong size; N6-PLAN-005 if flash has no room for
            the test vectors.
    """
    # Reserve the whole slot: models of another size may follow in it.
    whole = board.flash.slots.weights
    plan = _plan(board, profile, networks, [Span(whole.address, whole.size)])
    return replace(plan, models=tuple(models))


def _plan(
    board: BoardMemory,
    profile: str,
    networks: Sequence[CompiledNetwork],
    weights: Sequence[Span],
) -> MemoryPlan:
    """Return the common plan of linked and installed networks.

    Args:
        weights: Flash spans of the weights.
    """
    return MemoryPlan(
        application=application_name([network.model for network in networks]),
        board=board.flash.name,
        profile=profile,
        networks=_plan_networks(board.flash, networks, weights),
        images=(),
        banks=(),
        pools=tuple(
            PoolUse(network.artifacts.name, pool.name, pool.fname, pool.address, pool.size, pool.used_bytes)
            for network in networks
            for pool in network.artifacts.pools
            if pool.used_bytes and not pool.relative
        ),
        linker_regions=(
            PlannedRegion("FSBL", board.programs.fsbl.image, board.programs.fsbl.max_bytes),
            PlannedRegion("Appli", board.programs.appli.image, board.programs.appli.max_bytes),
        ),
        external_regions=board.external_regions,
        cache_line=board.cache_line,
    )


def _plan_networks(
    flash: BoardFlash, networks: Sequence[CompiledNetwork], weights: Sequence[Span]
) -> tuple[PlannedNetwork, ...]:
    """Return the networks, with each set of test vectors on its own sector."""
    for network in networks:
        _check_vectors(network.vectors, network.artifacts)
    sizes = [next_sector(flash, _vectors_bytes(network.vectors)) for network in networks]
    slot = vectors_slot(flash, weights, sum(sizes))
    if sum(sizes) > slot.size:
        raise _no_room(flash, networks, sum(sizes), slot)
    starts = itertools.accumulate(sizes, initial=slot.address)
    return tuple(
        PlannedNetwork(
            model=network.model,
            name=network.artifacts.name,
            suffix=network.artifacts.suffix,
            is_classification=network.is_classification,
            vectors=PlannedVectors(
                vectors_slot_file(network.artifacts.name, len(networks)) if network.vectors.count else "",
                start,
                network.vectors.count,
                network.vectors.bytes_each,
            ),
            own_buffers=own_buffers(network.artifacts),
            keeps_state=bool(network.artifacts.states),
        )
        for network, start in zip(networks, starts, strict=False)
    )


def _vectors_bytes(vectors: VectorShape) -> int:
    """Return the flash bytes of vectors with their trailer; 0 without vectors."""
    if not vectors.count:
        return 0
    return trailer_offset(vectors.count * vectors.bytes_each) + TRAILER_BYTES


def _no_room(flash: BoardFlash, networks: Sequence[CompiledNetwork], needed: int, room: Slot) -> N6Error:
    """Return the error for test vectors larger than `room`, the largest free room."""
    sets = [network.vectors for network in networks if network.vectors.count]
    vectors = ", ".join(f"{counted(each.count, 'vector')} of {each.bytes_each} bytes in {each.name}" for each in sets)
    what = (
        f"test vectors need {needed} bytes of flash ({vectors}), {needed - room.size} more than the largest free "
        f"area of slots 'vectors' and 'weights', {room.size} bytes at 0x{room.address:08X}"
    )
    where = f"boards/{flash.name}/board.yaml: slots.vectors"
    return N6Error(
        "N6-PLAN-005", what, where=where, hint="store fewer vectors (vectors.inputs in model.yaml), or enlarge the slot"
    )


def _is_used(span: Span, uses: Sequence[PoolUse], read_ahead: int = 0) -> bool:
    """Return True if a pool uses the span.

    Args:
        read_ahead: Bytes after the used part of a pool that also count.
    """
    return any(use.address < span.end and span.address < use.address + use.used + read_ahead for use in uses)


def _check_relative(artifacts: NetworkArtifacts) -> None:
    """Check that no relative pool is writable.

    Weights of a relative pool are at the address of their image. Only the loader of relocatable models
    finds RAM for one.
    """
    for pool in artifacts.pools:
        if pool.relative and pool.used_bytes and pool.rights != "ACC_READ":
            raise N6Error(
                "N6-PLAN-007",
                f"memory pool {pool.name} is relative and writable, but the network uses {pool.used_bytes} bytes of it",
                where=artifacts.described_by,
                hint="give the pool an absolute address (mode USEMODE_ABSOLUTE) and compile the network again",
            )


def _check_symbols(networks: Sequence[NetworkArtifacts]) -> None:
    """Check that no two networks have the same symbols.

    ST's compiler before release 3.0 gives the symbols of all networks the same names.
    """
    for number, network in enumerate(networks):
        other = next((each for each in networks[:number] if each.suffix == network.suffix), None)
        if other:
            what = (
                f"networks {other.name} and {network.name} have the same symbols, for example LL_ATON_EpochBlockItems_"
            )
            hint = "compile them with ST Edge AI Core 3.0 or newer, which gives them names, or with backend=reference"
            raise N6Error("N6-PLAN-009", what + network.suffix, where=network.source.name, hint=hint)


def _check_vectors(vectors: VectorShape, artifacts: NetworkArtifacts) -> None:
    expected = sum(buffer.bytes for buffer in artifacts.inputs)
    if vectors.count and vectors.bytes_each != expected:
        raise N6Error(
            "N6-PLAN-004",
            f"a test vector has {vectors.bytes_each} bytes, but the network's input has {expected}",
            where=vectors.name,
            hint="write rows of 'inputs' with the type and shape of the model's input",
        )
