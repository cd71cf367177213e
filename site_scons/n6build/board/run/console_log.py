"""Parser of the firmware's console.

describe/formats/console.py describes its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from n6build.describe.formats import console


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
        refused_appli: Id and text for each refused Appli, by slot, the newest first, if there are two Applis.
        appli_slot: Slot of the started Appli; None if there is only one slot.
    """

    inferences: dict[int, Inference] = field(default_factory=dict)
    error: tuple[str, str] | None = None
    fault: str | None = None
    done: int | None = None
    clock_hz: int | None = None
    models: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: dict[tuple[str, int], str] = field(default_factory=dict)
    refused_appli: dict[int, tuple[str, str]] = field(default_factory=dict)
    appli_slot: int | None = None

    def inference(self, number: str) -> Inference:
        """Return the inference with a number, a new one if there is none yet."""
        return self.inferences.setdefault(int(number), Inference())


def ends_run(line: str) -> bool:
    """Return true if the line ends a run: done, an error of the firmware, or a fault."""
    return any(end.read(line.strip()) for end in (console.DONE, console.ERROR, console.FAULT))


def read_console(lines: Sequence[str]) -> ConsoleLog:
    """Read the results from console lines; other lines are skipped."""
    log = ConsoleLog()
    for line in lines:
        _read_line(log, line.strip())
    return log


def _read_line(log: ConsoleLog, line: str) -> None:
    if values := console.RUN_OUTPUT.read(line):
        log.inference(values["run"]).outputs[int(values["output"])] = bytes.fromhex(values["data"])
    elif values := console.RUN_EPOCH.read(line):
        cycles = EpochCycles(int(values["start"]), int(values["core"]), int(values["end"]))
        log.inference(values["run"]).epoch_cycles[int(values["epoch"])] = cycles
    elif values := console.RUN_CYCLES.read(line):
        log.inference(values["run"]).cycles = int(values["cycles"])
    elif values := console.MODEL.read(line, "slot", "revision"):
        log.models[values["name"]] = ("ab".index(values["slot"]), int(values["revision"]))
    elif values := console.MODEL_REFUSED.read(line):
        log.refused[values["name"], "ab".index(values["slot"])] = values["reason"]
    elif values := console.FSBL_REFUSED.read(line):
        log.refused_appli["ab".index(values["slot"])] = _id_and_text(values["reason"])
    elif values := console.FSBL_APPLI.read(line, "slot"):
        log.appli_slot = "ab".index(values["slot"])
    elif values := console.APPLI_START.read(line):
        log.clock_hz = int(values["clock"])
    elif values := console.DONE.read(line):
        log.done = int(values["runs"])
    elif values := console.ERROR.read(line):
        log.error = _id_and_text(values["reason"])
    elif values := console.FAULT.read(line):
        log.fault = values["text"]


def _id_and_text(reason: str) -> tuple[str, str]:
    name, _, text = reason.partition(" ")
    return name, text
