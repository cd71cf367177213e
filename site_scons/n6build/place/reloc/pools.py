"""Memory pools of a network as the pool table and the weights' file of a model.

All sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_in_chunks
from n6build.compile.artifacts.description import InitializerImage, NetworkArtifacts, PoolRange
from n6build.describe.hardware.aliases import is_secure_alias, non_secure_alias
from n6build.place.reloc.model_format import (
    CACHED,
    EXTERNAL_MEMORY,
    MAX_POOLS,
    READ,
    WRITE,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    up,
)

# A loader refuses params_offset 0, which a model without any weights would have, so a few bytes are always there.
_NO_WEIGHTS_BYTES = 8


@dataclass(frozen=True)
class ParamsPart:
    """A pool's part of the weights' file: the raw file, then zeros up to `bytes`.

    Attributes:
        file: raw file; None for zeros only.
        bytes: size of the part.
        raw_bytes: size of the raw file.
    """

    file: Path | None
    bytes: int
    raw_bytes: int = 0


@dataclass(frozen=True)
class PoolTable:
    """The memory pools of a model, and the layout of its weights' file.

    Attributes:
        params: parts of the weights' file, in their order.
        segments: segment of each relative pool, by fname.
        activation_bytes, weights_bytes, external_ram_bytes: sizes in the model's context.
    """

    pools: tuple[PoolDescriptor, ...]
    params: tuple[ParamsPart, ...]
    segments: dict[str, Segment]
    activation_bytes: int
    weights_bytes: int
    external_ram_bytes: int

    @property
    def params_bytes(self) -> int:
        """Bytes of the weights' file."""
        return sum(part.bytes for part in self.params)


def params_chunks(parts: Sequence[ParamsPart]) -> Iterator[bytes]:
    """Yield the content of the weights' file.

    Raises:
        N6Error: N6-FILE-002; N6-RELOC-007 if the size of a raw file differs from that in the network.
    """
    for part in parts:
        written = 0
        for chunk in read_in_chunks(part.file) if part.file else ():
            written += len(chunk)
            yield chunk
        if part.file and written != part.raw_bytes:
            what = f"has {written} bytes, but the network's weights there take {part.raw_bytes}"
            raise N6Error("N6-RELOC-007", what, where=part.file.name, hint="compile the network again")
        yield bytes(part.bytes - written)


def pool_table(artifacts: NetworkArtifacts, *, secure: bool, of_board: bool = False) -> PoolTable:
    """Return the pool table of a network.

    Args:
        artifacts: the compiled network.
        secure: whether the model is secure.
        of_board: whether the pools are those of a board, where a writable pool is RAM.

    Raises:
        N6Error: N6-RELOC-001, N6-RELOC-004, N6-RELOC-005 and N6-RELOC-006 if the network was not
            compiled for relocation; the hint names the change to make.
    """
    used = [pool for pool in artifacts.pools if pool.used_bytes]
    _check_pools(used, artifacts.described_by, secure=secure, of_board=of_board)
    raws = {image.fname: image for image in artifacts.initializers if image.bytes}
    pools: list[PoolDescriptor] = []
    params: list[ParamsPart] = []
    for pool in sorted(used, key=_order):
        descriptor = _descriptor(pool, sum(part.bytes for part in params))
        pools.append(descriptor)
        if descriptor.content is not PoolContent.ACTIV:
            params.append(_params_part(pool, raws.get(pool.fname)))
    return PoolTable(
        pools=tuple(pools),
        params=tuple(params) or (ParamsPart(None, _NO_WEIGHTS_BYTES),),
        segments={
            pool.fname: Segment.PARAM_0 if _is_weights(pool) else Segment.PARAM_1 for pool in used if pool.relative
        },
        activation_bytes=sum(pool.used_bytes - pool.weights_bytes for pool in used),
        weights_bytes=sum(pool.weights_bytes for pool in used),
        external_ram_bytes=sum(pool.used_bytes for pool in used if pool.relative and not _is_weights(pool)),
    )


