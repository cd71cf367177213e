"""The firmware's console: lines that begin with 'n6 ' are results, all others are for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# More digits than any counter has are noise.
_NUMBER = "[0-9]{1,19}"
_EPOCH = re.compile(rf"n6 run ({_NUMBER}) epoch ({_NUMBER}) start=({_NUMBER}) core=({_NUMBER}) end=({_NUMBER})")
_OUTPUT = re.compile(rf"n6 run ({_NUMBER}) output ({_NUMBER}) ([0-9a-fA-F]*)")
_CYCLES = re.compile(rf"n6 run ({_NUMBER}) cycles=({_NUMBER})")
_ERROR = re.compile(r"n6 (?:fsbl|appli) error (\S+) (.*)")
_DONE = re.compile(rf"n6 done runs=({_NUMBER})")
_CLOCK = re.compile(rf"n6 appli start .*\bclock=({_NUMBER})")
_MODEL = re.compile(rf"n6 model (\S+) slot=([ab]) revision=({_NUMBER}) .*\bok")
_REFUSED = re.compile(r"n6 model (\S+) slot=([ab]) refused (.*)")
_APPLI_REFUSED = re.compile(r"n6 fsbl appli slot=([ab]) refused (\S+) (.*)")
_FAULT = re.compile(r"n6 fault (.*)")


@dataclass(frozen=True)
class EpochCycles:
    """CPU cycles, or instructions of the virtual board. start: until the epoch runs by itself. core: until it is done. end:
    until the next one. An epoch of the CPU has no core."""

    start: int
    core: int
    end: int

    @property
    def total(self) -> int:
        """The whole epoch."""
        return self.start + self.core + self.end


@dataclass
class Inference:
    """outputs: by index, the raw bytes of each. cycles: of the whole inference, None where it was not printed.

    epoch_cycles: by the place in the table of epoch blocks, from 1, of a network's first inference only.
    """

    outputs: dict[int, bytes] = field(default_factory=dict)
    cycles: int | None = None
    epoch_cycles: dict[int, EpochCycles] = field(default_factory=dict)

    def output(self) -> bytes:
        """All outputs, one after another by index."""
        return b"".join(data for _, data in sorted(self.outputs.items()))


@dataclass
class ConsoleLog:
    """inferences: by number, those of a second network after those of the first. error: the firmware's own, with its id. done:
    inferences it counted. clock_hz: of the CPU, None where it was not printed. models: the relocatable ones that run, name ->
    (slot, revision). refused: (name, slot) -> why. refused_appli: slot -> id and words, of an Appli with two."""

    inferences: dict[int, Inference] = field(default_factory=dict)
    error: tuple[str, str] | None = None
    fault: str | None = None
    done: int | None = None
    clock_hz: int | None = None
    models: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: dict[tuple[str, int], str] = field(default_factory=dict)
    refused_appli: dict[int, tuple[str, str]] = field(default_factory=dict)


def ends_run(line: str) -> bool:
    """Whether the firmware has nothing more to say: done, its own error, or a fault."""
    return any(pattern.match(line) for pattern in (_DONE, _ERROR, _FAULT))


def read_console(lines: Sequence[str]) -> ConsoleLog:
    """Lines that are not results are skipped."""
    log = ConsoleLog()
    for line in lines:
        _read_line(log, line.strip())
    return log


def _read_line(log: ConsoleLog, line: str) -> None:
    if (match := _OUTPUT.fullmatch(line)) and len(match[3]) % 2 == 0:
        log.inferences.setdefault(int(match[1]), Inference()).outputs[int(match[2])] = bytes.fromhex(match[3])
    elif match := _EPOCH.fullmatch(line):
        cycles = EpochCycles(int(match[3]), int(match[4]), int(match[5]))
        log.inferences.setdefault(int(match[1]), Inference()).epoch_cycles[int(match[2])] = cycles
    elif match := _CYCLES.fullmatch(line):
        log.inferences.setdefault(int(match[1]), Inference()).cycles = int(match[2])
    elif match := _MODEL.fullmatch(line):
        log.models[match[1]] = ("ab".index(match[2]), int(match[3]))
    elif match := _REFUSED.fullmatch(line):
        log.refused[match[1], "ab".index(match[2])] = match[3]
    elif match := _APPLI_REFUSED.fullmatch(line):
        log.refused_appli["ab".index(match[1])] = match[2], match[3]
    elif match := _CLOCK.match(line):
        log.clock_hz = int(match[1])
    elif match := _DONE.fullmatch(line):
        log.done = int(match[1])
    elif match := _ERROR.fullmatch(line):
        log.error = (match[1], match[2])
    elif match := _FAULT.fullmatch(line):
        log.fault = match[1]
