"""Step for accuracy.json and accuracy.xml of an int8 model.

A limit of model.yaml that is missed ends the build here, before anything is programmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, is_folder, to_json, write_atomically
from n6build.base.paths import project_path
from n6build.base.same_fields import with_fields_of
from n6build.describe.model import Model
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise
from n6build.describe.sample_files import sample_files
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.judge.accuracy.figures import ACCURACY, NO_ACCURACY, Accuracy, accuracy_junit, lines_of, missed_limits


@dataclass(frozen=True)
class Int8AccuracyParameters:
    """Parameters of the step.

    Its sources are both models, the files with labels, and the inputs.

    Attributes:
        name: Name of the model.
        classes: Names of the classes.
        labels: Number of files with labels.
        by_folder: Folders of the inputs name their classes.
        settings: Settings of stage 0.
        preprocess: Pre-processing of pictures, sounds and tables.
        postprocess: Decoder of the outputs, or None.
    """

    name: str
    classes: tuple[str, ...]
    labels: int
    by_folder: bool
    settings: Quantise
    preprocess: Preprocess
    postprocess: Postprocess | None


def accuracy_step(model: Model, settings: Quantise, samples: Sequence[Path], processor: Tool) -> Step:
    """Return the step that measures an int8 model.

    Args:
        model: Model with both files.
        settings: Settings of stage 0.
        samples: Files with samples.
        processor: Class of the processor, on which the float model's last bits depend.
    """
    assert model.file and model.float_file
    labels = label_files(model.labels_file)
    files = sample_files(model.dataset) if model.dataset else samples
    root = (model.dataset or model.samples or Path()).absolute()
    by_folder = not labels and all(each.absolute().parent.parent == root for each in files)
    parameters = Int8AccuracyParameters(
        model.name, model.classes, len(labels), by_folder, settings, model.preprocess, model.postprocess
    )
    accuracy = f"{project_path(model.file.parent)}/{ACCURACY}"
    report = str(Path(accuracy).with_suffix(".xml"))
    models = project_path(model.float_file), project_path(model.file)
    return Step(
        verb="Accuracy",
        stage="network",
        outputs=(accuracy, report),
        sources=(*models, *map(project_path, (*labels, *files))),
        parameters=to_parameters(parameters),
        function="n6build.steps.int8_accuracy:make_int8_accuracy",
        tools=(processor,),
        kept=(report,),
    )


def label_files(path: Path | None) -> tuple[Path, ...]:
    """Return the file with labels, the pictures of a folder, or nothing.

    Raises:
        N6Error: N6-QUANT-005 for a folder without pictures; N6-QUANT-011.
    """
    if path is None:
        return ()
    return sample_files(path) if is_folder(path) else (path,)


def make_int8_accuracy(call: Call) -> None:
    """Measure the int8 model on the samples.

    Raises:
        N6Error: N6-QUANT-013 if it misses a limit; N6-QUANT-005 to N6-QUANT-012.
    """
    from n6build.compile.quantise.process import answer_of  # noqa: PLC0415 - planning measures nothing.
    from n6build.judge.accuracy import worker  # noqa: PLC0415
    from n6build.judge.accuracy.jobs import AccuracyJob  # noqa: PLC0415

    given = call.parameters_as(Int8AccuracyParameters)
    for path in call.sources:
        digest_of(path)
    real, int8, *others = call.sources
    files = tuple(map(str, others))
    job = with_fields_of(
        AccuracyJob,
        given,
        float_model=str(real),
        int8_model=str(int8),
        samples=files[given.labels :],
        labels=files[: given.labels],
    )
    figures, _ = answer_of(worker.__name__, job, Accuracy, real.name)
    for line in lines_of(figures):
        say("Accuracy", given.name, line, "bad" if line == NO_ACCURACY else "")
    missed = list(missed_limits(figures, given.settings.least))
    write_atomically(call.outputs[1], accuracy_junit(given.name, figures, missed))
    for each in missed:
        raise N6Error("N6-QUANT-013", each.what, where=int8.name, hint=each.hint)
    write_atomically(call.outputs[0], to_json(asdict(figures)))
