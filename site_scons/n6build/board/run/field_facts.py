"""Undocumented assumptions of n6build (INFERRED) and their check on a board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.board.run.field_readings import Moment, Reading
from n6build.describe.formats.console import APPLI_START, FSBL_NOR, FSBL_START, IMAGE
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.cpu import CORTEX_M55
from n6build.describe.hardware.field_registers import npu_version_names
from n6build.describe.hardware.soc import Cache, field_bits

# "look" is for a question: n6build assumes nothing, and the observation decides.
Verdict = Literal["holds", "does not hold", "not observed", "look"]


@dataclass(frozen=True)
class Evidence:
    """Observations of one run.

    Attributes:
        board: The described board.
        readings: Printed registers.
        lines: Lines of the console.
        start: Value of option start; for "ram" a debugger started the board, not the boot ROM.
    """

    board: Board
    readings: Sequence[Reading]
    lines: Sequence[str]
    start: Literal["flash", "ram"]

    def reading(self, moment: Moment, name: str) -> Reading | None:
        """Return a reading, None if it was not printed or could not be read."""
        found = (each for each in self.readings if (each.moment, each.name) == (moment, name))
        return next((each for each in found if each.value is not None), None)

    def value(self, moment: Moment, name: str) -> int | None:
        """Return the value of a reading, or None."""
        found = self.reading(moment, name)
        return found.value if found else None

    def field(self, moment: Moment, name: str, field: str) -> int | None:
        """Return a bit field of a reading, or None."""
        found = self.reading(moment, name)
        return found.fields.get(field) if found else None


@dataclass(frozen=True)
class Judgement:
    """Verdict on a fact.

    Attributes:
        verdict: The verdict.
        observed: The observation in words.
    """

    verdict: Verdict
    observed: str


_NOTHING = Judgement("not observed", "")
_NOT_BY_ROM = Judgement("not observed", "the debugger started the FSBL, not the boot ROM (start=ram)")


@dataclass(frozen=True)
class FieldFact:
    """An assumption or an open question that a board can settle.

    Attributes:
        id: Short name in a field report.
        says: The assumption, or the question.
        settles: Consequence of a wrong assumption, or of the answer.
        judge: Function that judges the evidence.
    """

    id: str
    says: str
    settles: str
    judge: Callable[[Evidence], Judgement]


def _holds(good: bool, observed: str) -> Judgement:
    return Judgement("holds" if good else "does not hold", observed)


def _clocks_left_on(evidence: Evidence) -> Judgement:
    missing, seen = [], []
    for register, fields in evidence.board.soc.boot.clocks_left_on.items():
        found = evidence.reading("entry", f"RCC.{register}")
        if found is None:
            return _NOTHING
        seen.append(f"{register}=0x{found.value:08X}")
        missing += [f"{register}.{field}" for field in fields if not found.fields.get(field)]
    return _holds(not missing, ", ".join(seen) + (f"; off: {', '.join(missing)}" if missing else ""))


def _oscillator(found: Reading, _: Evidence) -> Judgement:
    cpu, buses = found.fields["CPUSWS"], found.fields["SYSSWS"]
    return _holds(cpu == buses == 0, f"CPUSWS={cpu}, SYSSWS={buses}")


def _stack(evidence: Evidence) -> Judgement:
    pointer, limit, own = (evidence.value("entry", f"CPU.{name}") for name in ("MSP", "MSPLIM", "VECTOR0"))
    if pointer is None or limit is None or own is None:
        return _NOTHING
    whose = "as in the image's vector table" if pointer == own else f"the image's vector table has 0x{own:08X}"
    return Judgement("look", f"MSP=0x{pointer:08X}, {whose}; MSPLIM=0x{limit:08X}")


def _caches(found: Reading, _: Evidence) -> Judgement:
    data, instruction = found.fields["DC"], found.fields["IC"]
    return _holds(data == instruction == 0, f"DC={data}, IC={instruction}")


def _silicon(found: Reading, evidence: Evidence) -> Judgement:
    device, revision = found.fields["DEV_ID"], found.fields["REV_ID"]
    good = (device, revision) == (evidence.board.soc.device_id, evidence.board.soc.revision_id)
    return _holds(good, f"device 0x{device:03X}, revision 0x{revision:04X}")


def _processor(evidence: Evidence) -> Judgement:
    value = evidence.value("fsbl", "SCB.CPUID")
    if value is None:
        return _NOTHING
    part = value >> 4 & 0xFFF
    named = f"CPUID=0x{value:08X}: part 0x{part:03X}, r{value >> 20 & 0xF}p{value & 0xF}"
    return _holds(part == CORTEX_M55.part, named)


def _cache_geometry(evidence: Evidence) -> Judgement:
    if not evidence.value("fsbl", "SCB.CSSELR@SCB.CSSELR=1"):
        return Judgement("not observed", "CSSELR does not keep what is written to it")
    caches = evidence.board.soc.caches
    told, good = [], True
    for selected, name, cache in ((0, "data", caches.data), (1, "instruction", caches.instruction)):
        found = evidence.reading("fsbl", f"SCB.CCSIDR@SCB.CSSELR={selected}")
        if found is None:
            return _NOTHING
        sets, ways = found.fields["NUMSETS"] + 1, found.fields["ASSOCIATIVITY"] + 1
        line = 16 << found.fields["LINESIZE"]
        good = good and _is_cache(cache, sets, ways, line) and line == evidence.board.soc.cache_line
        told.append(f"{name} {sets * ways * line >> 10} KiB, {ways} ways, lines of {line} bytes")
    return _holds(good, "; ".join(told))


def _is_cache(cache: Cache, sets: int, ways: int, line: int) -> bool:
    return (sets * ways * line, ways) == (cache.size, cache.ways)


def _clocks(evidence: Evidence) -> Judgement:
    """Judge the board's clock profile: locked PLLs, and the clock switches."""
    ready, switches = evidence.reading("appli", "RCC.SR"), evidence.reading("appli", "RCC.CFGR1")
    if ready is None or switches is None:
        return _NOTHING
    clock = evidence.board.clock
    wanted = 3 if clock.profile.dividers else 0
    unlocked = [name for name in clock.profile.plls if not ready.fields.get(f"{name}RDY")]
    cpu, buses = switches.fields["CPUSWS"], switches.fields["SYSSWS"]
    observed = f"profile {clock.name}: CPUSWS={cpu}, SYSSWS={buses}"
    observed += f", not locked: {', '.join(unlocked)}" if unlocked else ", its PLLs are locked"
    return _holds(not unlocked and cpu == buses == wanted, observed)


