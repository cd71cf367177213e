"""The sizes of applications as numbers: sizes.json of a build, and what a merge request is compared with."""

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
from n6build.image.manifest import FlashManifest
from n6build.image.sizes import RegionUse
from n6build.memory_plan.plan import MemoryPlan, PlannedBank, PlannedModel

FORMAT = "n6build sizes"
VERSION = 1
# Two kilobytes for each application; nobody builds thousands of them.
_MOST_BYTES = 4 << 20

Name = Annotated[str, Meta(min_length=1, max_length=4096)]
Bytes = Annotated[int, Meta(ge=0, lt=1 << 40)]


@dataclass(frozen=True)
class Figure:
    """used: bytes. limit: bytes there are; None where nothing but other figures limits it."""

    name: Name
    used: Bytes
    limit: Bytes | None = None


@dataclass(frozen=True)
class Sizes:
    """Of an application."""

    board: Name
    application: Name
    profile: Name
    loader: Literal["linked", "reloc"]
    figures: tuple[Figure, ...]

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What two of them have in common that can be compared."""
        return self.board, self.application, self.profile, self.loader


@dataclass(frozen=True)
class SizesFile:
    """n6build: version that wrote it. applications: no two with the same identity."""

    n6build: Name
    applications: tuple[Sizes, ...]


class _Head(Struct):
    """What every version of the format has."""

    format: str
    version: int
    n6build: Name


def sizes_of(plan: MemoryPlan, manifest: FlashManifest, uses: Sequence[RegionUse]) -> Sizes:
    """uses: of programs, slots and pools. The RAM banks that are powered and the sum of each network are added to them."""
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
    """Networks may use the same bytes one after the other."""
    end = bank.last_word + 4
    used, counted_to = 0, bank.first_word
    for pool in sorted(plan.pools, key=lambda pool: pool.address):
        first, last = max(pool.address, counted_to), min(pool.address + pool.used, end)
        used += max(last - first, 0)
        counted_to = max(counted_to, last)
    return Figure(f"bank {bank.name}", used, end - bank.first_word)


def sizes_json(file: SizesFile) -> str:
    """Text of sizes.json."""
    applications = [asdict(each) for each in sorted(file.applications, key=lambda each: each.identity)]
    return to_json({"format": FORMAT, "version": VERSION, "n6build": file.n6build, "applications": applications})


def read_sizes(path: Path) -> SizesFile:
    """Raises N6-SIZES-001 where the file is not a sizes.json or merge_report.json, N6-SIZES-002 where another version of n6build
    wrote it in another format, N6-FILE-002 and N6-FILE-003."""
    data = read_at_most(path, _MOST_BYTES)
    try:
        head = decode_json(data, _Head)
        if head.format == FORMAT and head.version != VERSION:
            what = (
                f"version {head.version} of the format, by n6build {printable(head.n6build)}; this one reads {VERSION}"
            )
            hint = "build the base branch again with this n6build, and give its sizes.json or merge_report.json"
            raise N6Error("N6-SIZES-002", what, where=str(path), hint=hint)
        if head.format != FORMAT:
            raise ValueError(f"its format is '{printable(clipped(head.format, 40))}'")
        found = decode_json(data, SizesFile)
        if len({each.identity for each in found.applications}) < len(found.applications):
            raise ValueError("an application is listed twice")
        return found
    except ValueError as error:
        hint = "sizes.json of a build of the base branch, or merge_report.json"
        what = f"is not a file of sizes: {printable(str(error))}"
        raise N6Error("N6-SIZES-001", what, where=str(path), hint=hint) from error
