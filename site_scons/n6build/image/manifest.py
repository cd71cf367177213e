"""flash_manifest.json: what has to be where in flash. Programmers, IDEs and production lines need nothing else."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, sha256, to_json
from n6build.hardware.board import Board


@dataclass(frozen=True)
class Segment:
    """file: relative to the manifest. address: in the memory-mapped window. length: bytes."""

    name: str
    file: str
    address: int
    length: int
    sha256: str


@dataclass(frozen=True)
class FlashFile:
    """address: None for the start of its slot."""

    slot: str
    path: Path
    address: int | None = None


@dataclass(frozen=True)
class FlashManifest:
    """base, size, sector: of the NOR, in bytes."""

    board: str
    base: int
    size: int
    sector: int
    segments: tuple[Segment, ...]


def make_manifest(board: Board, files: Sequence[FlashFile], folder: Path) -> FlashManifest:
    """files: in flash order; an empty file of weights gets no place.

    Raises N6-IMAGE-005 where a file does not fit into its slot, N6-IMAGE-006 for an overlap, N6-IMAGE-008 for an empty program.
    """
    slots = dict(board.slots.items())
    segments = []
    for file in files:
        slot_name, path = file.slot, file.path
        data = read_bytes(path)
        if not data and slot_name in ("fsbl", "appli"):
            what = "is empty: the board would keep running its old program"
            raise N6Error("N6-IMAGE-008", what, where=path.name, hint="build again")
        if not data:
            continue
        slot = slots[slot_name]
        address = slot.address if file.address is None else file.address
        beyond = address + len(data) - slot.end
        if beyond > 0:
            raise N6Error(
                "N6-IMAGE-005",
                f"{path.name} has {len(data)} bytes, {beyond} more than slot '{slot_name}' ({slot.size})",
                where=f"boards/{board.name}/board.yaml: slots.{slot_name}",
                hint="make the slot larger or the image smaller; the .map file beside its ELF file shows what takes the room",
            )
        name = Path(os.path.relpath(path, folder)).as_posix()
        segments.append(Segment(slot_name, name, address, len(data), sha256(data)))
    manifest = FlashManifest(board.name, board.nor.base, board.nor.size, board.nor.sector, tuple(segments))
    check_overlap(manifest)
    return manifest


def check_overlap(manifest: FlashManifest) -> None:
    """Two segments in one sector would erase each other. Raises N6-IMAGE-006."""
    ordered = sorted(manifest.segments, key=lambda segment: segment.address)
    for segment, behind in itertools.pairwise(ordered):
        end = segment.address + segment.length
        last_sector_end = -(-end // manifest.sector) * manifest.sector
        if last_sector_end > behind.address:
            raise N6Error(
                "N6-IMAGE-006",
                f"{segment.name} (to 0x{end:08X}) and {behind.name} (from 0x{behind.address:08X}) share a flash sector",
                hint=f"give each its own place, {manifest.sector} bytes apart: slots in board.yaml, or option addresses",
            )


def manifest_json(manifest: FlashManifest) -> str:
    """Text of flash_manifest.json."""
    return to_json(asdict(manifest))


def read_manifest(path: Path) -> FlashManifest:
    """Raises N6-IMAGE-007 where the file is not such a manifest."""
    try:
        values = json.loads(read_bytes(path))
        segments = tuple(Segment(**segment) for segment in values.pop("segments"))
        return FlashManifest(segments=segments, **values)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise N6Error("N6-IMAGE-007", f"is not a flash manifest: {error}", where=path.name) from error
