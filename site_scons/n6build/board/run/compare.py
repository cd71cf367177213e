"""Comparison of board outputs with expected outputs.

Outputs are compared bit for bit, or within a tolerance where the NPU takes part.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.board.run.console_log import ConsoleLog, Inference
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.model import Tolerance

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
# onnxruntime approximates functions of float32, so that its values are so far from rounded ones, in ulps of the largest: its
# sigmoid is 1 ulp off in a denoiser of ST.
OF_APPROXIMATIONS = 2.0
# Layers in float32 add in another order than onnxruntime, and round that often.
OF_FLOAT32 = 64.0
# With random inputs, several classes are nearly as likely as the first.
OF_NOISE = Tolerance(cosine=0.9, top1=False)
# A run may be so much further from the reference than the model itself, if each input value changes by one step. MoveNet of ST
# on the virtual NPU is 0.9 to 1.4 times as far, for three random changes.
_OF_NUDGED = 2.0


def of_noise(nudged: float | None) -> Tolerance:
    """Return the tolerance for random inputs.

    Args:
        nudged: Cosine of the model's outputs to those for inputs that are one step off; None if it is
            unknown.
    """
    least = OF_NOISE.cosine if nudged is None else min(OF_NOISE.cosine, 1 - _OF_NUDGED * (1 - nudged))
    return replace(OF_NOISE, cosine=max(-1.0, least))


@dataclass(frozen=True)
class ComparedOutput:
    """An output of an inference, compared with the expected one.

    Distances are in steps of the output's quantisation; those of float32 are in its own unit. The
    numbers are those of `compare.measure.Measure`.

    Attributes:
        name: Name of the output.
        type: Type of its elements.
        elements: Number of elements.
        equal: Number of equal elements.
        within_1: Number of elements that are at most one step away.
        max: Largest distance.
        cosine: Cosine to the expected output.
        top1: True if the class is the same; None if the output has no classes.
        ulps: Largest distance of float32 values, in ulps of the largest of the expected ones; 0 for integers.
    """

    name: str
    type: str
    elements: int
    equal: int
    within_1: int
    max: float
    cosine: float
    top1: bool | None
    ulps: float = 0.0

    def within(self, tolerance: Tolerance) -> bool:
        """Return true if the output is within the tolerance."""
        return self.cosine >= tolerance.cosine and not (tolerance.top1 and self.top1 is False)


@dataclass(frozen=True)
class Verdict:
    """Comparison of all outputs of one inference with the expected ones.

    Attributes:
        index: Number of the inference.
        label: The right class, empty if it is unknown.
        answer: Class name, or empty.
        score: Score of that class, 0 to 1.
        equal: True if all bytes are equal; None if nothing is expected.
        different_bytes: Number of bytes that differ, in all outputs.
        cycles: Cycles of the inference, or instructions; None if not measured.
        passes: True if equal, or all outputs are within the network's tolerance; None as for equal.
        outputs: Compared outputs, empty if sizes differ.
        rank: Number of classes with a larger value than the right one; None without a known right class.
    """

    index: int
    label: str
    answer: str
    score: float | None
    equal: bool | None
    different_bytes: int
    cycles: int | None
    passes: bool | None = None
    outputs: tuple[ComparedOutput, ...] = ()
    rank: int | None = None


def judge(
    inferences: Sequence[Inference],
    expected: Sequence[bytes],
    *,
    labels: Sequence[str],
    classes: Sequence[str],
    outputs: Sequence[IoBuffer],
    tolerance: Tolerance | None,
    float_ulps: float = 0.0,
) -> list[Verdict]:
    """Compare the inferences of one network with the expected outputs.

    Args:
        inferences: Inferences of one network, in order.
        expected: Outputs for each vector, or empty.
        labels: The right class of each vector, or empty.
        classes: Class names of the network's output.
        outputs: Outputs of the network.
        tolerance: None if outputs have to be equal.
        float_ulps: Distance that float32 outputs may have without a tolerance, in ulps of the largest value.
    """
    verdicts = []
    for index, inference in enumerate(inferences):
        made = inference.output()
        wanted = expected[index] if index < len(expected) else None
        different = _difference(made, wanted) if wanted is not None else 0
        compared = () if wanted is None else _compare(made, wanted, outputs, classes)
        label = labels[index] if index < len(labels) else ""
        answer, score, rank = _answer(made, outputs, classes, label)
        equal = None if wanted is None else different == 0
        passes = equal
        if tolerance and compared:
            passes = all(each.within(tolerance) for each in compared)
        elif equal is False and compared:
            passes = all(each.equal == each.elements or 0 < each.ulps <= float_ulps for each in compared)
        verdicts.append(
            Verdict(
                index=index,
                label=label,
                answer=answer,
                score=score,
                equal=equal,
                different_bytes=different,
                cycles=inference.cycles,
                passes=passes,
                outputs=compared,
                rank=rank,
            )
        )
    return verdicts


def cosine_text(value: float) -> str:
    """Return a cosine rounded down, so that a missed limit does not look met."""
    return f"{math.floor(value * 10_000) / 10_000:.4f}"


def _difference(output: bytes, wanted: bytes) -> int:
    length = max(len(output), len(wanted))
    return sum(a != b for a, b in zip(output, wanted, strict=False)) + length - min(len(output), len(wanted))


def _parts(data: bytes, outputs: Sequence[IoBuffer]) -> list[bytes]:
    """Split the data into outputs; return an empty list if its size differs."""
    ends = list(itertools.accumulate(each.bytes for each in outputs))
    if not ends or ends[-1] != len(data):
        return []
    return [data[end - each.bytes : end] for end, each in zip(ends, outputs, strict=True)]


def _compare(
    made: bytes, wanted: bytes, outputs: Sequence[IoBuffer], classes: Sequence[str]
) -> tuple[ComparedOutput, ...]:
    import numpy as np  # noqa: PLC0415 - planning judges nothing.

    from n6build.judge.compare.measure import measure  # noqa: PLC0415

    compared = []
    for output, mine, theirs in zip(outputs, _parts(made, outputs), _parts(wanted, outputs), strict=False):
        got, reference = (np.frombuffer(each, _DTYPES[output.type]) for each in (mine, theirs))
        found = measure(got, reference, output.zero_point)
        top1 = None
        if classes and got.size == len(classes):
            # Several classes of the reference may share its largest value.
            top1 = bool(reference[got.argmax()] == reference.max())
        ulps = (
            found.max / float(np.spacing(np.abs(reference).max()))
            if output.type == "float32" and found.elements
            else 0.0
        )
        compared.append(ComparedOutput(output.name, output.type, **vars(found), top1=top1, ulps=ulps))
    return tuple(compared)


def _answer(
    made: bytes, outputs: Sequence[IoBuffer], classes: Sequence[str], label: str
) -> tuple[str, float | None, int | None]:
    """Return the class, its score, and the rank of the right class.

    The score of a quantised output is scale * (value - zero point).
    """
    import numpy as np  # noqa: PLC0415

    for output, part in zip(outputs, _parts(made, outputs), strict=False):
        values = np.frombuffer(part, _DTYPES[output.type])
        if classes and len(values) == len(classes):
            best = int(values.argmax())
            value = float(values[best])
            score = value if output.type == "float32" else output.scale * (value - output.zero_point)
            order = [classes[place] for place in np.argsort(-values.astype(np.float64), kind="stable")]
            return classes[best], score, order.index(label) if label in classes else None
    return "", None, None


def check_going(log: ConsoleLog) -> None:
    """Check that the firmware reported no error.

    Raises:
        N6Error: The firmware's own error if it reported one; N6-RUN-001 if it faulted.
    """
    if log.error:
        raise N6Error(log.error[0], f"the firmware stopped: {log.error[1]}", hint=_FIRMWARE_HINTS.get(log.error[0]))
    if log.fault:
        raise N6Error("N6-RUN-001", f"the firmware faulted: {log.fault}")


def check_appli(log: ConsoleLog) -> None:
    """Check that the FSBL started the newer of two Applis.

    The FSBL may refuse it and start it in the end, as the last resort.

    Raises:
        N6Error: N6-RUN-013 if the FSBL refused it, so that an older Appli ran.
    """
    for slot, (id_, words) in list(log.refused_appli.items())[:1]:
        if slot == log.appli_slot:
            return
        what = f"the board rejects the Appli in slot {'ab'[slot]}, {id_} {words}; slot {'ab'[1 - slot]} runs"
        raise N6Error("N6-RUN-013", what, hint="run scons flash, which programs it again for a new trial")


def check_complete(log: ConsoleLog, count: int) -> None:
    """Check that all requested inferences arrived.

    Args:
        log: The console of the run.
        count: Number of requested inferences.

    Raises:
        N6Error: Errors of `check_going`; N6-RUN-002 if the firmware fell silent; N6-RUN-003 if
            inferences are missing.
    """
    check_going(log)
    if log.done is None:
        raise N6Error("N6-RUN-002", f"the firmware printed nothing after {len(log.inferences)} of {count} inferences")
    if log.done != len(log.inferences) or log.done < count:
        raise N6Error(
            "N6-RUN-003", f"{len(log.inferences)} of {count} inferences arrived, but the firmware counted {log.done}"
        )


# Hints for errors that the firmware reports by id (firmware/fsbl/main.c, firmware/appli).
_FIRMWARE_HINTS = {
    "N6-FW-003": "set nor.mode to spi in board.yaml: it is slow, but needs no change of mode",
    "N6-FW-005": "try clock=hsi-only, which needs no PLL",
    "N6-FW-006": "try clock=hsi, which needs only one PLL",
    "N6-FW-010": "run scons flash to program it",
    "N6-FW-020": "run scons flash to program it",
    "N6-FW-021": "run scons flash to program it again",
    "N6-FW-022": "run scons flash to program the weights of this network",
    "N6-FW-023": "run scons flash to program it again; if that does not help, lower the NOR's clock "
    "(nor.max_clock_hz in board.yaml)",
    "N6-FW-031": "correct the part and its pins in external_ram.psram of board.yaml",
    "N6-FW-033": "lower external_ram.psram.max_clock_hz in board.yaml",
    "N6-FW-056": "read the lines 'n6 model' above for the reason, and run scons flash-model with another model",
    "N6-FW-060": "switch the power off and on again, and check clock and reset of the NPU",
    "N6-FW-061": "use backend=reference, which runs the network on the CPU; run scons field-report to record the "
    "versions of all units",
    "N6-FW-062": "run scons flash to program the Appli again",
    "N6-FW-063": "run scons backend=neural_art ladder to find the feature that fails, or use backend=reference, "
    "which needs no NPU",
    "N6-FW-064": "run scons backend=neural_art ladder to find the feature that fails, or use backend=reference, "
    "which needs no NPU",
    "N6-FW-090": "run scons flash with option trust, which programs a signed image",
    "N6-FW-091": "run scons flash to program it again, if the key is yours",
    "N6-FW-093": "raise its security counter with option trust_counter",
    "N6-FW-095": "run scons flash to program all parts of one release",
    "N6-FW-024": "switch that bank on with RCC MEMENR and RAMCFG SRAMSD, through their secure aliases",
}


def firmware_hint(name: str) -> str | None:
    """Return the next thing to do after an error of the firmware, by its id."""
    return _FIRMWARE_HINTS.get(name)
