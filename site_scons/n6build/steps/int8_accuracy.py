"""Step for accuracy.json: how near an int8 model is to its float model.

A limit of model.yaml that is missed ends the build here, before anything is programmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, to_json, write_atomically
from n6build.base.paths import project_path
from n6build.describe.model import Model
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Least, Quantise
from n6build.describe.sample_files import sample_files
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.steps.compiled_network import ACCURACY

if TYPE_CHECKING:
    from n6build.judge.accuracy.measure import Accuracy


_NAMED = 5  # tensors inside, the worst ones
_SHOWN = 40


@dataclass(frozen=True)
class Int8AccuracyParameters:
    """Parameters of the step.

    Its sources are both models, the labels if there are any, and the inputs.

    Attributes:
        name: Name of the model.
        classes: Names of the classes.
        has_labels: The third source has labels.
        by_folder: Folders of the inputs name their classes.
        settings: Settings of stage 0.
        preprocess: Pre-processing of pictures, sounds and tables.
    """

    name: str
    classes: tuple[str, ...]
    has_labels: bool
    by_folder: bool
    settings: Quantise
    preprocess: Preprocess


def accuracy_step(model: Model, settings: Quantise, samples: Sequence[Path], processor: Tool) -> Step:
    """Return the step that measures an int8 model.

    Args:
        model: Model with both files.
        settings: Settings of stage 0.
        samples: Files with samples.
        processor: Class of the processor, on which the float model's last bits depend.
    """
    assert model.file and model.float_file
    labels = (project_path(model.labels_file),) if model.labels_file else ()
    files = sample_files(model.dataset) if model.dataset else samples
    root = (model.dataset or model.samples or Path()).absolute()
    by_folder = not labels and all(each.absolute().parent.parent == root for each in files)
    parameters = Int8AccuracyParameters(model.name, model.classes, bool(labels), by_folder, settings, model.preprocess)
    return Step(
        verb="Accuracy",
        stage="network",
        outputs=(f"{project_path(model.file.parent)}/{ACCURACY}",),
        sources=(project_path(model.float_file), project_path(model.file), *labels, *map(project_path, files)),
        parameters=to_parameters(parameters),
        function="n6build.steps.int8_accuracy:make_int8_accuracy",
        tools=(processor,),
    )


def make_int8_accuracy(call: Call) -> None:
    """Measure the int8 model on the samples.

    Raises:
        N6Error: N6-QUANT-013 if it misses a limit; N6-QUANT-005 to N6-QUANT-012.
    """
    from n6build.compile.quantise.process import answer_of  # noqa: PLC0415 - planning measures nothing.
    from n6build.judge.accuracy import worker  # noqa: PLC0415
    from n6build.judge.accuracy.jobs import AccuracyJob  # noqa: PLC0415
    from n6build.judge.accuracy.measure import Accuracy  # noqa: PLC0415

    given = call.parameters_as(Int8AccuracyParameters)
    for path in call.sources:
        digest_of(path)
    real, int8, *others = call.sources
    labels = str(others.pop(0)) if given.has_labels else ""
    names = tuple(map(str, others))
    job = AccuracyJob(
        str(real), str(int8), names, labels, given.classes, given.settings, given.preprocess, given.by_folder
    )
    figures, _ = answer_of(worker.__name__, job, Accuracy, real.name)
    for subject, detail, style in lines_of(figures, given.name):
        say("Accuracy", subject, detail, style)
    _check(figures, given.settings.least, int8)
    write_atomically(call.outputs[0], to_json(asdict(figures)))


def lines_of(figures: Accuracy, name: str) -> list[tuple[str, str, str]]:
    """Return subject, detail and style of each line about an int8 model."""
    count = figures.count
    ratios = ", ".join(f"{each.sqnr_db:.1f} dB ({each.name})" for each in figures.outputs)
    lines = [(name, f"SQNR against the float model on {count} samples: {ratios}", "")]
    if figures.tensors:
        worst = ", ".join(f"{each.sqnr_db:.1f} dB ({each.name[:_SHOWN]})" for each in figures.tensors[:_NAMED])
        lines.append((name, f"least SQNR of {len(figures.tensors)} tensors inside: {worst}", ""))
    if figures.labelled:
        one, other = (100 * each / figures.labelled for each in (figures.float_top1, figures.int8_top1))
        text = f"top-1 {one:.1f} % float, {other:.1f} % int8"
        one, other = (100 * each / figures.labelled for each in (figures.float_top5, figures.int8_top5))
        return [*lines, (name, f"{text}; top-5 {one:.1f} % and {other:.1f} %", "")]
    agreed = [each.same for each in figures.outputs if each.same is not None]
    if agreed:
        lines.append((name, f"{min(agreed)} of {count} samples have the same class as in float", ""))
    return [*lines, (name, "this is no accuracy: without labels, nothing says whether a class is right", "bad")]


def _check(figures: Accuracy, least: Least, int8: Path) -> None:
    """Compare the figures with the limits of model.yaml.

    Raises:
        N6Error: N6-QUANT-013 if a limit is missed, or cannot be judged.
    """
    worst = min(figures.outputs, key=lambda each: each.sqnr_db)
    if least.sqnr_db is not None and worst.sqnr_db < least.sqnr_db:
        what = f"output '{worst.name}' has {worst.sqnr_db:.1f} dB against the float model, less than {least.sqnr_db:g}"
        inside = f"; least inside: {figures.tensors[0].name[:_SHOWN]}" if figures.tensors else ""
        hint = f"try another quantise.method, more samples, or exclude the node that suffers most{inside}"
        raise N6Error("N6-QUANT-013", what, where=int8.name, hint=hint)
    if least.accuracy_drop is None:
        return
    drop = figures.drop
    if drop is None:
        what = "quantise.least.accuracy_drop needs labels, or an output with classes"
        raise N6Error("N6-QUANT-013", what, where=int8.name, hint="add quantise.labels, or set least.sqnr_db instead")
    if drop > least.accuracy_drop:
        of = "accuracy" if figures.labelled else "agreement with the float model"
        what = f"int8 loses {drop:.1f} points of {of}, more than {least.accuracy_drop:g}"
        raise N6Error("N6-QUANT-013", what, where=int8.name, hint="try another quantise.method, or more samples")
