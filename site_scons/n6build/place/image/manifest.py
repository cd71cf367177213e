"""flash_manifest.json: all contents of the flash with their addresses.

Programmers, IDEs and production lines need no other file.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, read_in_chunks, to_json
from n6build.base.span import Span
from n6build.describe.hardware.board import Slot, Trial
from n6build.describe.hardware.slots import BoardFlash, slots_with_vectors, weights_slot

# Segments with an address of their own, which may take room from slots.
_PLACED = ("weights", "data")
# Words for the names of `Trial.items`.
_KEPT = {"journal": "journal of trials", "second appli": "second slot of the Appli"}


@dataclass(frozen=True)
class Segment:
    """A contiguous part of the flash.

    Attributes:
        name: Name of the slot; 'data' for third-party data at any address.
        file: File, relative to the manifest.
        address: Address in the memory-mapped window.
        length: Length in bytes.
        sha256: Digest of these bytes.
        offset: Offset of the first byte in the file.
    """

    name: str
    file: str
    address: int
    length: int
    sha256: str
    offset: int = 0


@dataclass(frozen=True)
class FlashFile:
    """A file, or a part of it, for a slot.

    Attributes:
        slot: Name of the slot.
        path: File.
        address: Address in flash; None for the start of the slot.
        offset: Offset of the part in the file, in bytes.
        length: Length of the part in bytes; None for the rest of the file.
    """

    slot: str
    path: Path
    address: int | None = None
    offset: int = 0
    length: int | None = None


@dataclass(frozen=True)
class FlashManifest:
    """Content of flash_manifest.json.

    Attributes:
        board: Name of the board.
        base: Address of the NOR's window.
        size: Size of the NOR, in bytes.
        sector: Bytes of a sector, the unit of an erase.
        segments: All contents, in flash order.
    """

    board: str
    base: int
    size: int
    sector: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class UsedSlot:
    """A slot without the part that weights of networks take, and its segments."""

    name: str
    slot: Slot
    segments: tuple[Segment, ...]


def make_manifest(flash: BoardFlash, files: Sequence[FlashFile], folder: Path) -> FlashManifest:
    """Return the manifest of files in flash.

    Args:
        flash: Flash slots of the board.
        files: Files in flash order; an empty file of weights gets no place.
        folder: Folder of the manifest.

    Raises:
        N6Error: N6-IMAGE-005 if a file does not fit into its slot; N6-IMAGE-006 if files overlap;
            N6-IMAGE-008 if a program is empty.
    """
    segments = []
    for file in files:
        length, digest = _size_and_digest(file)
        if not length and file.slot in ("fsbl", "appli"):
            what = "is empty: the board would keep running its old program"
            raise N6Error("N6-IMAGE-008", what, where=file.path.name, hint="build again")
        if not length:
            continue
        address = dict(flash.slots.items())[file.slot].address if file.address is None else file.address
        name = Path(os.path.relpath(file.path, folder)).as_posix()
        segments.append(Segment(file.slot, name, address, length, digest, file.offset))
    manifest = FlashManifest(flash.name, flash.nor.base, flash.nor.size, flash.nor.sector, tuple(segments))
    for slot in used_slots(flash, manifest):
        _check_room(flash, slot)
    check_overlap(manifest)
    return manifest


def _size_and_digest(file: FlashFile) -> tuple[int, str]:
    """Return size and digest of the file's part."""
    size, digest = 0, hashlib.sha256()
    for data in read_in_chunks(file.path, offset=file.offset, size=file.length):
        size += len(data)
        digest.update(data)
    return size, digest.hexdigest()


def used_slots(flash: BoardFlash, manifest: FlashManifest) -> list[UsedSlot]:
    """Return all slots of the board, then those of weights and data elsewhere."""
    placed = [each for each in manifest.segments if each.name in _PLACED]
    vectors = [Span(each.address, each.length) for each in manifest.segments if each.name == "vectors"]
    slots = slots_with_vectors(flash, [Span(each.address, each.length) for each in placed], vectors)
    data = {weights_slot(flash, each.address) for each in placed if each.name == "data"}
    return [
        UsedSlot(
            name.replace("weights at", "data at") if name in data else name,
            slot,
            tuple(each for each in manifest.segments if _slot_of(flash, each) == name),
        )
        for name, slot in slots.items()
    ]


