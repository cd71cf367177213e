"""Inferences of the board against expected outputs: bit for bit, or within a tolerance where the NPU takes part."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.models.model import Tolerance
from n6build.network.artifacts.description import IoBuffer
from n6build.run.console_log import ConsoleLog, Inference

_DTYPES = {
    "int8": "i1",
    "uint8": "u1",
    "int16": "<i2",
    "uint16": "<u2",
    "int32": "<i4",
    "int64": "<i8",
    "float32": "<f4",
    "bool": "?",
}


@dataclass(frozen=True)
class ComparedOutput:
    """An output of an inference against the expected one: fields of `compare.measure.Measure`, in steps of its quantisation,
    of float32 in its own unit. name: of the output. type: of its elements. elements: how many there are. equal: how many are.
    within_1: how many are at most one step away. max: the largest distance. cosine: to the expected output. top1: whether the
    class is the same, None where it has no classes."""

    name: str
    type: str
    elements: int
    equal: int
    within_1: int
    max: float
    cosine: float
    top1: bool | None

    def within(self, tolerance: Tolerance) -> bool:
        """Whether it is what the facts say of the NPU."""
        return self.cosine >= tolerance.cosine and not (tolerance.top1 and self.top1 is False)


@dataclass(frozen=True)
class Verdict:
    """equal, passes: None where there is nothing to compare with; passes: equal, or all outputs within the network's
    tolerance. index: of the inference. label: the right class, if it is known. answer: class name, or empty. score: of that
    class, 0 to 1. different_bytes: of all outputs. cycles: of the inference, or instructions; None where it was not measured.
    outputs: none where sizes differ."""

    index: int
    label: str
    answer: str
    score: float | None
    equal: bool | None
    different_bytes: int
    cycles: int | None
    passes: bool | None = None
    outputs: tuple[ComparedOutput, ...] = ()


def judge(
    inferences: Sequence[Inference],
    expected: Sequence[bytes],
    *,
    labels: Sequence[str],
    classes: Sequence[str],
    outputs: Sequence[IoBuffer],
    tolerance: Tolerance | None,
) -> list[Verdict]:
    """inferences: of one network, in order. expected: outputs for each vector, or empty. outputs: of the network. tolerance:
    None where outputs have to be equal."""
    verdicts = []
    for index, inference in enumerate(inferences):
        made = inference.output()
        wanted = expected[index] if index < len(expected) else None
        different = _difference(made, wanted) if wanted is not None else 0
        compared = () if wanted is None else _compare(made, wanted, outputs, classes)
        answer, score = _answer(made, outputs, classes)
        equal = None if wanted is None else different == 0
        passes = equal
        if tolerance and compared:
            passes = all(each.within(tolerance) for each in compared)
        verdicts.append(
            Verdict(
                index=index,
                label=labels[index] if index < len(labels) else "",
                answer=answer,
                score=score,
                equal=equal,
                different_bytes=different,
                cycles=inference.cycles,
                passes=passes,
                outputs=compared,
            )
        )
    return verdicts


def cosine_text(value: float) -> str:
    """Rounded down: a limit that is missed is not shown as met."""
    return f"{math.floor(value * 10_000) / 10_000:.4f}"


def _difference(output: bytes, wanted: bytes) -> int:
    length = max(len(output), len(wanted))
    return sum(a != b for a, b in zip(output, wanted, strict=False)) + length - min(len(output), len(wanted))


def _parts(data: bytes, outputs: Sequence[IoBuffer]) -> list[bytes]:
    """Of each output; none where the data has another size."""
    ends = list(itertools.accumulate(each.bytes for each in outputs))
    if not ends or ends[-1] != len(data):
        return []
    return [data[end - each.bytes : end] for end, each in zip(ends, outputs, strict=True)]


def _compare(
    made: bytes, wanted: bytes, outputs: Sequence[IoBuffer], classes: Sequence[str]
) -> tuple[ComparedOutput, ...]:
    import numpy as np  # noqa: PLC0415 - planning judges nothing.

    from n6build.compare.measure import measure  # noqa: PLC0415

    compared = []
    for output, mine, theirs in zip(outputs, _parts(made, outputs), _parts(wanted, outputs), strict=False):
        got, reference = (np.frombuffer(each, _DTYPES[output.type]) for each in (mine, theirs))
        found = measure(got, reference, output.zero_point)
        top1 = None
        if classes and got.size == len(classes):
            # Several classes may be the reference's first.
            top1 = bool(reference[got.argmax()] == reference.max())
        compared.append(ComparedOutput(output.name, output.type, **vars(found), top1=top1))
    return tuple(compared)


def _answer(made: bytes, outputs: Sequence[IoBuffer], classes: Sequence[str]) -> tuple[str, float | None]:
    """The class, and its score: scale * (value - zero point) of a quantised output."""
    import numpy as np  # noqa: PLC0415

    for output, part in zip(outputs, _parts(made, outputs), strict=False):
        values = np.frombuffer(part, _DTYPES[output.type])
        if classes and len(values) == len(classes):
            best = int(values.argmax())
            value = float(values[best])
            return classes[best], value if output.type == "float32" else output.scale * (value - output.zero_point)
    return "", None


def check_going(log: ConsoleLog) -> None:
    """Raises the firmware's own error where it reported one, N6-RUN-001 where it faulted."""
    if log.error:
        raise N6Error(log.error[0], f"the firmware stopped: {log.error[1]}", hint=_FIRMWARE_HINTS.get(log.error[0]))
    if log.fault:
        raise N6Error("N6-RUN-001", f"the firmware faulted: {log.fault}")


