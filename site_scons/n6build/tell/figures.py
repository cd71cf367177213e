"""Sizes of applications as numbers, in sizes.json of a build.

A merge request is compared with such a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from n6build.base.bounded import decode_json
from n6build.base.console import clipped, printable
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, to_json
from n6build.place.image.manifest import FlashManifest
from n6build.place.image.sizes import RegionUse
from n6build.place.memory_plan.plan import MemoryPlan, PlannedBank, PlannedModel

FORMAT = "n6build sizes"
VERSION = 1
# An application takes two kilobytes, so that this is enough for 2000 of them.
_MOST_BYTES = 4 << 20

Name = Annotated[str, Meta(min_length=1, max_length=4096)]
Bytes = Annotated[int, Meta(ge=0, lt=1 << 40)]


@dataclass(frozen=True)
class Figure:
    """A size.

    Attributes:
        name: Name of the size.
        used: Used bytes.
        limit: Available bytes; None if only other sizes limit it.
    """

    name: Name
    used: Bytes
    limit: Bytes | None = None


@dataclass(frozen=True)
class Sizes:
    """Sizes of an application."""

    board: Name
    application: Name
    profile: Name
    loader: Literal["linked", "reloc"]
    figures: tuple[Figure, ...]

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return the key by which two builds of an application are compared."""
        return self.board, self.application, self.profile, self.loader


@dataclass(frozen=True)
class SizesFile:
    """Content of sizes.json.

    Attributes:
        n6build: Version of n6build that wrote it.
        applications: Sizes of applications, each with another identity.
    """

    n6build: Name
    applications: tuple[Sizes, ...]


class _Head(Struct):
    """Fields in every version of the format."""

    format: str
    version: int
    n6build: Name


def sizes_of(plan: MemoryPlan, manifest: FlashManifest, uses: Sequence[RegionUse]) -> Sizes:
    """Return the sizes of an application.

    Powered RAM banks and sums for each network are added to the uses.

    Args:
        plan: Memory plan.
        manifest: Flash manifest.
        uses: Use of programs, slots and pools.
    """
    loader: Literal["linked", "reloc"] = "reloc" if plan.models else "linked"
    figures = [Figure(use.region, use.used, use.limit) for use in uses]
    figures += [_bank(bank, plan) for bank in plan.banks]
    for network in plan.networks:
        in_flash = {image.pool for image in plan.images if image.network == network.name and image.in_place}
        pools = [pool for pool in plan.pools if pool.network == network.name]
        activations = sum(pool.used for pool in pools if pool.fname not in in_flash)
        weights = sum(image.bytes for image in plan.images if image.network == network.name)
        files = {file for model in plan.models if model.network == network.name for file in _files(model)}
        weights += sum(segment.length for segment in manifest.segments if segment.file in files)
        what = "model file" if files else "weights"
        figures += [Figure(f"RAM of {network.model}", activations), Figure(f"{what} of {network.model}", weights)]
    return Sizes(plan.board, plan.application, plan.profile, loader, tuple(figures))


def _files(model: PlannedModel) -> tuple[str, ...]:
    return model.file, *([model.params_file] if model.params_file else [])


def _bank(bank: PlannedBank, plan: MemoryPlan) -> Figure:
    """Return the use of a bank; bytes that several networks share count once."""
    end = bank.last_word + 4
    used, counted_to = 0, bank.first_word
    for pool in sorted(plan.pools, key=lambda pool: pool.address):
        first, last = max(pool.address, counted_to), min(pool.address + pool.used, end)
        used += max(last - first, 0)
        counted_to = max(counted_to, last)
    return Figure(f"bank {bank.name}", used, end - bank.first_word)


def sizes_json(file: SizesFile) -> str:
    """Return the text of sizes.json."""
    applications = [asdict(each) for each in sorted(file.applications, key=lambda each: each.identity)]
    return to_json({"format": FORMAT, "version": VERSION, "n6build": file.n6build, "applications": applications})


def read_sizes(path: Path) -> SizesFile:
    """Read a sizes.json or merge_report.json file.

    Raises:
        N6Error: N6-SIZES-001 if the file is neither of them; N6-SIZES-002 if it has the format of
            another version; N6-FILE-002; N6-FILE-003.
    """
    data = read_at_most(path, _MOST_BYTES)
    try:
        head = decode_json(data, _Head)
        if head.format == FORMAT and head.version != VERSION:
            what = (
                f"version {head.version} of the format, by n6build {printable(head.n6build)}; this one reads {VERSION}"
            )
            hint = "build the base branch again with this n6build, and pass its sizes.json or merge_report.json"
            raise N6Error("N6-SIZES-002", what, where=str(path), hint=hint)
        if head.format != FORMAT:
            raise ValueError(f"its format is '{clipped(printable(head.format), 40)}'")
        found = decode_json(data, SizesFile)
        if len({each.identity for each in found.applications}) < len(found.applications):
            raise ValueError("an application is listed twice")
        return found
    except ValueError as error:
        hint = "pass sizes.json or merge_report.json of a build of the base branch"
        what = f"is not a file of sizes: {printable(str(error))}"
        raise N6Error("N6-SIZES-001", what, where=str(path), hint=hint) from error
