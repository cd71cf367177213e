"""Bounds of a network's buffers.

They follow from the constants of its epochs and the model's own arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error
from n6build.board.run.epoch_test import Bound, Watched
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.network_c import read_network_c
from n6build.describe.hardware.npu import Npu
from n6build.judge.compare.tensors import ReferenceTensor
from n6build.judge.npu.blobs import blobs_of_network
from n6build.judge.npu.contradiction import Contradiction
from n6build.judge.npu.names import Names, names_of
from n6build.judge.npu.rounding import Rounding, roundings_of
from n6build.judge.npu.settings import EpochSettings, epochs_of_blob
from n6build.judge.npu.sums import weights_of

if TYPE_CHECKING:
    from n6build.compile.reference.graph import Graph
    from n6build.judge.compare.unrounded import Unrounded


@dataclass(frozen=True)
class Bounds:
    """The bounds of a network.

    Attributes:
        roundings: Errors of the stream engines, by epoch.
        unrounded: Tensors before their last rounding, by name.
        contradictions: Constants that do not follow from the model.
    """

    roundings: Mapping[int, tuple[Rounding, ...]]
    unrounded: Mapping[str, Unrounded]
    contradictions: tuple[Contradiction, ...] = ()

    def of(self, watched: Watched) -> Bound | None:
        """Return the bound of a buffer, None for a network without blobs."""
        from n6build.judge.compare.epoch_bound import ExpectedError  # noqa: PLC0415 - planning compares nothing.

        buffer, tensor = watched.joined.buffer, watched.joined.tensor
        errors = [each for each in self.roundings.get(buffer.epoch, ()) if _is_in(each, watched)]
        if not errors:
            return Bound(None, None) if self.roundings else None
        expected, furthest, tilt = (
            max(getattr(each, field) for each in errors) for field in ("expected", "furthest", "tilt")
        )
        relative, features = (max(getattr(each, field) for each in errors) for field in ("relative", "features"))
        exact = self.unrounded.get(tensor.name)
        if features:
            if exact is None or not exact.most:
                # Several operators of the model are in between.
                return Bound(None, None)
            expected, furthest = expected + features**0.5 * exact.response, furthest + exact.most
        error = ExpectedError(expected, furthest, relative, tensor.zero_point, float("inf") if features else tilt)
        return Bound(error, exact.values if exact else None)


def _is_in(rounding: Rounding, watched: Watched) -> bool:
    address = watched.joined.buffer.address
    if rounding.address is None or address is None:
        # The application allocates this buffer: only one engine writes to such memory.
        return rounding.address is None and address is None
    return address <= rounding.address < address + watched.joined.buffer.bytes


def bounds_of(
    artifacts: NetworkArtifacts,
    reference: Path,
    tensors: Sequence[ReferenceTensor],
    watched: Sequence[Watched],
    npu: Npu,
) -> Bounds:
    """Return the bounds of a network.

    Args:
        artifacts: The network.
        reference: File of its model.
        tensors: Tensors of the reference interpreter.
        watched: Buffers that are compared and replaced.
        npu: The chip's NPU.

    Raises:
        N6Error: N6-NPU-00x for a damaged blob.
    """
    source = artifacts.source
    header = read_network_c(source).ecblobs_header if source.suffix == ".c" else None
    names = names_of(npu)
    epochs = [epoch for blob in blobs_of_network(source, header) for epoch in epochs_of_blob(blob, names)]
    roundings = watched_roundings(epochs, watched, names)
    graph = graph_of(reference) if epochs else None
    if graph is None:
        return Bounds(roundings, {})
    from n6build.judge.compare.unrounded import unrounded  # noqa: PLC0415 - planning compares nothing.
    from n6build.judge.npu.constants import contradictions  # noqa: PLC0415

    contradicted = contradictions(epochs, names, weights_of(artifacts), graph)
    return Bounds(roundings, unrounded(graph, tensors), tuple(contradicted))


def watched_roundings(
    epochs: Iterable[EpochSettings], watched: Sequence[Watched], names: Names
) -> Mapping[int, tuple[Rounding, ...]]:
    """Return the errors of the epochs' stream engines, by epoch.

    Args:
        epochs: Epochs of the network's blobs.
        watched: Buffers that are compared and replaced.
        names: Names of units and ports.
    """
    replaced: dict[int, list[tuple[int, int]]] = {}
    for each in watched:
        buffer = each.joined.buffer
        if buffer.address is not None:
            replaced.setdefault(buffer.epoch, []).append((buffer.address, buffer.bytes))
    return roundings_of(epochs, names, replaced)


def graph_of(reference: Path) -> Graph | None:
    """Return the graph of a .tflite file.

    The result is None for another file, and for one that cannot be read in full.
    """
    from n6build.compile.reference.tflite_reader import read_graph  # noqa: PLC0415 - planning compares nothing.

    try:
        return read_graph(reference) if reference.suffix == ".tflite" else None
    except N6Error:
        return None
