"""Step for the inputs of a run that are pictures, sounds, tables or a dataset.

They get the same pre-processing as samples of stage 0.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, is_file, to_json, write_atomically
from n6build.base.npy import npy_of
from n6build.base.paths import project_path
from n6build.base.size_text import counted
from n6build.describe.choices import Choices
from n6build.describe.model import Model
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import MOST
from n6build.describe.sample_files import ANNOTATIONS, PICTURES, classes_of, is_media, sample_files, spread
from n6build.engine.step import Call, Step, to_parameters
from n6build.steps.compiled_network import NetworkFiles, NetworkSteps
from n6build.steps.int8_accuracy import label_files

if TYPE_CHECKING:
    from n6build.compile.quantise.samples import Samples


@dataclass(frozen=True)
class GivenInputsParameters(NetworkFiles):
    """Parameters of the step.

    Attributes:
        files: Number of files with inputs, which are the first sources.
        preprocess: Pre-processing of them.
        most: Number of inputs, spread evenly over all.
        classes: Names of the classes.
        folders: Right class of each input, which its folder names; empty if it is unknown.
        labelled: Names of all files that the next source, a file of labels, describes; None without such a file.
    """

    files: int
    preprocess: Preprocess
    most: int
    classes: tuple[str, ...]
    folders: tuple[str, ...]
    labelled: tuple[str, ...] | None


@dataclass(frozen=True)
class GivenInputs:
    """Inputs of a run.

    Attributes:
        file: File with a row for each input; empty for the model's own.
        labels: File with the right class of each row, which is an empty list if it is unknown.
        steps: Step that makes these two files of pictures, sounds, tables or arrays.
        pictures: Pictures of the rows; empty for inputs of other kinds.
        areas: Pictures with the right class of each pixel of these pictures, or empty.
        boxes: File with the right boxes of these pictures, or empty.
    """

    file: str
    labels: str = ""
    steps: tuple[Step, ...] = ()
    pictures: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    boxes: str = ""


def given_inputs(folder: str, network: NetworkSteps, choices: Choices) -> GivenInputs:
    """Return the inputs that the options name.

    These are an array of option inputs, other files of option inputs, or option dataset.

    Args:
        folder: Folder of the application.
        network: Network that runs on the inputs.
        choices: Choices of the command line.

    Raises:
        N6Error: N6-QUANT-005 if there are no inputs in a known format; N6-QUANT-011.
    """
    inputs = Path(choices.inputs or choices.dataset)
    if not (is_media(inputs) if choices.inputs else choices.dataset):
        return GivenInputs(choices.inputs)
    model, most = network.model, choices.most or MOST
    every = sample_files(inputs)
    files = spread(every, most)
    classes, areas = ((), ()) if choices.inputs else _right_classes(model)
    parameters = GivenInputsParameters(
        network.name,
        network.folder,
        network.weights,
        len(files),
        model.preprocess,
        most,
        model.classes,
        () if classes or areas else classes_of(files, inputs, model.classes),
        tuple(file.name for file in every) if classes else None,
    )
    step = Step(
        verb="Inputs",
        stage="run",
        outputs=(f"{folder}/inputs/given.npy", f"{folder}/inputs/labels.json"),
        sources=tuple(dict.fromkeys((*map(project_path, (*files, *classes)), *network.described))),
        parameters=to_parameters(parameters),
        function="n6build.steps.given_inputs:make_given_inputs",
    )
    given = GivenInputs(step.name, step.outputs[1], (step,))
    if any(file.suffix.lower() not in PICTURES for file in files):
        return given
    names = {file.stem for file in files}
    return replace(
        given,
        pictures=tuple(map(project_path, files)),
        areas=tuple(project_path(file) for file in areas if file.stem in names),
        boxes=_labelled_boxes(inputs) if model.postprocess else "",
    )


def _right_classes(model: Model) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return the files with the right classes of a dataset.

    Returns:
        The file with the class of each row, and the pictures with the class of each pixel. At most one of both exists.
    """
    labels = label_files(model.labels_file)
    if labels and labels[0] != model.labels_file:
        return (), labels
    return labels if model.classes else (), ()


def _labelled_boxes(folder: Path) -> str:
    """Return the path of a folder's labelled boxes, or an empty text.

    Raises:
        N6Error: N6-QUANT-011 if the package that compares boxes is not installed.
    """
    path = folder / ANNOTATIONS
    if not is_file(path):
        return ""
    if importlib.util.find_spec("pycocotools") is None:
        what = "package pycocotools, which compares boxes, is not installed"
        hint = "install it with pip install 'n6build[boxes]', or remove this file"
        raise N6Error("N6-QUANT-011", what, where=project_path(path), hint=hint)
    return project_path(path)


def make_given_inputs(call: Call) -> None:
    """Write a row for each input, in the network's type, and the class of each row.

    Raises:
        N6Error: N6-QUANT-005 or N6-QUANT-014 for a file that is no input; N6-QUANT-012 for labels that do not fit.
    """
    import numpy as np  # noqa: PLC0415 - planning reads no inputs.

    from n6build.compile.quantise.float_model import Input  # noqa: PLC0415
    from n6build.compile.quantise.media import is_array, open_media  # noqa: PLC0415
    from n6build.compile.quantise.samples import as_stored, fitted, open_samples  # noqa: PLC0415

    given = call.parameters_as(GivenInputsParameters)
    files = list(call.sources[: given.files])
    for file in files:
        digest_of(file)
    ports = given.artifacts().inputs
    if len(ports) != 1:
        what = f"the network has {len(ports)} inputs, but a file has one"
        raise N6Error("N6-QUANT-005", what, where=files[0].name, hint="give inputs= as a .npy file with a row for each")
    (port,) = ports
    taken = [Input(port.name, port.shape, "float32")]
    found = open_samples(files, taken) if is_array(files[0]) else open_media(files, taken, given.preprocess)
    rows = [
        as_stored(fitted(found, number, taken)[port.name], port.type, port.scale, port.zero_point)
        for number in found.spread(given.most)
    ]
    write_atomically(call.outputs[0], npy_of(np.stack(rows)))
    write_atomically(call.outputs[1], to_json(classes_of_rows(given, call.sources, found)))
    say("Inputs", found.name, f"{counted(len(rows), 'row')} for {given.name}, {port.type}")


def classes_of_rows(given: GivenInputsParameters, sources: Sequence[Path], found: Samples) -> list[str]:
    """Return the right class of each row; an empty list if it is unknown.

    Args:
        given: Parameters of the step.
        sources: Its sources, with the file of labels behind the inputs.
        found: The inputs.

    Raises:
        N6Error: N6-QUANT-012 for labels that do not fit.
    """
    if given.labelled is None:
        return list(given.folders)
    from n6build.judge.accuracy.areas import has_pixel_labels  # noqa: PLC0415 - it needs NumPy, and planning does not.
    from n6build.judge.accuracy.labels import read_labels  # noqa: PLC0415

    if has_pixel_labels([sources[given.files]]):
        return []
    # Of several files, those that were left out have labels as well; a file alone has a row for each label.
    alone = len(given.labelled) == 1
    names = [found.names(number) for number in range(found.count)] if alone else given.labelled
    labels = read_labels(sources[given.files], given.classes, names, len(given.classes))
    return [given.classes[label] for label in spread(labels, given.most)]
