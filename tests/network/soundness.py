"""Conditions that every static memory plan has to meet."""

from itertools import combinations
from pathlib import Path

from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.epochs import Buffer, Network
from n6build.compile.reference.liveness import ALIGNMENT
from n6build.compile.reference.lowering import lower
from n6build.compile.reference.placement import Placement
from n6build.compile.reference.tflite_reader import read_graph

from network.network_models import as_file


def assert_sound(plan: Placement, of: Network, pools: list[MemoryPool]) -> None:
    for name, found in plan.places.items():
        assert found.offset >= 0 and found.end <= found.pool.size, f"{name} is not inside its pool"
    for buffer in of.buffers:
        assert plan.places[buffer.name].offset % ALIGNMENT == 0 or buffer.inside
        assert plan.places[buffer.name].pool.rights == "ACC_WRITE"
    for a, b in combinations(of.buffers, 2):
        first, second = plan.places[a.name], plan.places[b.name]
        apart = first.address + first.bytes <= second.address or second.address + second.bytes <= first.address
        may_share = a.last < b.first or b.last < a.first or takes_place(of, a, b) or takes_place(of, b, a)
        assert apart or may_share, f"{a} and {b} share memory"
    weights = [plan.places[item.name] for item in of.initializers]
    for one, other in combinations(weights, 2):
        assert one.end <= other.offset or other.end <= one.offset
    for item in weights:
        assert item.end <= plan.initializer_bytes
        for buffer in of.buffers:
            place = plan.places[buffer.name]
            assert place.pool is not item.pool or item.end <= place.offset


def lowered(model: bytes, folder: Path) -> Network:
    """Return the network of a model before it is placed."""
    file = as_file(model, folder, "lowered.tflite")
    return lower(read_graph(file), file.name)


def takes_place(of: Network, before: Buffer, after: Buffer) -> bool:
    """Return whether `after` may have the place of `before`.

    Either `before` is not needed any more, or it is a part of `after`.
    """
    if before.last == after.first and root_of(before, of) == root_of(after, of):
        return True
    by_name = {each.name: each for each in of.buffers}
    whole = before
    while whole.inside and whole is not after:
        whole = by_name[whole.inside.name]
    return whole is after and before.first <= after.first


def root_of(buffer: Buffer, of: Network) -> str:
    by_name = {each.name: each for each in of.buffers}
    return root_of(by_name[buffer.inside.name], of) if buffer.inside else buffer.name
