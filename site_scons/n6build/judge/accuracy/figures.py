"""Figures of an int8 model against its float model.

They become lines and JUnit, and have limits. NumPy is not needed here, since plans and reports use this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.base.junit import Case, junit
from n6build.describe.quantise import Least

ACCURACY = "accuracy.json"  # file with the figures
NAMED = 5  # tensors inside, the worst ones
_SHOWN = 40
NO_ACCURACY = "this is no accuracy: without labels, nothing says whether a class is right"


@dataclass(frozen=True)
class OutputFigures:
    """Figures of one output.

    Attributes:
        name: Name of the output.
        sqnr_db: Power of the float output over that of the difference, in decibels.
        same: Number of samples whose largest element is the same; None if the output has no classes.
    """

    name: str
    sqnr_db: float
    same: int | None


@dataclass(frozen=True)
class TensorFigures:
    """Figures of a tensor inside the networks.

    Attributes:
        name: Name of the tensor.
        sqnr_db: Power of the float tensor over that of the difference, in decibels.
    """

    name: str
    sqnr_db: float


@dataclass(frozen=True)
class AreaFigures:
    """Figures of an output with a class for each pixel, in percent.

    Attributes:
        name: Name of the output.
        same: Share of the pixels that have the class of the float model.
        labelled: Number of pixels with a label.
        float_iou: Mean IoU (intersection over union) of the float model's areas and those of the labels.
        int8_iou: Mean IoU of the int8 model's areas and those of the labels.
    """

    name: str
    same: float
    labelled: int = 0
    float_iou: float = 0.0
    int8_iou: float = 0.0


@dataclass(frozen=True)
class Accuracy:
    """Figures of an int8 model.

    Attributes:
        count: Number of samples.
        outputs: Figures of each output.
        labelled: Number of samples with a label.
        float_top1: Samples for which the float model is right.
        int8_top1: Samples for which the int8 model is right.
        float_top5: Samples with the right class among the float model's first five.
        int8_top5: Samples with the right class among the int8 model's first five.
        tensors: Figures of the tensors that both models have, the worst one first.
        areas: Figures of the output with a class for each pixel; None if there is none.
    """

    count: int
    outputs: tuple[OutputFigures, ...]
    labelled: int = 0
    float_top1: int = 0
    int8_top1: int = 0
    float_top5: int = 0
    int8_top5: int = 0
    tensors: tuple[TensorFigures, ...] = ()
    areas: AreaFigures | None = None

    @property
    def is_accuracy(self) -> bool:
        """Return whether labels tell which answers are right."""
        return bool(self.labelled or (self.areas and self.areas.labelled))

    @property
    def sqnr_db(self) -> float:
        """Return the decibels of the worst output."""
        return min(each.sqnr_db for each in self.outputs)

    @property
    def shares(self) -> tuple[tuple[str, float, float], ...]:
        """Return name, float and int8 of each figure that needs labels, in percent.

        The main one is the first.
        """
        if self.areas and self.areas.labelled:
            return (("mean IoU", self.areas.float_iou, self.areas.int8_iou),)
        if not self.labelled:
            return ()
        counts = (("top-1", self.float_top1, self.int8_top1), ("top-5", self.float_top5, self.int8_top5))
        return tuple((name, 100 * real / self.labelled, 100 * int8 / self.labelled) for name, real, int8 in counts)

    @property
    def agreement(self) -> tuple[str, float] | None:
        """Return the things with the same class as in float, and their share in percent.

        None if there are no classes.
        """
        if self.areas:
            return "pixels", self.areas.same
        agreed = [each.same for each in self.outputs if each.same is not None]
        return ("samples", 100 * min(agreed) / self.count) if agreed and self.count else None

    @property
    def drop(self) -> float | None:
        """Return the loss in percentage points, None without labels and classes.

        Without labels, it is the share of samples or pixels of another class than the float model's.
        """
        if self.shares:
            _, real, int8 = self.shares[0]
            return real - int8
        return 100 - self.agreement[1] if self.agreement else None


@dataclass(frozen=True)
class Missed:
    """A limit of model.yaml that an int8 model misses, or that cannot be judged.

    Attributes:
        limit: Key of the limit.
        what: The figure and the limit.
        hint: Remedy.
    """

    limit: str
    what: str
    hint: str


def read_accuracy(path: Path) -> Accuracy | None:
    """Read accuracy.json; return None without one of this version of n6build."""
    try:
        return decode_json(read_bytes(path), Accuracy)
    except (N6Error, ValueError):
        return None


def lines_of(figures: Accuracy) -> Iterator[str]:
    """Yield the lines about an int8 model.

    Without labels, the last one is `NO_ACCURACY`.
    """
    ratios = ", ".join(f"{each.sqnr_db:.1f} dB ({each.name})" for each in figures.outputs)
    yield f"SQNR against the float model on {figures.count} samples: {ratios}"
    if figures.tensors:
        yield f"least SQNR of {len(figures.tensors)} tensors inside: {worst_tensors(figures)}"
    if figures.shares:
        yield shares_text(figures)
        return
    agreed = [each.same for each in figures.outputs if each.same is not None]
    if figures.areas:
        yield f"{figures.areas.same:.2f} % of the pixels have the same class as in float"
    elif agreed:
        yield f"{min(agreed)} of {figures.count} samples have the same class as in float"
    yield NO_ACCURACY


def worst_tensors(figures: Accuracy) -> str:
    """Return the tensors inside that lose most."""
    return ", ".join(f"{each.sqnr_db:.1f} dB ({_end(each.name)})" for each in figures.tensors[:NAMED])


def _end(name: str) -> str:
    """Return the end of a long name, which tells layers apart."""
    return name if len(name) <= _SHOWN else f"...{name[3 - _SHOWN :]}"


def shares_text(figures: Accuracy) -> str:
    """Return the figures that need labels.

    Example: 'top-1 91.0 % float, 90.5 % int8; top-5 99.0 % and 99.0 %'.
    """
    first, *others = figures.shares
    text = "{} {:.1f} % float, {:.1f} % int8".format(*first)
    return "; ".join((text, *("{} {:.1f} % and {:.1f} %".format(*each) for each in others)))


def missed_limits(figures: Accuracy, least: Least) -> Iterator[Missed]:
    """Yield the limits of model.yaml that an int8 model misses."""
    worst = min(figures.outputs, key=lambda each: each.sqnr_db)
    if least.sqnr_db is not None and worst.sqnr_db < least.sqnr_db:
        what = f"output '{worst.name}' has {worst.sqnr_db:.1f} dB against the float model, less than {least.sqnr_db:g}"
        inside = f"; least inside: {_end(figures.tensors[0].name)}" if figures.tensors else ""
        hint = f"try another quantise.method, more samples, or exclude the node that suffers most{inside}"
        yield Missed("sqnr_db", what, hint)
    drop = figures.drop
    if least.accuracy_drop is None:
        return
    if drop is None:
        what = "quantise.least.accuracy_drop needs labels, or an output with classes"
        yield Missed("accuracy_drop", what, "add quantise.labels, or set least.sqnr_db instead")
    elif drop > least.accuracy_drop:
        of = "agreement with the float model"
        if figures.shares:
            of = "mean IoU" if figures.areas and figures.areas.labelled else "accuracy"
        what = f"int8 loses {drop:.1f} points of {of}, more than {least.accuracy_drop:g}"
        yield Missed("accuracy_drop", what, "try another quantise.method, or more samples")


def accuracy_junit(name: str, figures: Accuracy, missed: Sequence[Missed]) -> bytes:
    """Return JUnit XML with a test case for the accuracy, and one for each output.

    Args:
        name: Name of the model.
        figures: Figures of its int8 file.
        missed: Limits that it misses.
    """
    failures = {each.limit: each.what for each in missed}
    told = shares_text(figures) if figures.shares else "; ".join(list(lines_of(figures))[-2:])
    cases = [Case(name, "accuracy", 0.0, failures.get("accuracy_drop", ""), told)]
    worst = figures.sqnr_db
    for each in figures.outputs:
        failure = failures.get("sqnr_db", "") if each.sqnr_db == worst else ""
        cases.append(Case(name, f"SQNR of {each.name}", 0.0, failure, f"{each.sqnr_db:.1f} dB"))
    if figures.tensors:
        cases.append(Case(name, "SQNR inside", 0.0, "", worst_tensors(figures)))
    return junit(f"int8 accuracy of {name}", cases)