def _slot_of(flash: BoardFlash, segment: Segment) -> str:
    return weights_slot(flash, segment.address) if segment.name in _PLACED else segment.name


def _check_room(flash: BoardFlash, used: UsedSlot) -> None:
    """Check that all segments fit into their slot, with N6-IMAGE-005 if not."""
    whole = dict(flash.slots.items()).get(used.name, used.slot)
    hint = "enlarge the slot or make the image smaller; the .map file beside its ELF file lists the sizes"
    before = ""
    if used.slot.end < whole.end:
        before = f", which ends where a network has its weights, at 0x{used.slot.end:08X}"
        hint = (
            "compile that network for this board (run tools/pools.py board BOARD PROFILE for its pools), or make the "
        )
        hint += "image smaller; the .map file beside its ELF file lists the sizes"
    for segment in used.segments:
        beyond = segment.address + segment.length - used.slot.end
        if beyond > 0:
            what = f"{_file(segment)} has {segment.length} bytes, {beyond} more than slot '{used.name}' "
            where = f"boards/{flash.name}/board.yaml: slots.{used.name}"
            raise N6Error("N6-IMAGE-005", f"{what}({used.slot.size}){before}", where=where, hint=hint)


def check_overlap(manifest: FlashManifest) -> None:
    """Check that no two segments share a sector, because they would erase each other.

    Raises:
        N6Error: N6-IMAGE-006 if two segments share a sector.
    """
    ordered = sorted(manifest.segments, key=lambda segment: segment.address)
    for segment, behind in itertools.pairwise(ordered):
        end = segment.address + segment.length
        last_sector_end = -(-end // manifest.sector) * manifest.sector
        if last_sector_end > behind.address:
            raise N6Error(
                "N6-IMAGE-006",
                f"{_file(segment)} (to 0x{end:08X}) and {_file(behind)} (from 0x{behind.address:08X}) share a flash sector",
                hint=f"place them {manifest.sector} bytes apart: change slots in board.yaml, or option addresses",
            )


def check_kept(file: str, contents: Sequence[Span], trial: Trial) -> None:
    """Check that contents leave flash free that the firmware writes with `trial=on`.

    Args:
        file: Name of the file with these contents.
        contents: Flash spans of the contents.
        trial: Trial with its places in flash.

    Raises:
        N6Error: N6-TRIAL-002 if a content overlaps one of these places.
    """
    for content in contents:
        for name, slot in trial.items():
            if content.address < slot.end and slot.address < content.end:
                what = f"has {content.size} bytes for 0x{content.address:08X}, where the firmware has its {_KEPT[name]}"
                hint = f"leave 0x{slot.address:08X} to 0x{slot.end:08X} free (trial in board.yaml), or set trial=off"
                raise N6Error("N6-TRIAL-002", what, where=file, hint=hint)


def _file(segment: Segment) -> str:
    return PurePosixPath(segment.file).name


def manifest_json(manifest: FlashManifest) -> str:
    """Return the text of flash_manifest.json."""
    return to_json(asdict(manifest))


def read_manifest(path: Path) -> FlashManifest:
    """Read a flash manifest.

    Raises:
        N6Error: N6-IMAGE-007 if the file is not a flash manifest.
    """
    try:
        manifest = decode_json(read_bytes(path), FlashManifest)
        _check_numbers(manifest)
    except ValueError as error:
        raise N6Error("N6-IMAGE-007", f"is not a flash manifest: {error}", where=path.name) from error
    return manifest


def _check_numbers(manifest: FlashManifest) -> None:
    """Raise ValueError for numbers that no flash has."""
    if min(manifest.sector, manifest.size) < 1 or manifest.base < 0:
        raise ValueError("base, size or sector is not the number of a flash")
    end = manifest.base + manifest.size
    for each in manifest.segments:
        if each.offset < 0 or each.length < 1 or not manifest.base <= each.address <= end - each.length:
            raise ValueError(f"segment {each.name} is not within the flash")
