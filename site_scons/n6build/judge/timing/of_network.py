"""The work of each epoch of a compiled network, according to its files.

It is elements, MACs, bytes of flash and of PSRAM.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most
from n6build.compile.artifacts.c_info_pools import EpochCosts, read_costs
from n6build.compile.artifacts.description import ON_CPU, OWN_TOOL, EpochBlock, EpochInfo, NetworkArtifacts
from n6build.compile.artifacts.network_c import MAX_BYTES, NetworkSource, parse_network_c
from n6build.describe.hardware.soc import Soc
from n6build.judge.npu.blobs import blobs_of_network
from n6build.judge.npu.moved import Moved, Moves, moves_of
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import EpochSettings, epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source

Where = Literal["NPU", "CPU", "both"]
Starter = Literal["CPU", "controller"]
_WHERE: dict[str, Where] = {ON_CPU: "CPU", "NODE_SW_HW": "both"}
_FLASH, _PSRAM = "XSPI2_WINDOW", "XSPI1_WINDOW"


@dataclass(frozen=True)
class EpochWork:
    """The work of an epoch.

    Attributes:
        number: ST's number of the epoch.
        kind: Its operators.
        on: NPU, CPU or both.
        elements: Elements of its widest stream, or on the CPU of its largest tensor; None if
            unknown.
        macs: MACs, 0 if unknown.
        flash: Bytes that it reads from the flash at least, and at most if the NPU's cache answers
            no repeated read.
        psram: Bytes that it moves in PSRAM.
        starts: Starter of the epoch; None for an epoch that follows another in its blob.
        own: It is a kernel of this project.
        made: Elements of its largest output; 0 if unknown.
    """

    number: int
    kind: str
    on: Where
    elements: int | None
    macs: int
    flash: tuple[int, int]
    psram: int
    starts: Starter | None
    own: bool = False
    made: int = 0


@dataclass(frozen=True)
class NetworkWork:
    """The work of a network.

    Attributes:
        epochs: Epochs in the order in which they run.
        problem: Reason why their data movement is unknown, empty if it is known.
        estimate_cycles: Cycles that ST's compiler expects for the network; 0 if it gives none.
        weights: Bytes in flash.
    """

    epochs: tuple[EpochWork, ...]
    problem: str
    estimate_cycles: int
    weights: int


def work_of(artifacts: NetworkArtifacts, soc: Soc) -> NetworkWork:
    """Return the work of a network.

    Unknown facts are no error.

    Raises:
        N6Error: N6-FILE-00x and N6-NETC-00x for a damaged network.c.
    """
    costs, damage = _costs(artifacts)
    source = _source(artifacts)
    moves, problem = _moves(artifacts, source, soc) if artifacts.uses_npu else ({}, "")
    problem = problem or damage
    places = _Places(soc, artifacts)
    own = any(name == OWN_TOOL for name, _ in artifacts.tools)
    # A blob also has labels for epochs without work.
    run = [each for each in artifacts.epochs if not (moves and each.mapping == "NODE_EC" and each.index not in moves)]
    run.sort(key=lambda each: each.index)
    started = _started(artifacts.blocks, [each.index for each in run])
    sizes = _sizes(source)
    epochs = tuple(
        _work(each, moves.get(each.index), costs.get(each.index), sizes.get(each.index, 0), places, started, own=own)
        for each in run
    )
    if not problem and any(each.on == "NPU" and each.elements is None for each in epochs):
        told = "its blobs do not" if artifacts.is_linked else "c_info, blobs and network.c do not"
        problem = f"{told} describe the data transfers of all epochs"
    weights = sum(
        pool.weights_bytes for pool in artifacts.pools if places.of_pool(pool.name) == "flash" and pool.weights_bytes
    )
    return NetworkWork(epochs, problem, sum(each.total_cycles for each in costs.values()), weights)


def _source(artifacts: NetworkArtifacts) -> tuple[str, NetworkSource] | None:
    """Return network.c as text and parsed, None for a network that is linked already."""
    if artifacts.is_linked:
        return None
    text = read_at_most(artifacts.source, MAX_BYTES).decode("utf-8", "replace")
    return text, parse_network_c(text, artifacts.source.name)


def _sizes(source: tuple[str, NetworkSource] | None) -> dict[int, int]:
    """Return the elements of the largest tensor that each epoch makes.

    Only tensors that network.c lists count.
    """
    sizes: dict[int, int] = {}
    if source is None:
        return sizes
    for buffer in (*source[1].internals, *source[1].outputs):
        elements = min(math.prod(buffer.shape), buffer.offset_end - buffer.offset_start)
        sizes[buffer.epoch] = max(sizes.get(buffer.epoch, 0), elements)
    return sizes


class _Places:
    """The memory of an address or a pool."""

    def __init__(self, soc: Soc, artifacts: NetworkArtifacts) -> None:
        self._windows = {"flash": soc.memories[_FLASH], "psram": soc.memories[_PSRAM]}
        self._pools = {
            # A relative pool that is only read holds a model's weights in flash.
            pool.name: ("flash" if pool.rights == "ACC_READ" else "chip") if pool.relative else self.of(pool.address)
            for pool in artifacts.pools
        }
        self._files = {pool.fname: self._pools[pool.name] for pool in artifacts.pools}

    def of_engine(self, moved: Moved) -> str:
        """Return the place of an engine's data, '' if unknown.

        Data at an offset is in the pool of that name, or in a buffer of the application.
        """
        return self._files.get(moved.base, "") if moved.base else self.of(moved.address)

    def of(self, address: int | None) -> str:
        """Return 'flash', 'psram', 'chip', or '' if unknown."""
        if address is None:
            return ""
        found = (name for name, each in self._windows.items() if each.base <= address < each.base + each.size)
        return next(found, "chip")

    def of_pool(self, name: str) -> str:
        """Return the place of a pool; one that joins others is in the chip."""
        return self._pools.get(name, "chip")

    def bytes_in(self, place: str, by_pool: Mapping[str, int]) -> int:
        """Return the bytes in a place, from counts by pool."""
        return sum(count for name, count in by_pool.items() if self.of_pool(name) == place)


def _costs(artifacts: NetworkArtifacts) -> tuple[dict[int, EpochCosts], str]:
    """Return costs by number of the epoch, and why a c_info gives none."""
    path = artifacts.source.with_name(f"{artifacts.name}_c_info.json")
    try:
        return (read_costs(path) if is_file(path) else {}), ""
    except N6Error as error:
        return {}, f"{error.where}: {error.what}"


def _moves(
    artifacts: NetworkArtifacts, source: tuple[str, NetworkSource] | None, soc: Soc
) -> tuple[dict[int, Moves], str]:
    """Return data movement by number of the epoch, and why there is none."""
    names = names_of(soc.npu)
    try:
        blobs = blobs_of_network(artifacts.source, source[1].ecblobs_header if source else None)
        if blobs:
            return _by_number(epoch for blob in blobs for epoch in epochs_of_blob(blob, names)), ""
        return _by_number(epochs_of_source(source[0] if source else "", names)), ""
    except N6Error as error:
        # The network may well run; only the time of its epochs is unknown then.
        return {}, f"{error.where}: {error.what}"


def _by_number(epochs: Iterable[EpochSettings]) -> dict[int, Moves]:
    return {epoch.number: moves_of(epoch) for epoch in epochs}


def _started(blocks: Iterable[EpochBlock], numbers: Sequence[int]) -> dict[int, Starter | None]:
    """Return the starter of each epoch, None behind the first one of a blob.

    Args:
        blocks: Blocks of epochs.
        numbers: Numbers of epochs that run, sorted.
    """
    found: dict[int, Starter | None] = {}
    for block in blocks:
        inside = numbers[bisect_left(numbers, block.first) : bisect_right(numbers, block.last)]
        for index, number in enumerate(inside):
            starter: Starter = "controller" if block.mapping == "NODE_EC" else "CPU"
            found.setdefault(number, None if index else starter)
    return found


def _work(
    epoch: EpochInfo,
    moves: Moves | None,
    costs: EpochCosts | None,
    size: int,
    places: _Places,
    started: Mapping[int, Starter | None],
    *,
    own: bool,
) -> EpochWork:
    on = _WHERE.get(epoch.mapping, "NPU")
    costs = costs or EpochCosts()
    if on == "CPU":
        weights = places.bytes_in("flash", costs.weights)
        psram = places.bytes_in("psram", costs.reads) + places.bytes_in("psram", costs.writes)
        elements = costs.elements or size or None
        return EpochWork(
            epoch.index, epoch.kind, on, elements, epoch.macs, (weights, weights), psram, None, own, costs.made
        )
    elements, flash, psram = _by_moves(moves, places) if moves else (0, (0, 0), 0)
    if not moves and (costs.reads or costs.writes):
        read = places.bytes_in("flash", costs.reads)
        once = min(read, places.bytes_in("flash", costs.weights) or read)
        flash = (once, read)
        psram = places.bytes_in("psram", costs.reads) + places.bytes_in("psram", costs.writes)
        # A copy computes nothing, and moves each byte in and out.
        elements = 0 if costs.compute_cycles else max((*costs.reads.values(), *costs.writes.values()))
    elements = max(elements, costs.compute_cycles)
    return EpochWork(
        epoch.index,
        epoch.kind,
        on,
        elements or None,
        epoch.macs,
        flash,
        psram,
        started.get(epoch.index, "CPU"),
    )


def _by_moves(moves: Moves, places: _Places) -> tuple[int, tuple[int, int], int]:
    read = [each for each in moves.engines if places.of_engine(each) == "flash" and not each.writes]
    external = sum(each.bytes for each in moves.engines if places.of_engine(each) == "psram")
    return moves.widest, (sum(each.distinct for each in read), sum(each.bytes for each in read)), external