def _check_pools(pools: Sequence[PoolRange], where: str, *, secure: bool, of_board: bool) -> None:
    """Check that a loader accepts each of these pools, and all of them together."""
    for pool in pools:
        _check_pool(pool, where, secure=secure)
        if not of_board:
            _check_written(pool, where)
    _check_segments(pools, where)
    if len(pools) > MAX_POOLS:
        what = f"uses {len(pools)} memory pools, but a loader accepts {MAX_POOLS}"
        raise N6Error("N6-RELOC-006", what, where=where, hint="use a profile with fewer memories")


def _params_part(pool: PoolRange, raw: InitializerImage | None) -> ParamsPart:
    """Return a pool's part of the weights' file.

    `raw` is None if the pool has no initializers.
    """
    if raw is None:
        return ParamsPart(None, up(pool.used_bytes))
    return ParamsPart(raw.file, up(max(pool.used_bytes, raw.bytes)), raw.bytes)


def _is_weights(pool: PoolRange) -> bool:
    return pool.rights == "ACC_READ"


def _order(pool: PoolRange) -> tuple[bool, int, str]:
    """Return a sort key for descending addresses, as in ST's models.

    The relative pools, which are external, come first.
    """
    return not pool.relative, -pool.address, pool.fname


def _descriptor(pool: PoolRange, foff: int) -> PoolDescriptor:
    """Return the descriptor of a pool. foff: offset of its part of the weights' file."""
    if not pool.weights_bytes:
        content = PoolContent.ACTIV
    elif _is_weights(pool):
        content = PoolContent.PARAM
    else:
        content = PoolContent.MIXED
    holds_weights = content is not PoolContent.ACTIV
    if pool.relative:
        kind, attributes = PoolType.RELOC, CACHED | (READ if _is_weights(pool) else WRITE)
    else:
        kind, attributes = PoolType.COPY if holds_weights else PoolType.RESET, READ if _is_weights(pool) else WRITE
    return PoolDescriptor(
        name=pool.fname,
        type=kind,
        content=content,
        attributes=attributes,
        id=0 if not pool.relative or _is_weights(pool) else 1,
        foff=foff if holds_weights else 0,
        destination=pool.address,
        size=pool.used_bytes,
    )


def _check_pool(pool: PoolRange, where: str, *, secure: bool) -> None:
    if not pool.relative and pool.address >= EXTERNAL_MEMORY:
        raise N6Error(
            "N6-RELOC-001",
            f"external memory pool {pool.name} is at the fixed address 0x{pool.address:08X}",
            where=where,
            hint=f'set "mode": "USEMODE_RELATIVE" for {pool.name} in the memory pool descriptor, and compile the '
            f"network again",
        )
    if not secure and not pool.relative and is_secure_alias(pool.address):
        raise N6Error(
            "N6-RELOC-004",
            f"memory pool {pool.name} is at 0x{pool.address:08X}, a secure address, but the model is non-secure",
            where=where,
            hint=f"use 0x{non_secure_alias(pool.address):08X} in the memory pool descriptor, or make the model secure",
        )


def _check_written(pool: PoolRange, where: str) -> None:
    """Check a third-party pool: flash with wrong rights would become external RAM."""
    if pool.relative and not _is_weights(pool) and pool.weights_bytes == pool.used_bytes:
        raise N6Error(
            "N6-RELOC-005",
            f"relative pool {pool.name} contains only initializers, but is writable",
            where=where,
            hint=f'set "rights": "ACC_READ" for {pool.name} in the memory pool descriptor, and compile the network '
            f"again",
        )


def _check_segments(pools: Sequence[PoolRange], where: str) -> None:
    """Check that a loader has one segment of weights and one of external RAM to place."""
    for is_weights, kind in ((True, "read-only"), (False, "writable")):
        names = [pool.name for pool in pools if pool.relative and _is_weights(pool) == is_weights]
        if len(names) > 1:
            what = f"has {len(names)} relative pools that are {kind} ({', '.join(names)}), but may have only one"
            raise N6Error("N6-RELOC-006", what, where=where, hint="use one of them in the memory pool descriptor")
