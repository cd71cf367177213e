"""Parser of the firmware's console.

Lines that begin with 'n6 ' are results; all others are for people.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Counters have at most 19 digits: more digits are noise on the line.
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
    """CPU cycles of an epoch, or instructions on the virtual board.

    Attributes:
        start: Until the epoch runs by itself.
        core: Until it is done; 0 for an epoch of the CPU.
        end: Until the next epoch.
    """

    start: int
    core: int
    end: int

    @property
    def total(self) -> int:
        """Return the cycles of the whole epoch."""
        return self.start + self.core + self.end


@dataclass
class Inference:
    """Outputs and cycles of one inference.

    Attributes:
        outputs: The raw bytes of each output, by its index.
        cycles: Cycles of the whole inference; None if they were not printed.
        epoch_cycles: By the place in the table of epoch blocks, from 1; only of a network's first
            inference.
    """

    outputs: dict[int, bytes] = field(default_factory=dict)
    cycles: int | None = None
    epoch_cycles: dict[int, EpochCycles] = field(default_factory=dict)

    def output(self) -> bytes:
        """Return all outputs, one after another by index."""
        return b"".join(data for _, data in sorted(self.outputs.items()))


@dataclass
class ConsoleLog:
    """Results that the firmware printed.

    Attributes:
        inferences: By number; those of a second network follow those of the first.
        error: Id and text of the firmware's own error.
        fault: Text of a fault of the CPU.
        done: Number of inferences that the firmware counted.
        clock_hz: Clock of the CPU; None if it was not printed.
        models: Slot and revision of each running relocatable model, by name.
        refused: Reason for each refused relocatable model, by name and slot.
        refused_appli: Id and text for each refused Appli, by slot, if there are two Applis.
    """

    inferences: dict[int, Inference] = field(default_factory=dict)
    error: tuple[str, str] | None = None
    fault: str | None = None
    done: int | None = None
    clock_hz: int | None = None
    models: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: dict[tuple[str, int], str] = field(default_factory=dict)
    refused_appli: dict[int, tuple[str, str]] = field(default_factory=dict)


def ends_run(line: str) -> bool:
    """Return true if the line ends a run: done, an error of the firmware, or a fault."""
    return any(pattern.match(line) for pattern in (_DONE, _ERROR, _FAULT))


def read_console(lines: Sequence[str]) -> ConsoleLog:
    """Read the results from console lines; other lines are skipped."""
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