def _nor(evidence: Evidence) -> Judgement:
    """Judge the NOR: the FSBL found a valid Appli, and the weights are valid."""
    named = [line for line in evidence.lines if line.startswith(FSBL_NOR.head)]
    wrong = [line for line in evidence.lines if "N6-FW-00" in line or "N6-FW-01" in line or "N6-FW-02" in line]
    if wrong:
        return Judgement("does not hold", wrong[-1])
    if not named or not any(line.startswith(APPLI_START.head) for line in evidence.lines):
        return _NOTHING
    images = [line for line in evidence.lines if IMAGE.read(line)]
    timing = evidence.field("appli", "XSPI2.TCR", "DCYC")
    dummies = f", {timing} dummy cycles" if timing is not None else ""
    return _holds(
        True,
        f"{named[-1].removeprefix(FSBL_NOR.head).strip()}{dummies}; valid images of weights: {len(images)}",
    )


def _rom_takes_image(evidence: Evidence) -> Judgement:
    started = any(line.startswith(FSBL_START.head) for line in evidence.lines)
    return _holds(True, "the FSBL started") if started else _NOTHING


def _pads(evidence: Evidence) -> Judgement:
    fast = evidence.field("fsbl", "BSEC.FVR124", "HSLV_VDDIO3")
    return _NOTHING if fast is None else Judgement("look", f"HSLV_VDDIO3={fast}")


def _reset(found: Reading, _: Evidence) -> Judgement:
    flags = [name for name, value in found.fields.items() if value and name != "RMVF"]
    return Judgement("look", ", ".join(flags) or "no flag is set")