def check_appli(log: ConsoleLog) -> None:
    """Raises N6-RUN-013 where the FSBL has refused the newer of two Applis: what ran is not what was programmed last."""
    for slot, (id_, words) in log.refused_appli.items():
        what = f"the board refuses the Appli in slot {'ab'[slot]}, {id_} {words}; slot {'ab'[1 - slot]} runs"
        raise N6Error("N6-RUN-013", what, hint="scons flash programs it anew, and it is tried again")


def check_complete(log: ConsoleLog, count: int) -> None:
    """count: inferences that were asked for. Raises as check_going, N6-RUN-002 where the firmware fell silent, N6-RUN-003 where
    inferences are missing."""
    check_going(log)
    if log.done is None:
        raise N6Error("N6-RUN-002", f"the firmware fell silent after {len(log.inferences)} of {count} inferences")
    if log.done != len(log.inferences) or log.done < count:
        raise N6Error(
            "N6-RUN-003", f"{len(log.inferences)} of {count} inferences arrived, the firmware counted {log.done}"
        )


# What to do about errors that the firmware reports by id (firmware/fsbl/main.c, firmware/appli).
_FIRMWARE_HINTS = {
    "N6-FW-003": "nor.mode spi in board.yaml reads the NOR slowly, but without a mode to switch",
    "N6-FW-005": "clock=hsi-only needs no PLL",
    "N6-FW-006": "clock=hsi needs one PLL only",
    "N6-FW-010": "scons flash programs it",
    "N6-FW-020": "scons flash programs it",
    "N6-FW-021": "scons flash programs it again",
    "N6-FW-022": "scons flash programs the weights of this network",
    "N6-FW-023": "scons flash programs it again; if that does not help, the NOR's clock may be too high (nor.max_clock_hz)",
    "N6-FW-031": "external_ram.psram in board.yaml describes the part and its pins",
    "N6-FW-033": "external_ram.psram.max_clock_hz in board.yaml: a lower one",
    "N6-FW-056": "the lines 'n6 model' above say why; scons flash-model programs another one",
    "N6-FW-060": "switch the power off and on; are clock and reset of the NPU on?",
    "N6-FW-061": "backend=reference runs the network on the CPU; scons field-report writes down the versions of all units",
    "N6-FW-062": "scons flash programs the Appli again",
    "N6-FW-063": "scons backend=neural_art ladder says what the chip does not take; backend=reference needs no NPU",
    "N6-FW-064": "scons backend=neural_art ladder says what the chip does not take; backend=reference needs no NPU",
    "N6-FW-090": "scons flash with option trust programs it signed",
    "N6-FW-091": "scons flash programs it again, if it is your key",
    "N6-FW-093": "option trust_counter raises its security counter",
    "N6-FW-024": "RCC MEMENR and RAMCFG SRAMSD of that bank, through their secure aliases",
}
