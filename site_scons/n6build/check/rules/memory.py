"""Checks of memory: pools, regions beside them, and setup before a network runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.base.console import kib
from n6build.base.findings import Finding
from n6build.check.check import check
from n6build.check.checked_board import CheckedBoard
from n6build.check.subject import NetworkSubject, Subject
from n6build.compile.artifacts.description import NetworkArtifacts, PoolRange
from n6build.describe.hardware.aliases import is_secure_alias, secure_alias
from n6build.place.memory_plan.plan import PlannedRegion

# For networks that were compiled elsewhere, this check also runs before anything is compiled.
LACKED_MEMORY = "N6-CHECK-002"
# The printed size of the last of several adjacent pools may be too small by this number of bytes.
_SIZE_TOLERANCE = 8
_INTERNAL = (0x2000_0000, 0x4000_0000)


def _used(subject: Subject) -> list[tuple[NetworkSubject, PoolRange]]:
    """Return the pools at a fixed address that are in use."""
    return [(network, pool) for network, pool in _pools(subject) if pool.used_bytes and not pool.relative]


def _pools(subject: Subject) -> list[tuple[NetworkSubject, PoolRange]]:
    return [(network, pool) for network in subject.networks for pool in network.artifacts.pools]


def _internal(subject: Subject) -> list[PoolRange]:
    return [pool for _, pool in _used(subject) if _is_internal(pool)]


def _beside_the_chip(subject: Subject) -> list[object]:
    """Return external RAM, and pools whose place is found when a model is installed."""
    relative = [pool for _, pool in _pools(subject) if pool.relative and pool.used_bytes and pool.rights != "ACC_READ"]
    return [*relative, *([subject.board.external_ram] if subject.board.external_ram else [])]


def _heaps(subject: Subject) -> list[PlannedRegion]:
    return [region for region in subject.plan.external_regions if region.name == "heap"]


def _pools_of_the_board(subject: Subject) -> list[tuple[NetworkSubject, PoolRange]]:
    nor = subject.board.nor
    return [
        (network, pool)
        for network, pool in _used(subject)
        if any(each.fname == pool.fname for each in network.pools) and not nor.address <= pool.address < nor.end
    ]


def _pools_in_our_alias(subject: Subject) -> list[PoolRange]:
    """Return the internal pools, none for a non-secure application.

    Secure code reaches RAM in both aliases.
    """
    return [] if subject.plan.models and subject.board.alias == "non-secure" else _internal(subject)


@dataclass(frozen=True)
class _Kept:
    """Bytes [start, end) in RAM that keep data from one inference to the next."""

    network: NetworkSubject
    where: str
    what: str
    start: int
    end: int


def _kept_beside_another_network(subject: Subject) -> list[_Kept]:
    if len(subject.networks) < 2:
        return []
    weights = [
        _Kept(network, _at(network, pool), "weights", pool.address, pool.address + pool.weights_bytes)
        for network, pool in _used(subject)
        if pool.weights_bytes
    ]
    states = [
        _Kept(network, f"{network.model.name}: {state.name}", "state", state.address, state.address + state.bytes)
        for network in subject.networks
        for state in network.artifacts.states
        if state.address is not None
    ]
    return [*weights, *states]


def _at(network: NetworkSubject, pool: PoolRange) -> str:
    return _place(network.model.name, pool)


def _place(model: str, pool: PoolRange) -> str:
    return f"{model}: pool {pool.name} (0x{pool.address:08X}..0x{pool.used_end:08X})"


def _is_internal(pool: PoolRange) -> bool:
    return _INTERNAL[0] <= pool.address < _INTERNAL[1]


@check("N6-CHECK-001", "every pool is large enough for its contents", "error", _used)
def pool_overflow(subject: Subject) -> Iterator[Finding]:
    """Report a pool in which more bytes are used than it has.

    The network compiler refuses that itself, unless a file was edited or mixed up.
    """
    for network, pool in _used(subject):
        missing = pool.used_bytes - pool.size - _SIZE_TOLERANCE
        if missing > 0:
            missing += _SIZE_TOLERANCE
            yield Finding(
                _at(network, pool),
                f"uses {pool.used_bytes} bytes, but has {pool.size}: {missing} bytes are missing",
                "enlarge the pool (network.pools in model.yaml), or choose a profile with more memory",
            )


@check("N6-CHECK-023", "the network was compiled for the board's pools", "error", _pools_of_the_board)
def not_the_boards_pools(subject: Subject) -> Iterator[Finding]:
    """Report a network that was compiled for other pools than the board gives it.

    It was compiled elsewhere, or before the board was changed. Weights in the NOR are programmed to
    the address that the network has for them; the flash manifest finds overlaps there.
    """
    for network, pool in _pools_of_the_board(subject):
        given = next(each for each in network.pools if each.fname == pool.fname)
        if given.address != pool.address:
            what = f"begins at 0x{pool.address:08X}, but the board has this pool at 0x{given.address:08X}"
        elif pool.used_bytes > given.size + _SIZE_TOLERANCE:
            what = f"uses {pool.used_bytes} bytes, {pool.used_bytes - given.size} more than this pool has on the board"
        else:
            continue
        hint = "compile the network with the pools of this board: run tools/pools.py board BOARD PROFILE to write them"
        yield Finding(_at(network, pool), what, hint)


@check(LACKED_MEMORY, "weights and activations are in memories of the board", "error", _used)
def memory_the_board_lacks(subject: Subject) -> Iterator[Finding]:
    """Report a pool in use that is not inside one memory, the NOR or the external RAM."""
    for network in subject.networks:
        yield from lacked_memory(subject.board, network.model.name, network.artifacts)


def lacked_memory(
    board: CheckedBoard, model: str, artifacts: NetworkArtifacts, others: Sequence[str] = ()
) -> Iterator[Finding]:
    """Yield the pools in use that are in no single memory of a board.

    Args:
        board: The board.
        model: Name of the model, for messages.
        artifacts: Its network.
        others: Boards that have all the memory.
    """
    spans = [*board.memories.values(), board.nor, *([board.external_ram] if board.external_ram else [])]
    for pool in artifacts.pools:
        if not pool.used_bytes or pool.relative:
            continue
        address = secure_alias(pool.address) if _is_internal(pool) else pool.address
        if not any(span.address <= address and address + pool.used_bytes <= span.end for span in spans):
            holds = "weights" if pool.weights_bytes else "activations"
            hint = (
                f"compile the network for this board: run tools/pools.py board {board.name} PROFILE to write its pools "
            )
            hint += f"(profiles: {', '.join(board.profiles)})"
            if others:
                hint = f"choose {' or '.join(f'board={other}' for other in others)}, which has this memory; or {hint}"
            what = f"{kib(pool.used_bytes)} of {holds} are outside the memories of {board.name}"
            yield Finding(_place(model, pool), what, hint)


@check("N6-CHECK-003", "activations stay inside the chip", "warning", _beside_the_chip)
def spilled_activations(subject: Subject) -> Iterator[Finding]:
    """Report activations in external RAM, where the NPU waits for every access."""
    external = subject.board.external_ram
    for network in subject.networks:
        used = [pool for pool in network.artifacts.pools if pool.rights == "ACC_WRITE"]
        total = sum(pool.used_bytes - pool.weights_bytes for pool in used)
        for pool in used:
            activations = pool.used_bytes - pool.weights_bytes
            outside = pool.relative or (external and external.address <= pool.address < external.end)
            if activations > 0 and outside:
                yield Finding(
                    f"{network.model.name}: pool {pool.name}",
                    f"{kib(activations)} of activations, {activations / total:.0%} of all, are in external RAM, "
                    f"about 5 to 20 times slower: the NPU waits for every access",
                    "reduce the input or the channels until the network fits into the AXISRAMs",
                )


@check("N6-CHECK-021", "the external RAM is mapped before it is used", "error", _beside_the_chip)
def unmapped_external_ram(subject: Subject) -> Iterator[Finding]:
    """Report pools in external RAM that nothing maps.

    The first access to a window that is not memory-mapped faults. The Appli maps a PSRAM that the
    board describes.
    """
    if subject.board.maps_external_ram:
        return
    external = subject.board.external_ram
    for network, pool in _pools(subject):
        installed = pool.relative and pool.rights != "ACC_READ" and bool(subject.plan.models)
        linked = not pool.relative and external is not None and external.address <= pool.address < external.end
        if pool.used_bytes and (installed or linked):
            yield Finding(
                f"{network.model.name}: pool {pool.name}",
                "the Appli does not map the external RAM: board.yaml does not describe the part at XSPI1",
                "use profile extflash, describe the part (external_ram.psram in board.yaml), or waive this check if "
                "your own firmware maps it",
            )


@check("N6-CHECK-005", "pools do not overlap the RAM of the Appli", "error", _used)
def linker_regions(subject: Subject) -> Iterator[Finding]:
    """Report pools that overlap the Appli's RAM.

    The FSBL's RAM is free again when the Appli runs.
    """
    appli = next(region for region in subject.plan.linker_regions if region.name == "Appli")
    for network, pool in _used(subject):
        address = secure_alias(pool.address) if _is_internal(pool) else pool.address
        overlap = min(address + pool.used_bytes, appli.address + appli.size) - max(address, appli.address)
        if overlap > 0:
            yield Finding(
                _at(network, pool),
                f"overlaps the RAM of the Appli (0x{appli.address:08X}..0x{appli.address + appli.size:08X}) by {overlap} bytes",
                "omit the pool: set its size to 0 in network.pools of model.yaml",
            )


@check(
    "N6-CHECK-006",
    "pools do not overlap framebuffer, heap and other regions",
    "error",
    lambda subject: subject.plan.external_regions,
)
def external_regions(subject: Subject) -> Iterator[Finding]:
    """Report pools that reach into another region of the external RAM.

    A pool may fill its own region.
    """
    own = subject.board.regions
    for network, pool in _used(subject):
        for region in subject.plan.external_regions:
            end = region.address + region.size
            overlap = min(pool.used_end, end) - max(pool.address, region.address)
            if overlap > 0 and own.get(pool.fname) != region.name:
                yield Finding(
                    _at(network, pool),
                    f"overlaps region '{region.name}' of the external RAM (0x{region.address:08X}..0x{end:08X}) by "
                    f"{overlap} bytes",
                    "compile the network with the pools of this board, or make the region smaller in board.yaml",
                )


@check("N6-CHECK-015", "float copies of the outputs fit into the heap", "warning", _heaps)
def float_copies(subject: Subject) -> Iterator[Finding]:
    """Report outputs whose copies as float do not fit into the heap.

    An application without a post-processor turns quantised outputs into float: 4 bytes a value, on
    the heap.
    """
    (heap,) = _heaps(subject)
    in_heap = {fname for fname, region in subject.board.regions.items() if region == "heap"}
    for network in subject.networks:
        activations = sum(pool.used_bytes for pool in network.artifacts.pools if pool.fname in in_heap)
        copies = sum(
            4 * (output.bytes // (2 if "16" in output.type else 1))
            for output in network.artifacts.outputs
            if output.type in ("int8", "uint8", "int16", "uint16")
        )
        if activations + copies > heap.size:
            yield Finding(
                f"{network.model.name}: heap",
                f"{kib(activations)} of activations and {kib(copies)} for outputs as float need "
                f"{kib(activations + copies - heap.size)} more than the heap's {kib(heap.size)}",
                "read the raw outputs in a post-processor, which needs no float copies",
            )


@check(
    "N6-CHECK-022",
    "no network overwrites data that another network keeps in RAM",
    "error",
    _kept_beside_another_network,
)
def kept_overwritten(subject: Subject) -> Iterator[Finding]:
    """Report weights and states that another network overwrites.

    They stay from one inference to the next, so another network must not have its activations
    there.
    """
    for kept in _kept_beside_another_network(subject):
        for other, used in _used(subject):
            overlap = min(kept.end, used.used_end) - max(kept.start, used.address)
            if other is not kept.network and overlap > 0:
                yield Finding(
                    kept.where,
                    f"{overlap} bytes of its {kept.what} lie where {other.model.name} has pool {used.name}",
                    "compile both networks for one application (model=a,b), which divides the pool of weights"
                    if kept.what == "weights"
                    else "give one of them other pools (network.pools in model.yaml), or initialise it again after the other "
                    "and waive this check",
                )


@check("N6-CHECK-010", "all pools are in the alias of the firmware", "error", _pools_in_our_alias)
def mixed_aliases(subject: Subject) -> Iterator[Finding]:
    """Report internal pools at a non-secure address while FSBL and Appli run secure."""
    for network, pool in _used(subject):
        if _is_internal(pool) and not is_secure_alias(pool.address):
            yield Finding(
                _at(network, pool),
                "is in the non-secure alias, but FSBL and Appli run secure",
                f"compile the network with pools of the secure alias: 0x{secure_alias(pool.address):08X}",
            )


@check(
    "N6-CHECK-040",
    "relocatable models can also be loaded from a file",
    "warning",
    lambda subject: subject.installed if subject.board.file_heap else (),
)
def file_heap(subject: Subject) -> Iterator[Finding]:
    """Report small models that fail when a camera's firmware loads them from a file.

    The firmware reads such a file into RAM inside the chip, where the NPU's cache does not reach
    its weights.
    """
    heap = subject.board.file_heap
    assert heap is not None
    for installed in subject.installed:
        if installed.refused_in_heap:
            yield Finding(
                f"{installed.model}: as a file",
                f"the firmware reads a file of less than {kib(heap.size)} to 0x{heap.address:08X}: {installed.refused_in_heap}",
                "put the model into the read-only file system (romfs), where it needs no copy",
            )


@check("N6-CHECK-025", "relocatable models fit into the RAM of models", "error", lambda subject: subject.installed)
def models_ram(subject: Subject) -> Iterator[Finding]:
    """Report installed models that do not fit into the RAM of models.

    Code and data of every installed model have a part of the Appli's RAM, its relative pools one of
    the external RAM.
    """
    for installed in subject.installed:
        if installed.needed > installed.room:
            yield Finding(
                f"{installed.model}: executable RAM",
                f"{kib(installed.needed)} are needed with load={installed.load_mode}, {kib(installed.needed - installed.room)} "
                f"more than the {kib(installed.room)} of a model",
                "set load=xip, which leaves the code in flash; enlarge relocatable.executable_ram in boards/soc; or "
                "install fewer models",
            )
        # N6-CHECK-021 reports external RAM that nothing maps.
        if installed.external > installed.external_room > 0:
            yield Finding(
                f"{installed.model}: external RAM",
                f"{kib(installed.external)} are needed, {kib(installed.external - installed.external_room)} more "
                f"than the "
                f"{kib(installed.external_room)} of a model",
                "enlarge the region (external_ram.regions in board.yaml), install fewer models, or use a network "
                "with smaller relative pools",
            )
