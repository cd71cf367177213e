"""flash_manifest.json: what has to be where in flash. Programmers, IDEs and production lines need nothing else."""

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
from n6build.hardware.board import Slot, Trial
from n6build.hardware.slots import BoardFlash, slots_with_vectors, weights_slot

# Segments that bring their address along, and may take room from slots.
_PLACED = ("weights", "data")
# What `Trial.items` names, in words.
_KEPT = {"journal": "journal of trials", "second appli": "second slot of the Appli"}


@dataclass(frozen=True)
class Segment:
    """file: relative to the manifest. address: in the memory-mapped window. length: bytes. offset: of the first of them in the
    file. sha256: of these bytes. name: of a slot; 'data' is what somebody else puts anywhere."""

    name: str
    file: str
    address: int
    length: int
    sha256: str
    offset: int = 0


@dataclass(frozen=True)
class FlashFile:
    """address: None for the start of its slot. offset, length: of the part that is meant, in bytes; None: to the end."""

    slot: str
    path: Path
    address: int | None = None
    offset: int = 0
    length: int | None = None


@dataclass(frozen=True)
class FlashManifest:
    """board: name of it. base: address of the NOR's window. size: of the NOR, in bytes. sector: bytes that one erase covers.
    segments: everything that has to be there, in flash order."""

    board: str
    base: int
    size: int
    sector: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class UsedSlot:
    """A slot as far as the weights of networks leave it, and what is in it."""

    name: str
    slot: Slot
    segments: tuple[Segment, ...]


def make_manifest(flash: BoardFlash, files: Sequence[FlashFile], folder: Path) -> FlashManifest:
    """files: in flash order; an empty file of weights gets no place.

    Raises N6-IMAGE-005 where a file does not fit into its slot, N6-IMAGE-006 for an overlap, N6-IMAGE-008 for an empty program.
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
    """Of the part that is meant."""
    size, digest = 0, hashlib.sha256()
    for data in read_in_chunks(file.path, offset=file.offset, size=file.length):
        size += len(data)
        digest.update(data)
    return size, digest.hexdigest()


def used_slots(flash: BoardFlash, manifest: FlashManifest) -> list[UsedSlot]:
    """The board's slots, empty ones too, then those of weights and data that go elsewhere."""
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
    """Raises N6-IMAGE-005."""
    whole = dict(flash.slots.items()).get(used.name, used.slot)
    hint = "make the slot larger or the image smaller; the .map file beside its ELF file shows what takes the room"
    before = ""
    if used.slot.end < whole.end:
        before = f", which ends where a network has its weights, at 0x{used.slot.end:08X}"
        hint = "compile that network for this board (tools/pools.py board BOARD PROFILE writes its pools), or make the "
        hint += "image smaller; the .map file beside its ELF file shows what takes the room"
    for segment in used.segments:
        beyond = segment.address + segment.length - used.slot.end
        if beyond > 0:
            what = f"{_file(segment)} has {segment.length} bytes, {beyond} more than slot '{used.name}' "
            where = f"boards/{flash.name}/board.yaml: slots.{used.name}"
            raise N6Error("N6-IMAGE-005", f"{what}({used.slot.size}){before}", where=where, hint=hint)


def check_overlap(manifest: FlashManifest) -> None:
    """Two segments in one sector would erase each other. Raises N6-IMAGE-006."""
    ordered = sorted(manifest.segments, key=lambda segment: segment.address)
    for segment, behind in itertools.pairwise(ordered):
        end = segment.address + segment.length
        last_sector_end = -(-end // manifest.sector) * manifest.sector
        if last_sector_end > behind.address:
            raise N6Error(
                "N6-IMAGE-006",
                f"{_file(segment)} (to 0x{end:08X}) and {_file(behind)} (from 0x{behind.address:08X}) share a flash sector",
                hint=f"give each its own place, {manifest.sector} bytes apart: slots in board.yaml, or option addresses",
            )


def check_kept(file: str, contents: Sequence[Span], trial: Trial) -> None:
    """With `trial=on`: what the firmware writes to by itself. file: name of that with these contents. Raises N6-TRIAL-002 where
    one of them lies there."""
    for content in contents:
        for name, slot in trial.items():
            if content.address < slot.end and slot.address < content.end:
                what = f"puts {content.size} bytes at 0x{content.address:08X}, where the firmware has its {_KEPT[name]}"
                hint = f"0x{slot.address:08X} to 0x{slot.end:08X} are its own (trial in board.yaml): another place, or trial=off"
                raise N6Error("N6-TRIAL-002", what, where=file, hint=hint)


def _file(segment: Segment) -> str:
    return PurePosixPath(segment.file).name


def manifest_json(manifest: FlashManifest) -> str:
    """Text of flash_manifest.json."""
    return to_json(asdict(manifest))


def read_manifest(path: Path) -> FlashManifest:
    """Raises N6-IMAGE-007 where the file is not such a manifest."""
    try:
        return decode_json(read_bytes(path), FlashManifest)
    except ValueError as error:
        raise N6Error("N6-IMAGE-007", f"is not a flash manifest: {error}", where=path.name) from error
