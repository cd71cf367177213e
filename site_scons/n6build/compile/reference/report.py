"""network_generate_report.txt: the compiled network for people.

Its sections are those of the report of ST's tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.epochs import Network
from n6build.compile.reference.external_ram import external_uses
from n6build.compile.reference.placement import Placement
from n6build.compile.units import human_bytes

_RULE = "-" * 84
_END = "=" * 84
_ROUNDED_TO = 16


def report(
    network: Network,
    placement: Placement,
    pools: Sequence[MemoryPool],
    *,
    name: str,
    origin: str,
    tool: str,
    backend: str = "reference",
) -> str:
    """Return the text of network_generate_report.txt.

    Args:
        network: The compiled network.
        placement: Places of its buffers and initializers.
        pools: Memory pools of the profile.
        name: Name of the network.
        origin: Name of the model.
        tool: Name of the compiler with its version.
        backend: Name of the backend.
    """
    lines = [
        tool,
        f"Parameters            : generate --name {name} --target stm32n6, {backend} backend",
        "",
        f"Model name - {origin}",
        *_layers(network),
        "",
        "Compilation details",
        _RULE,
        f"Compiler version: {tool}",
        f"Static memory plan: {placement.peak:,} B of activations; no plan can do with less than {placement.bound:,} B",
        *_states(network),
        *(f"Pool {joined.pool.name} joins its parts: buffers lie across their borders" for joined in placement.joined),
        *(f"External RAM: {use.pool.name} {use}" for use in external_uses(network, placement, pools)),
        _END,
        "",
        "Memory usage information  (input/output buffers are included in activations)",
        _RULE,
        *_usage(placement, pools),
        _END,
        "",
        "Used memory ranges",
        _RULE,
        *_ranges(placement, pools),
        _END,
        "",
        "Epochs details",
        _RULE,
        f"Total number of epochs: {len(network.epochs)} of which {sum(bool(each.kernel) for each in network.epochs)} "
        "implemented in software",
        "---",
        "epoch ID   HW/SW/EC Operation (SW only)",
        *(
            f"epoch {epoch.index:<5}   -{'SW' if epoch.kernel else 'EC'}-   ({epoch.kind:^17})"
            for epoch in network.epochs
        ),
        _END,
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _states(network: Network) -> Iterator[str]:
    if network.states:
        kept = sum(state.tensor.bytes for state in network.states)
        yield f"State: {kept:,} B of them, in {len(network.states)} tensors, stay from one inference to the next"


def _layers(network: Network) -> Iterator[str]:
    widths = (6, 34, 26, 12, 13, 60)
    rule = " ".join("-" * width for width in widths)
    sizes = {item.name: len(item.data) for item in network.initializers}
    shapes = {buffer.name: buffer.tensor.shape for buffer in network.buffers if buffer.tensor}

    def row(*cells: str) -> str:
        aligned = (
            cell.rjust(width) if number in (3, 4) else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return " ".join(aligned)

    yield rule
    yield row("m_id", "layer", "oshape", "size", "macc", "connected to")
    yield rule
    for position, port in enumerate(network.inputs):
        yield row(str(position), port.buffer, _shape(port.tensor.shape), "", "", "")
    for epoch in network.epochs:
        yield row(
            ",".join(map(str, epoch.operators)),
            f"{epoch.node} ({epoch.kind})",
            _shape(shapes.get(epoch.output, ())),
            f"{sum(sizes[item] for item in epoch.initializers):,}" if epoch.initializers else "",
            f"{epoch.macs:,}" if epoch.macs else "",
            ", ".join(epoch.inputs),
        )
    yield rule
    macs = sum(epoch.macs for epoch in network.epochs)
    yield f"model: macc={macs:,} weights={sum(sizes.values()):,} activations=-- io=--"


def _shape(shape: Sequence[int]) -> str:
    names = {4: "bhwc", 3: "bhc", 2: "bc", 1: "c"}.get(len(shape))
    return f"[{','.join(f'{letter}:{size}' for letter, size in zip(names, shape, strict=True))}]" if names else "[]"


def _weights_in(placement: Placement, pool: MemoryPool) -> int:
    return placement.initializer_bytes if pool is placement.initializer_pool else 0


def _usage(placement: Placement, pools: Sequence[MemoryPool]) -> Iterator[str]:
    total = total_weights = 0
    for pool in pools:
        used, weights = placement.used_bytes(pool), _weights_in(placement, pool)
        total, total_weights = total + used, total_weights + weights
        yield (
            f"\t{pool.name:<10} [0x{pool.address:08X} - 0x{pool.end:08X}]: {_cell(used)} / {_cell(pool.size)}  "
            f"({_percent(used, pool)} used) -- weights: {_cell(weights)} ({_percent(weights, pool)} used)  "
            f"activations: {_cell(used - weights)} ({_percent(used - weights, pool)} used)"
        )
    yield "---"
    yield (
        f"Total:{'':<44}{_cell(total)} {'':<32} -- weights: {_cell(total_weights)} {'':<16} "
        f"activations: {_cell(total - total_weights)}"
    )


def _cell(count: int) -> str:
    return f"{human_bytes(count):>13}"


def _percent(count: int, pool: MemoryPool) -> str:
    return f"{100 * count / pool.size if pool.size else 0:6.2f} %"


def _ranges(placement: Placement, pools: Sequence[MemoryPool]) -> Iterator[str]:
    for pool in pools:
        used = placement.used_bytes(pool)
        if used:
            end = pool.address + -(-used // _ROUNDED_TO) * _ROUNDED_TO
            yield f"\t{pool.name:<10} [0x{pool.address:08X} - 0x{pool.end:08X}]: 0x{pool.address:08X}-0x{end:08X}"
