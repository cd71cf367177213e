"""Placeholder until the parser of network.c is complete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.files import read_bytes


@dataclass(frozen=True)
class SourcePool:
    index: int
    fname: str
    name: str
    address: int
    relative: bool
    size: int
    is_virtual: bool
    rights: str
    cacheable: bool
    use_for_initializers: bool
    used: bool


@dataclass(frozen=True)
class SourceBuffer:
    name: str
    pool: str | None
    base: int | None
    offset_start: int
    offset_end: int
    is_param: bool
    is_user_allocated: bool
    type: str
    nbits: int
    shape: tuple[int, ...]
    scale: tuple[float, ...]
    offset: tuple[int, ...]
    batch: int


@dataclass(frozen=True)
class SourceEpoch:
    index: int
    kind: str
    operators: str


@dataclass(frozen=True)
class NetworkSource:
    suffix: str
    ll_aton: tuple[int, int, int, int] | None
    git_description: str
    uses_epoch_controller: bool
    pools: tuple[SourcePool, ...] = ()
    inputs: tuple[SourceBuffer, ...] = ()
    outputs: tuple[SourceBuffer, ...] = ()
    params: tuple[SourceBuffer, ...] = ()
    internals: tuple[SourceBuffer, ...] = ()
    epochs: tuple[SourceEpoch, ...] = ()


def read_network_c(path: Path) -> NetworkSource:
    text = read_bytes(path).decode("utf-8", "replace")
    suffix = re.search(r"LL_ATON_EpochBlockItems_(\w+)", text)[1]
    v = dict(re.findall(r"LL_ATON_VERSION_(MAJOR|MINOR|MICRO|DEV)\s*!=\s*(\d+)", text))
    return NetworkSource(
        suffix, (int(v["MAJOR"]), int(v["MINOR"]), int(v["MICRO"]), int(v["DEV"])), "", "_ecblobs.h" in text
    )
