"""Use of each memory region of a board.

Programs are measured by their sections, flash by its slots, NPU RAM by the memory plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.describe.hardware.slots import BoardFlash
from n6build.place.image.elf_reader import allocated_sections
from n6build.place.image.manifest import FlashManifest, used_slots


@dataclass(frozen=True)
class RegionUse:
    """Use of a memory region; `used` and `limit` are in bytes."""

    region: str
    used: int
    limit: int

    @property
    def share(self) -> float:
        """Return the used share; 1.0 is full."""
        return self.used / self.limit


@dataclass(frozen=True)
class ProgramExtent:
    """RAM from the first to the last byte of a program.

    It includes the stack and uninitialised data.
    """

    name: str
    address: int
    size: int


def program_extent(name: str, elf: Path) -> ProgramExtent:
    """Return the extent of a program in RAM.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not an ELF file.
    """
    sections = allocated_sections(elf)
    begin = min(section.address for section in sections)
    return ProgramExtent(name, begin, max(section.address + section.bytes for section in sections) - begin)


def region_uses(
    flash: BoardFlash, limits: Mapping[str, int], manifest: FlashManifest, programs: Mapping[str, Path]
) -> list[RegionUse]:
    """Return the use of the programs' RAM and of flash slots that are not empty.

    Args:
        flash: Flash slots of the board.
        limits: Bytes of RAM by program.
        manifest: Flash manifest.
        programs: ELF files of FSBL and Appli, without third-party ones.

    Raises:
        N6Error: N6-IMAGE-001 if a file is not an ELF file.
    """
    uses = [RegionUse(f"{name} in RAM", program_extent(name, elf).size, limits[name]) for name, elf in programs.items()]
    for each in used_slots(flash, manifest):
        used = sum(part.length for part in each.segments)
        uses += [RegionUse(f"flash slot {each.name}", used, each.slot.size)] if used else []
    return uses


def pool_uses(pools: Sequence[tuple[str, int, int]]) -> list[RegionUse]:
    """Return the use of memory pools that are not empty.

    Args:
        pools: (name, used bytes, size) of each pool.
    """
    return [RegionUse(f"pool {name}", used, size) for name, used, size in pools if used]


def size_table(uses: Sequence[RegionUse]) -> str:
    """Return a table with region, used bytes, limit and share on each line."""
    head = f"  {'region':<32}{'used':>12}{'limit':>14}{'share':>9}\n"
    return head + "".join(f"  {use.region:<32}{use.used:>12,}{use.limit:>14,}{use.share:>9.1%}\n" for use in uses)
