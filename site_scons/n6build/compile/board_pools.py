"""The memory pools that a profile gives the network compiler on one board.

Their bounds follow from the board's memories, flash slots and regions of external RAM. The board or
a model may change the size of a pool; the pools behind it then move, and a pool that no longer fits
is an error that names the missing bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from n6build.base.console import kib
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.same_fields import with_fields_of
from n6build.base.span import Span
from n6build.compile.memory_pools import MemoryPool, RoomierProfile, activation_pools, slower
from n6build.describe.hardware.aliases import non_secure_alias
from n6build.describe.hardware.board import Board, ExternalPool
from n6build.describe.hardware.soc import InternalPool


def pools_of(board: Board, profile_name: str, sizes: Mapping[str, int] | None = None) -> tuple[MemoryPool, ...]:
    """Return a profile's pools: those for activations in order of preference.

    The pool for initializers is marked.

    Args:
        board: The board.
        profile_name: Profile of memory pools.
        sizes: Sizes of pools in bytes, instead of those of the board; 0 omits a pool.

    Raises:
        N6Error: N6-BOARD-009 and N6-BOARD-010 for the profile; N6-POOL-001 (no such pool);
            N6-POOL-002 (larger than its memory); N6-POOL-003 (a region beyond its limit);
            N6-POOL-004 (regions beyond the external RAM).
    """
    profile = board.profile(profile_name)
    wanted = {**board.pool_sizes, **(sizes or {})}
    _check_names(board, wanted)
    spans = _spans(board, wanted)
    names = [*profile.activations, *([] if profile.weights in profile.activations else [profile.weights])]
    pools = [_pool(board, name, spans[name], for_initializers=name == profile.weights) for name in names]
    return tuple(pool for pool in pools if pool.size)


def external_regions(board: Board, sizes: Mapping[str, int] | None = None) -> dict[str, Span]:
    """Return the regions of the external RAM, laid out for pools of these sizes.

    Args:
        board: The board.
        sizes: Sizes of pools in bytes, instead of those of the board.

    Raises:
        N6Error: N6-POOL-003, N6-POOL-004.
    """
    ram = board.external_ram
    if ram is None:
        return {}
    wanted = {**board.pool_sizes, **(sizes or {})}
    start = board.soc.memories[ram.memory].base
    spans = {}
    for name, region in ram.regions.items():
        needs = {pool: wanted.get(pool, each.size or 0) for pool, each in board.pools.items() if each.region == name}
        size = max(region.size, *needs.values(), 0) if needs else region.size
        if region.limit is not None and size > region.limit:
            largest = max(needs, key=lambda pool: needs[pool])
            what = (
                f"pool {largest} needs {kib(size)} of region '{name}', {kib(size - region.limit)} more than its limit"
            )
            raise N6Error(
                "N6-POOL-003", what, where=_key(board, "external_ram"), hint=f"reduce it to {kib(region.limit)} at most"
            )
        spans[name] = Span(start, size)
        start += size
    over = start - board.soc.memories[ram.memory].base - ram.size
    if over > 0:
        parts = ", ".join(f"{name} {kib(span.size)}" for name, span in spans.items())
        what = f"the regions of the external RAM ({parts}) need {kib(over)} more than its {kib(ram.size)}"
        raise N6Error("N6-POOL-004", what, where=_key(board, "external_ram"), hint="make a region or a pool smaller")
    return spans


def relocatable(pools: Sequence[MemoryPool]) -> tuple[MemoryPool, ...]:
    """Return the pools for a network that is installed at run time.

    Its loader decides where external pools are.
    """
    return tuple(replace(pool, mode="USEMODE_RELATIVE") if pool.cacheable else pool for pool in pools)


def pools_of_networks(
    board: Board, profile_name: str, sizes: Sequence[Mapping[str, int]]
) -> list[tuple[MemoryPool, ...]]:
    """Return the pools of each network of one application.

    Every network has its own part of the pool for initializers. Activations of one network may
    share memory with those of another, since one runs after the other; initializers stay. Parts do
    not depend on the content of the models: new weights of one leave the others unchanged.

    Args:
        board: The board.
        profile_name: Profile of memory pools.
        sizes: Sizes for each model, as in `pools_of`; for the pool of initializers it is the size
            of the model's part, and models without one share the rest equally.

    Raises:
        N6Error: N6-POOL-00x; N6-POOL-005 if the parts need more than the pool has.
    """
    if len(sizes) == 1:
        return [pools_of(board, profile_name, sizes[0])]
    weights = board.profile(profile_name).weights
    others = [{name: size for name, size in each.items() if name != weights} for each in sizes]
    of_networks = [pools_of(board, profile_name, each) for each in others]
    whole = next(pool for pool in of_networks[0] if pool.name == weights)
    alignment = board.nor.sector if whole.rights == "ACC_READ" else board.soc.cache_line
    parts = _divide(whole, [each.get(weights) for each in sizes], alignment)
    return [
        tuple(part if pool.name == weights else pool for pool in pools)
        for pools, part in zip(of_networks, parts, strict=True)
    ]


def roomier_profiles(board: Board, profile_name: str) -> tuple[RoomierProfile, ...]:
    """Return profiles of the board with more RAM for activations, the largest last.

    Raises:
        N6Error: As `pools_of`.
    """
    rooms = {name: _room(board, name) for name in board.profiles()}
    own = rooms[profile_name]
    names = sorted((name for name in rooms if rooms[name] > own), key=lambda name: rooms[name])
    return tuple(_with_cost(board, name) for name in names)


def _with_cost(board: Board, profile_name: str) -> RoomierProfile:
    pools = activation_pools(pools_of(board, profile_name))
    external = [pool for pool in pools if pool.cacheable]
    inside = [pool for pool in pools if not pool.cacheable]
    cost = max((slower(pool, inside) for pool in external), default=0.0)
    return RoomierProfile(profile_name, tuple(pool.name for pool in external), cost)


def _room(board: Board, profile_name: str) -> tuple[int, bool]:
    """Return the bytes for activations, and whether the weights are elsewhere."""
    profile = board.profile(profile_name)
    pools = pools_of(board, profile_name)
    room = sum(pool.size for pool in pools if pool.name in profile.activations)
    return room, profile.weights not in profile.activations


def _divide(whole: MemoryPool, wanted: Sequence[int | None], alignment: int) -> list[MemoryPool]:
    """Return consecutive parts of a pool that begin at multiples of `alignment` bytes."""
    fixed = [size and -(-size // alignment) * alignment for size in wanted]
    rest = whole.size - sum(size or 0 for size in fixed)
    unfixed = fixed.count(None)
    if rest < 0 or (unfixed and rest // unfixed < alignment):
        what = f"the parts of memory pool {whole.name} need {kib(max(-rest, 1))} more than the {kib(whole.size)} it has"
        raise N6Error("N6-POOL-005", what, hint="make network.pools of a model smaller")
    parts = []
    address = whole.address
    for size in fixed:
        part = rest // unfixed // alignment * alignment if size is None else size
        parts.append(replace(whole, address=address, size=part))
        address += part
    return parts


def _key(board: Board, key: str) -> str:
    return f"boards/{board.name}/board.yaml: {key}"


def _check_names(board: Board, sizes: Mapping[str, int]) -> None:
    known = {*board.soc.pools, *board.pools}
    for name in sizes:
        if name not in known:
            raise N6Error("N6-POOL-001", f"{board.title} has no memory pool '{name}'", hint=did_you_mean(name, known))


def _spans(board: Board, sizes: Mapping[str, int]) -> dict[str, Span]:
    """Return the address range of each pool of the board."""
    regions = external_regions(board, sizes)
    spans = {}
    for name, internal in board.soc.pools.items():
        memory = board.soc.memories[internal.memory]
        base = memory.base if board.alias == "secure" else non_secure_alias(memory.base)
        spans[name] = _resized(name, Span(base, memory.size), sizes.get(name), internal.memory)
    for name, external in board.pools.items():
        if external.slot is not None:
            slot = dict(board.slots.items())[external.slot]
            whole = Span(slot.address, slot.size)
        else:
            assert external.region is not None
            whole = regions[external.region]
        spans[name] = _resized(name, whole, sizes.get(name, external.size), external.slot or external.region or "")
    return spans


def _resized(name: str, whole: Span, size: int | None, memory: str) -> Span:
    if size is None:
        return whole
    if size > whole.size:
        what = f"memory pool {name} is set to {kib(size)}, {kib(size - whole.size)} more than {memory} has"
        raise N6Error("N6-POOL-002", what, hint=f"set {kib(whole.size)} at most")
    return Span(whole.address, size)


def _pool(board: Board, name: str, span: Span, *, for_initializers: bool) -> MemoryPool:
    described: InternalPool | ExternalPool = board.soc.pools[name] if name in board.soc.pools else board.pools[name]
    return with_fields_of(
        MemoryPool,
        described,
        name=name,
        address=span.address,
        size=span.size,
        rights="ACC_READ" if isinstance(described, ExternalPool) and described.slot else "ACC_WRITE",
        # The NPU's cache serves external memory only.
        cacheable=isinstance(described, ExternalPool),
        use_for_initializers=for_initializers,
    )
