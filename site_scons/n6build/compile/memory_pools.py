"""Memory pools for initializers and activations of a network.

The attributes are those of a memory pool descriptor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from n6build.base.errors import N6Error
from n6build.describe.hardware.soc import Level


@dataclass(frozen=True)
class MemoryPool:
    """A memory pool of the network compiler.

    Attributes:
        name: Name of the pool.
        fname: Postfix of the initializers' file and of the pool's symbol.
        address: Address in the secure alias, ignored by USEMODE_RELATIVE, whose base is the symbol
            _mem_pool_<fname>_<network>.
        size: Bytes; 0 declares a pool that is not used.
        rights: Access of the NPU.
        mode: Kind of address.
        cacheable: The NPU's cache serves the pool.
        use_for_initializers: The pool may hold weights.
        throughput: Level of throughput.
        latency: Level of latency.
        byte_width: Width of the bus in bytes.
        freq_ratio: NPU clock / memory clock.
        read_power: mW, for reports only.
        write_power: mW, for reports only.
    """

    name: str
    fname: str
    address: int
    size: int
    rights: Literal["ACC_WRITE", "ACC_READ"]
    mode: Literal["USEMODE_ABSOLUTE", "USEMODE_RELATIVE"] = "USEMODE_ABSOLUTE"
    cacheable: bool = False
    use_for_initializers: bool = False
    throughput: Level = "MID"
    latency: Level = "MID"
    byte_width: int = 8
    freq_ratio: float = 1.0
    read_power: float = 0.0
    write_power: float = 0.0

    @property
    def end(self) -> int:
        """Return the address after the last byte."""
        return self.address + self.size


@dataclass(frozen=True)
class RoomierProfile:
    """A profile of the board with more RAM for activations.

    Attributes:
        name: Name of the profile.
        external: Its pools outside the chip.
        slower: Ratio of the time for a byte there to that in the chip, 0 without such pools.
    """

    name: str
    external: tuple[str, ...] = ()
    slower: float = 0.0


def slower(pool: MemoryPool, than: Sequence[MemoryPool]) -> float:
    """Return how much longer a byte takes in this pool than in the fastest other.

    The ratio follows from the width of the buses and their clocks; it is 1 if there are no other
    pools.
    """
    fastest = min((each.freq_ratio / each.byte_width for each in than), default=pool.freq_ratio / pool.byte_width)
    return pool.freq_ratio / pool.byte_width / fastest


def initializer_pools(pools: Sequence[MemoryPool]) -> tuple[MemoryPool, ...]:
    """Return the pools that get a file network_atonbuf.<fname>.raw.

    They are known before a model is read. All weights go to one pool: the first that may hold
    initializers, read-only pools before others.

    Raises:
        N6Error: N6-NET-010 if no pool may hold them.
    """
    usable = [pool for pool in pools if pool.use_for_initializers and pool.size > 0]
    ordered = sorted(usable, key=lambda pool: pool.rights != "ACC_READ")
    if not ordered:
        raise N6Error(
            "N6-NET-010", "no memory pool may hold initializers", hint="mark one pool of the profile for the weights"
        )
    return (ordered[0],)


def activation_pools(pools: Sequence[MemoryPool]) -> tuple[MemoryPool, ...]:
    """Return the pools that activations may go to, in order of preference."""
    return tuple(pool for pool in pools if pool.rights == "ACC_WRITE" and pool.size > 0)


def check_pools(pools: Sequence[MemoryPool], alignment: int) -> None:
    """Check names, bases and overlaps of pools.

    Args:
        pools: The pools.
        alignment: Alignment of bases, in bytes.

    Raises:
        N6Error: N6-NET-011 for names that are not C identifiers or not unique, misaligned bases and
            pools that overlap.
    """
    for pool in pools:
        for text in (pool.name, pool.fname):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
                raise N6Error(
                    "N6-NET-011", f"'{text}' is not a valid name for a memory pool: letters, digits and _ only"
                )
        if pool.address % alignment or pool.size < 0 or (pool.end > 1 << 32):
            raise N6Error(
                "N6-NET-011",
                f"memory pool {pool.name} (0x{pool.address:08X}, {pool.size} bytes) must begin at a multiple of "
                f"{alignment} and end within 32 bits",
            )
    for a, b in combinations([pool for pool in pools if pool.size > 0], 2):
        if a.name == b.name or a.fname == b.fname:
            raise N6Error("N6-NET-011", f"two memory pools are called {a.name}/{a.fname} and {b.name}/{b.fname}")
        absolute = a.mode == b.mode == "USEMODE_ABSOLUTE"
        if absolute and a.address < b.end and b.address < a.end:
            raise N6Error(
                "N6-NET-011", f"memory pools {a.name} and {b.name} overlap at 0x{max(a.address, b.address):08X}"
            )
