"""Profile of a run: shares of functions, and uses of the board's models.

Instructions are sampled at fixed distances of guest time, so that two runs of one program have the same
shares. Times are those of the host, and differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.console import clipped, kib
from n6build.base.files import read_at_most
from n6build.board.virtual_board.findings_file import damaged
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.hardware.soc import Soc

# The emulator counts at most 200,000 places.
_MOST_BYTES = 32 << 20
# Code without symbols is shown in pieces of this size.
_PIECE = 256
_SHOWN = 12
_RULE = "  " + "-" * 100
# From this share of instructions that run about once, translation costs more than all else.
_RUNS_ONCE = 0.25
_CODE_UNIT = 2


@dataclass(frozen=True)
class FunctionShare:
    """A function of the program, or a piece of code without symbols.

    Attributes:
        name: Name of the function, or the addresses of the piece with their memory.
        instructions: Executed instructions, from samples.
        host_ns: Time of the emulator on the host, without its models.
        blocks: Blocks of code that the emulator translated.
        translated: Bytes of these blocks.
    """

    name: str
    instructions: int
    host_ns: int
    blocks: int
    translated: int


@dataclass(frozen=True)
class ModelUse:
    """A model of the board.

    Attributes:
        name: Name of the block, such as XSPI2, or of a region of the processor.
        reads: Number of reads by the program.
        writes: Number of writes.
        host_ns: Time of the model on the host.
    """

    name: str
    reads: int
    writes: int
    host_ns: int


@dataclass(frozen=True)
class Profile:
    """Profile of a run.

    Attributes:
        every: Instructions from one sample to the next.
        instructions: Executed instructions.
        asleep: Guest time in sleep.
        functions: Functions, that with most instructions first.
        models: Models, that with most accesses first.
    """

    every: int
    instructions: int
    asleep: int
    functions: tuple[FunctionShare, ...]
    models: tuple[ModelUse, ...]

    @property
    def host_ns(self) -> int:
        """Return the emulator's time on the host."""
        return sum(each.host_ns for each in self.functions) + sum(each.host_ns for each in self.models)

    @property
    def translated(self) -> int:
        """Return the bytes of all translated blocks."""
        return sum(each.translated for each in self.functions)


@dataclass(frozen=True)
class _Raw:
    """File of the emulator.

    A place is its address, instructions, time, blocks and bytes.
    """

    every: int
    instructions: int
    asleep: int
    places: tuple[tuple[int, int, int, int, int], ...]
    models: tuple[tuple[str, int, int, int], ...]


def read_profile(path: Path, programs: Sequence[Path], soc: Soc) -> Profile:
    """Read the emulator's file.

    Args:
        path: File that the emulator wrote at its end.
        programs: ELF files of the programs, for the names of functions.
        soc: Chip, for the names of memories.

    Raises:
        N6Error: N6-VB-010 for an invalid file; N6-FILE-003.
    """
    try:
        raw = decode_json(read_at_most(path, _MOST_BYTES), _Raw)
    except ValueError as error:
        raise damaged(path.name, error) from error
    places = Places(programs)
    sums: dict[str, list[int]] = {}
    for address, *counts in raw.places:
        name = places.function_at(address) or _piece(address, soc)
        before = sums.setdefault(name, [0] * len(counts))
        sums[name] = [old + new for old, new in zip(before, counts, strict=True)]
    functions = [FunctionShare(name, *counts) for name, counts in sums.items()]
    models = [ModelUse(*each) for each in raw.models]
    return Profile(
        raw.every,
        raw.instructions,
        raw.asleep,
        tuple(sorted(functions, key=lambda each: (-each.instructions, -each.translated, each.name))),
        tuple(sorted(models, key=lambda each: (-each.reads - each.writes, each.name))),
    )


def _piece(address: int, soc: Soc) -> str:
    if not address:
        return "other places"
    start = address - address % _PIECE
    memory = next((name for name, each in soc.memories.items() if each.base <= address < each.end), "")
    return f"0x{start:08X} to 0x{start + _PIECE - 1:08X}{f', {memory}' if memory else ''}"


def profile_lines(profile: Profile) -> list[str]:
    """Return the tables of a profile for people."""
    total = profile.host_ns
    asleep = f"; asleep for {profile.asleep:,} units of guest time" if profile.asleep else ""
    lines = [
        f"  {profile.instructions:,} instructions, sampled every {profile.every:,}{asleep}; {total / 1e9:.2f} s of this host",
        _RULE,
        f"  {'instructions':>12} {'host':>7} {'translated':>11}  function",
        _RULE,
    ]
    lines += _rows(
        f"  {_share(each.instructions, profile.instructions):>12} {_share(each.host_ns, total):>7} "
        f"{kib(each.translated):>11}  {clipped(each.name, 60)}"
        for each in profile.functions
        if each.instructions
    )
    if profile.models:
        lines += [_RULE, f"  {'reads':>12} {'writes':>11} {'host':>7}  model of the board", _RULE]
        lines += _rows(
            f"  {each.reads:>12,} {each.writes:>11,} {_share(each.host_ns, total):>7}  {each.name}"
            for each in profile.models
        )
    lines.append(_RULE)
    if runs_once := _runs_once(profile):
        lines.append(runs_once)
    return lines


def _rows(rows: Iterable[str]) -> list[str]:
    found = list(rows)
    more = len(found) - _SHOWN
    return found if more <= 0 else [*found[:_SHOWN], f"  ... {more} more in the file"]


def _share(value: int, total: int) -> str:
    return f"{100 * value / total:.1f} %" if total else "-"


def _runs_once(profile: Profile) -> str:
    """Return a sentence about code that runs about once, which is slow to emulate."""
    count = profile.translated // _CODE_UNIT
    if not profile.instructions or count < profile.instructions * _RUNS_ONCE:
        return ""
    return (
        f"  {kib(profile.translated)} of code were translated for {profile.instructions:,} instructions: most of it ran once. "
        "The program runs through memory without loops, for example erased RAM, or changes its own code"
    )
