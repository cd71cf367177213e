"""Checks of the flash: every image inside the NOR and its slot, no two in one place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from n6build.checks.subject import Finding, Subject


def overlapping_images(subject: Subject) -> Iterator[Finding]:
    """Also where they only share an erase sector: programming one then erases the other."""
    sector = subject.manifest.sector
    ordered = sorted(subject.manifest.segments, key=lambda segment: segment.address)
    for segment, behind in itertools.pairwise(ordered):
        end = -(-(segment.address + segment.length) // sector) * sector
        if end > behind.address:
            yield Finding(
                segment.file,
                f"to 0x{segment.address + segment.length:08X}, and {behind.file}, from 0x{behind.address:08X}, share "
                f"{end - behind.address} bytes of flash sectors",
                f"give each network its own address, {sector} bytes apart",
            )


def flash_end(subject: Subject) -> Iterator[Finding]:
    manifest = subject.manifest
    for segment in manifest.segments:
        beyond = segment.address + segment.length - manifest.base - manifest.size
        if beyond > 0 or segment.address < manifest.base:
            yield Finding(
                segment.file,
                f"reaches {max(beyond, manifest.base - segment.address)} bytes beyond the {manifest.size} bytes of the NOR",
                "make the network smaller, or its address lower",
            )


def slot_overflow(subject: Subject) -> Iterator[Finding]:
    """An Appli that has grown into the weights, or weights into whatever is behind them."""
    slots = dict(subject.board.slots.items())
    for segment in subject.manifest.segments:
        slot = slots[segment.name]
        beyond = segment.address + segment.length - slot.end
        if beyond > 0:
            yield Finding(
                segment.file,
                f"is {beyond} bytes larger than its slot '{segment.name}' ({slot.size})",
                f"make the slot larger in boards/{subject.board.name}/board.yaml",
            )
    lengths = {segment.file: segment.length for segment in subject.manifest.segments}
    for model in subject.plan.models:
        part = model.slots[0]
        for file, room in ((model.file, part.file_bytes), (model.params_file, part.params_bytes)):
            beyond = lengths.get(file, 0) - room
            if beyond > 0:
                yield Finding(
                    file,
                    f"is {beyond} bytes larger than its part of slot 'weights' ({room})",
                    "slots=1, fewer models, or a larger slot in board.yaml",
                )
