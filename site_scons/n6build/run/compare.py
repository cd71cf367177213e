"""Inferences of the board against the outputs of the reference interpreter, byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.network.artifacts.description import TensorType
from n6build.run.console_log import ConsoleLog, Inference

_DTYPES = {"int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "float32": "<f4"}


@dataclass(frozen=True)
class Verdict:
    """equal: None where there is nothing to compare with. answer: class name, or empty. score: of that class, 0 to 1."""

    index: int
    label: str
    answer: str
    score: float | None
    equal: bool | None
    different_bytes: int
    cycles: int | None


def judge(
    inferences: Sequence[Inference],
    expected: Sequence[bytes],
    *,
    labels: Sequence[str],
    classes: Sequence[str],
    output_type: TensorType,
    scale: float,
    zero_point: int,
) -> list[Verdict]:
    """inferences: of one network, in order. expected: outputs for each vector, or empty.

    scale, zero_point: of a quantised output (score = scale * (value - zero_point)).
    """
    import numpy as np  # noqa: PLC0415 - planning judges nothing.

    verdicts = []
    for index, inference in enumerate(inferences):
        output = inference.output()
        wanted = expected[index] if index < len(expected) else None
        different = _difference(output, wanted) if wanted is not None else 0
        values = np.frombuffer(
            output[: len(output) // np.dtype(_DTYPES[output_type]).itemsize * np.dtype(_DTYPES[output_type]).itemsize],
            _DTYPES[output_type],
        )
        answer, score = "", None
        if classes and len(values) == len(classes):
            best = int(values.argmax())
            answer = classes[best]
            score = float(values[best]) if output_type == "float32" else scale * (int(values[best]) - zero_point)
        verdicts.append(
            Verdict(
                index=index,
                label=labels[index] if index < len(labels) else "",
                answer=answer,
                score=score,
                equal=None if wanted is None else different == 0,
                different_bytes=different,
                cycles=inference.cycles,
            )
        )
    return verdicts


def _difference(output: bytes, wanted: bytes) -> int:
    length = max(len(output), len(wanted))
    return sum(a != b for a, b in zip(output, wanted, strict=False)) + length - min(len(output), len(wanted))


def check_going(log: ConsoleLog) -> None:
    """Raises the firmware's own error where it reported one, N6-RUN-001 where it faulted."""
    if log.error:
        raise N6Error(log.error[0], f"the firmware stopped: {log.error[1]}", hint=_FIRMWARE_HINTS.get(log.error[0]))
    if log.fault:
        raise N6Error("N6-RUN-001", f"the firmware faulted: {log.fault}")


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
    "N6-FW-005": "clock_profile hsi-only in board.yaml needs no PLL",
    "N6-FW-006": "clock_profile hsi in board.yaml, or no mode=max-speed, needs one PLL only",
    "N6-FW-010": "scons flash programs it",
    "N6-FW-020": "scons flash programs it",
    "N6-FW-021": "scons flash programs it again",
    "N6-FW-022": "scons flash programs the weights of this network",
    "N6-FW-023": "scons flash programs it again; if that does not help, the NOR's clock may be too high (nor.max_clock_hz)",
    "N6-FW-031": "external_ram.psram in board.yaml describes the part and its pins",
    "N6-FW-033": "external_ram.psram.max_clock_hz in board.yaml: a lower one",
    "N6-FW-056": "the lines 'n6 model' above say why; scons flash-model programs another one",
    "N6-FW-024": "RCC MEMENR and RAMCFG SRAMSD of that bank, through their secure aliases",
}