def _npu(evidence: Evidence) -> Judgement:
    known = npu_version_names(evidence.board.soc)
    low, mask = field_bits((0, 15))
    found = {name: evidence.value("appli", name) for name in known}
    if all(value is None for value in found.values()):
        return _NOTHING
    other = [
        f"{name} {'unreadable' if value is None else f'0x{value:08X}'}"
        for name, value in found.items()
        if value is None or (value & mask) >> low != known[name]
    ]
    return _holds(not other, ", ".join(other) or f"{len(known)} units answer as described")


def _of(moment: Moment, name: str, judge: Callable[[Reading, Evidence], Judgement]) -> Callable[[Evidence], Judgement]:
    """Wrap a judge of a reading; without the reading nothing was observed."""

    def of(evidence: Evidence) -> Judgement:
        found = evidence.reading(moment, name)
        return _NOTHING if found is None else judge(found, evidence)

    return of


def _by_rom(judge: Callable[[Evidence], Judgement]) -> Callable[[Evidence], Judgement]:
    """Wrap a judge of the boot ROM's state; a start from RAM shows none of it."""
    return lambda evidence: _NOT_BY_ROM if evidence.start == "ram" else judge(evidence)


FACTS = (
    FieldFact(
        "silicon",
        "the chip has the device id and the revision of boards/soc",
        "if not, correct revision_id in boards/soc; another revision may have other errata",
        _of("fsbl", "DBGMCU.IDCODE", _silicon),
    ),
    FieldFact("processor", "the CPU is the one of boards/soc", "flags and kernels are for that CPU only", _processor),
    FieldFact(
        "cache-geometry",
        "both caches have the size, the ways and the lines of boards/soc",
        "if not, the virtual board's caches and the alignment of buffers are wrong",
        _cache_geometry,
    ),
    FieldFact(
        "rom-image",
        "the boot ROM accepts the padding and the checksum of n6build's boot header",
        "if not, correct place/image/boot_header.py; the padding is not documented",
        _by_rom(_rom_takes_image),
    ),
    FieldFact(
        "rom-clocks",
        "the boot ROM leaves some clocks on (boot.clocks_left_on in boards/soc)",
        "if not, programs must switch on these clocks themselves",
        _by_rom(_clocks_left_on),
    ),
    FieldFact(
        "rom-oscillator",
        "the boot ROM leaves CPU and buses on an oscillator, not on a PLL",
        "if not, correct n6_clock_use_hsi()",
        _by_rom(_of("entry", "RCC.CFGR1", _oscillator)),
    ),
    FieldFact(
        "rom-stack",
        "stack that the boot ROM leaves: its own (boot.stack in boards/soc), or that of the image's vector table",
        "n6build's start-up code sets MSP and MSPLIM in both cases; third-party programs may not",
        _by_rom(_stack),
    ),
    FieldFact(
        "rom-caches",
        "the boot ROM leaves both caches off",
        "the virtual board starts like this; if not, programs must invalidate the caches first",
        _by_rom(_of("entry", "SCB.CCR", _caches)),
    ),
    FieldFact(
        "reset-cause",
        "reason of the last reset",
        "a brown-out or a watchdog explains an interrupted run",
        _of("entry", "RCC.HWRSR", _reset),
    ),
    FieldFact(
        "clock-profile",
        "the PLLs lock with the values of the clock profile",
        "if not, correct clock_profiles and pll_limits in boards/soc",
        _clocks,
    ),
    FieldFact(
        "nor",
        "the NOR answers in the mode of board.yaml with its dummy cycles, in natural order of bytes",
        "if not, correct nor.mode and nor.commands of the board",
        _nor,
    ),
    FieldFact(
        "nor-pads",
        "setting of the NOR's pads for high speed at 1.8 V (fuse word 124)",
        "1 allows a nor.clock above 50 MHz; 0 does not",
        _pads,
    ),
    FieldFact(
        "npu-units",
        "each unit of the NPU has the kind and version of ST's header",
        "if not, correct npu.units in boards/soc; another version may compute differently from the virtual NPU",
        _npu,
    ),
)
