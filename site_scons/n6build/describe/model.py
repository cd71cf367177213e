"""Models: a folder with a model.yaml, a bare model file, or a compiled network."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import files_in, is_file, is_folder
from n6build.base.paths import MODELS, own_folder
from n6build.base.same_fields import with_fields_of
from n6build.base.yaml_schema import Document, FileName, OtherKeys, Range, Section, Size, read_document
from n6build.describe.application import Application, check_application
from n6build.describe.backend_names import backend_names
from n6build.describe.compiled_folder import folders_with_networks, holds_network
from n6build.describe.compiled_from import Origin, origin_of
from n6build.describe.folder_name import RESERVED, folder_name, is_folder_name
from n6build.describe.nearest_paths import nearest_paths
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise
from n6build.describe.relocatable_file import is_relocatable
from n6build.describe.tensorflow_models import refuse_tensorflow

TensorType = Literal["int8", "uint8", "float32"]
MODEL_SUFFIXES = (".tflite", ".onnx")
_MOST_NAMED = 4  # networks in a hint
_MAY_BE_FOLDERS = tuple(("quantise", key) for key in ("samples", "dataset", "labels"))
Share = Annotated[float, Range(0, 1)]
Cosine = Annotated[float, Range(-1, 1)]


@dataclass(frozen=True)
class Quality:
    """A measured result.
    metric: Name of the measured quantity. value: Its value. on: Data that it was measured on."""

    metric: str
    value: float
    on: str


@dataclass(frozen=True)
class NetworkChoices:
    """The way from a model to a network.
    backend: auto, or the name of a backend. name: Name of the network's files and symbols; by default `network`, or that of
    the compiled network in the folder. folder: Folder of a network that was compiled elsewhere. input_type, output_type: Type
    that the application expects; checked. pools: Sizes of memory pools in bytes, instead of those of the profile. backends:
    Options of backends, by the backend's name."""

    backend: str = "auto"
    name: str | None = None
    folder: FileName | None = None
    input_type: TensorType | None = None
    output_type: TensorType | None = None
    pools: dict[str, Size] = field(default_factory=dict)
    backends: Annotated[dict[str, Section], OtherKeys()] = field(default_factory=dict)


@dataclass(frozen=True)
class Checks:
    """Waived checks of a model.
    waive: Id of a check -> the reason why its finding is accepted for this model."""

    waive: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Vectors:
    """Test vectors.
    inputs: .npy file with one row per vector. expected: .npy file with the raw outputs of the reference interpreter; without
    it, the build runs the interpreter. labels: Right class of each vector."""

    inputs: FileName
    expected: FileName | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """The reference for results, if vectors.expected is not stored.
    model: File (.tflite, .onnx) for the reference interpreter, instead of the model's own. waive: Reason why nothing is
    compared."""

    model: FileName | None = None
    waive: str = ""


@dataclass(frozen=True)
class EpochTolerance:
    """Least shares (0 to 1) of elements of an epoch with the reference's inputs.
    The option `epochs=1` gives epochs these inputs. equal: Share of elements equal to the reference. within_1: Share of
    elements at most one step away."""

    equal: Share = 0.98
    within_1: Share = 0.999


@dataclass(frozen=True)
class Tolerance:
    """The permitted distance of outputs from the reference, with epochs on the NPU.
    The NPU rounds three times where the reference rounds once. cosine: Least cosine of each output. top1: The class has to be
    the same. epoch: Tolerance of single epochs, in place of the bounds that their constants give."""

    cosine: Cosine = 0.99
    top1: bool = True
    epoch: EpochTolerance | None = None


@dataclass(frozen=True)
class ModelFile:
    """The content of model.yaml; `Model` is the form that a build uses.

    Attributes:
        name: Name of the build folder, and of the model on the console.
        file: Model file in this folder: .tflite, .onnx, or a relocatable model (network_rel.bin) of any tool.
        sha256: SHA-256 of the file in hex; a file with another one is refused. With `quantise`, of the int8 file.
        quantise: How a float model becomes an int8 one.
        preprocess: How pictures, sounds and tables become inputs.
        postprocess: How outputs become boxes, points, classes or areas.
        description: A line for `scons models`.
        quality: A measured result, for `scons models` and for the reader.
        made_by: Script that trained the model; for the reader.
        network: How the model becomes a network.
        checks: Findings that are accepted.
        application: The program around the network; makes app_config.h and app_buffers.h.
        result: Kind of output, which decides how a run shows it.
        classes: Names of the outputs of a classification, in their order.
        vectors: Test vectors.
        reference: Reference that a run is compared with.
        tolerance: How far a network with epochs on the NPU may be from the reference; without it, its keys have their defaults.
    """

    name: str
    file: FileName | None = None
    sha256: str | None = None
    description: str = ""
    quality: Quality | None = None
    made_by: str | None = None
    quantise: Quantise | None = None
    preprocess: Preprocess = field(default_factory=Preprocess)
    postprocess: Postprocess | None = None
    network: NetworkChoices = field(default_factory=NetworkChoices)
    checks: Checks = field(default_factory=Checks)
    application: Application | None = None
    result: Literal["classification", "reconstruction", "raw"] = "raw"
    classes: tuple[str, ...] = ()
    vectors: Vectors | None = None
    reference: Reference = field(default_factory=Reference)
    tolerance: Tolerance | None = None


@dataclass(frozen=True)
class Model:
    """A model as a build uses it.
    file: Model file; None for a network compiled elsewhere without its model: as sources (folder `prebuilt`) or as a
    relocatable model (file `relocatable`). inputs, expected: Paths of the test vectors. waived: Ids of checks with reasons.
    description_file: The model.yaml, None for a bare model file or folder. reference: Model that the reference interpreter
    runs; None without one, or if nothing is compared. not_compared: Reason why nothing is compared. tolerance: None if
    model.yaml names none. quantise: Settings of stage 0, None if the file is not quantised here. float_file: Float model that
    `file` is made from. samples, dataset, labels_file: Its samples."""

    name: str
    file: Path | None
    prebuilt: Path | None
    sha256: str | None
    description: str
    quality: Quality | None
    network: NetworkChoices
    waived: dict[str, str]
    application: Application | None
    result: Literal["classification", "reconstruction", "raw"]
    classes: tuple[str, ...]
    labels: tuple[str, ...]
    inputs: Path | None
    expected: Path | None
    description_file: Path | None
    reference: Path | None
    not_compared: str
    tolerance: Tolerance | None
    relocatable: Path | None = None
    quantise: Quantise | None = None
    float_file: Path | None = None
    samples: Path | None = None
    dataset: Path | None = None
    labels_file: Path | None = None
    preprocess: Preprocess = field(default_factory=Preprocess)
    postprocess: Postprocess | None = None


def model_names(folder: Path = MODELS) -> list[str]:
    """Return the sorted names of the subfolders with a model.yaml."""
    return [path.name for path in files_in(folder) if is_file(path / "model.yaml")]


def known_models() -> list[str]:
    """Return the sorted names of the project's own models and of n6build's models."""
    return sorted({*model_names(own_folder(MODELS)), *model_names()})


def models_folder(name: str) -> Path:
    """Return the folder of a model: the project's own models/, or else n6build's."""
    own = own_folder(MODELS)
    return own if "/" not in name and is_file(own / name / "model.yaml") else MODELS


def load_model(name: str, folder: Path = MODELS, *, relative_to: Path | None = None) -> Model:
    """Load a model.

    Args:
        name: Name of a folder in `folder`, or a path: a folder with a model.yaml, a .tflite or .onnx file, a folder with a
            compiled network, network.c itself if a folder has several, or a relocatable model (network_rel.bin).
        folder: Folder with named models.
        relative_to: Start of a relative path (default: the working directory).
    Raises:
        N6Error: N6-MODEL-001, N6-MODEL-002 for another format; N6-MODEL-00x, N6-YAML-00x, N6-APP-00x for a faulty model.yaml.
    """
    if "/" not in name and is_file(folder / name / "model.yaml"):
        return _described(folder / name, f"{folder.name}/{name}/model.yaml")
    start = relative_to or Path()
    path = start / name
    if is_file(path / "model.yaml"):
        return _described(path, f"{name.rstrip('/')}/model.yaml")
    refuse_tensorflow(path, name)
    if is_file(path):
        return _of_file(path, name)
    if is_folder(path) and holds_network(path):
        return _bare_network(path, path.resolve().name, None)
    if is_folder(path) or "/" in name or "." in name:
        what = f"no model in folder '{name}'" if is_folder(path) else f"no model file or folder '{name}'"
        hint = "pass a .tflite or .onnx file, a network_rel.bin, or a folder with a model.yaml, network.c or od.c"
        raise N6Error("N6-MODEL-001", what, hint=_like(name, start) or _below(name, start) or hint)
    raise N6Error("N6-MODEL-001", f"no model '{name}'", hint=did_you_mean(name, model_names(folder)))


def _of_file(path: Path, name: str) -> Model:
    """Return the model in a file; `name` is the path as the caller gave it."""
    if path.suffix in MODEL_SUFFIXES or is_relocatable(path):
        return _bare(path)
    if path.suffix != ".c":
        hint = "pass a .tflite or .onnx file, the network.c of a compiled network, or a network_rel.bin"
        raise N6Error("N6-MODEL-002", f"'{path.suffix}' is not a supported model format", where=name, hint=hint)
    return _bare_network(path.parent, path.stem, path.stem)


def _below(name: str, start: Path) -> str:
    """Return a hint that names compiled networks below a folder, such as Model/NAME."""
    below = [path.relative_to(start / name) for path in folders_with_networks(start / name)[:_MOST_NAMED]]
    found = [repr(str(Path(name) / path)) for path in below]
    return f"use a compiled network in one of its folders: model={' or model='.join(found)}" if found else ""


def _like(name: str, start: Path) -> str:
    """Return a hint with the nearest existing paths."""
    found = [repr(path) for path in nearest_paths(name, start)]
    return f"did you mean {' or '.join(found)}?" if found else ""


def _bare(path: Path) -> Model:
    return _model(ModelFile(name=folder_name(path.stem), file=path.name), path.parent, None)


def _bare_network(folder: Path, name: str, network: str | None) -> Model:
    """Return a model without model.yaml; `network` is None for the only one."""
    choices = NetworkChoices(folder=".", name=network)
    return _model(ModelFile(name=folder_name(name), network=choices), folder, None)


def _described(folder: Path, shown_as: str) -> Model:
    document = read_document(folder / "model.yaml", shown_as=shown_as)
    described = document.load(ModelFile)
    _check(described, folder, document)
    return _model(described, folder, folder / "model.yaml")


def _model(described: ModelFile, folder: Path, description_file: Path | None) -> Model:
    vectors, quantise = described.vectors, described.quantise
    file = _in_folder(folder, described.file)
    relocatable = file if file and is_relocatable(file) else None
    prebuilt = _in_folder(folder, described.network.folder)
    origin = origin_of(prebuilt, described.network.name, MODEL_SUFFIXES) if prebuilt and not file else Origin(file)
    return with_fields_of(
        Model,
        described,
        file=None if relocatable else origin.file,
        prebuilt=prebuilt,
        waived=described.checks.waive,
        labels=vectors.labels if vectors else (),
        inputs=folder / vectors.inputs if vectors else None,
        expected=_in_folder(folder, vectors.expected) if vectors else None,
        description_file=description_file,
        reference=_reference(described, folder, None if relocatable else origin.file),
        not_compared=described.reference.waive.strip() or ("" if described.reference.model else origin.why_not),
        relocatable=relocatable,
        samples=_in_folder(folder, quantise.samples) if quantise else None,
        dataset=_in_folder(folder, quantise.dataset) if quantise else None,
        labels_file=_in_folder(folder, quantise.labels) if quantise else None,
    )


def _in_folder(folder: Path, file: str | None) -> Path | None:
    """Return the path of a file or folder, or None if model.yaml names none."""
    return folder / file if file else None


def _reference(described: ModelFile, folder: Path, file: Path | None) -> Path | None:
    """Return the model of the reference interpreter; `file` is None if it is linked."""
    named = _in_folder(folder, described.reference.model) or file
    return named if named and not described.reference.waive and named.suffix in MODEL_SUFFIXES else None


def _check(model: ModelFile, folder: Path, document: Document) -> None:
    if not is_folder_name(model.name):
        hint = f"use up to 80 letters, digits, '_', '.' and '-', but not {', '.join(sorted(RESERVED))}"
        what = f"'{model.name}' is not a valid name for a model"
        raise N6Error("N6-MODEL-007", what, where=document.where("name"), hint=hint)
    _check_files(model, folder, document)
    _check_network(model, folder, document)
    _check_reference(model, document)
    for id, reason in model.checks.waive.items():
        if not reason.strip():
            raise N6Error("N6-MODEL-009", "a waived check needs a reason", where=document.where("checks", "waive", id))
    if model.application:
        check_application(model.application, document)
    _check_classes(model, document)


def _check_files(model: ModelFile, folder: Path, document: Document) -> None:
    named: dict[tuple[str, ...], str] = {}
    if model.file:
        named[("file",)] = model.file
    elif not model.network.folder:
        hint = "add 'file' with the model file, or network.folder with a compiled network"
        raise N6Error("N6-MODEL-008", "key 'file' is missing", where=document.where(), hint=hint)
    if model.reference.model:
        named[("reference", "model")] = model.reference.model
    if model.vectors:
        named[("vectors", "inputs")] = model.vectors.inputs
        if model.vectors.expected:
            named[("vectors", "expected")] = model.vectors.expected
    for key in ("samples", "dataset", "labels"):
        if model.quantise and (file := getattr(model.quantise, key)):
            named[("quantise", key)] = file
    for keys, file in named.items():
        if not (is_file(folder / file) or (keys in _MAY_BE_FOLDERS and is_folder(folder / file))):
            hint = did_you_mean(file, [path.name for path in files_in(folder)])
            raise N6Error("N6-MODEL-003", f"no file '{file}'", where=document.where(*keys), hint=hint)


def _check_reference(model: ModelFile, document: Document) -> None:
    reference = model.reference
    where = document.where("reference", "model")
    if reference.model and not reference.model.endswith(MODEL_SUFFIXES):
        hint = "name a .tflite or .onnx file"
        raise N6Error("N6-MODEL-011", f"no interpreter supports '{reference.model}'", where=where, hint=hint)
    if reference.model and reference.waive:
        what = "reference.model and reference.waive exclude each other"
        raise N6Error("N6-MODEL-011", what, where=where, hint="omit reference.waive")


def _check_network(model: ModelFile, folder: Path, document: Document) -> None:
    network = model.network
    if network.name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", network.name):
        what = f"'{network.name}' is not a valid name for a network: a C identifier"
        raise N6Error("N6-MODEL-007", what, where=document.where("network", "name"))
    if network.folder and not is_folder(folder / network.folder):
        raise N6Error("N6-MODEL-003", f"no folder '{network.folder}'", where=document.where("network", "folder"))
    known = backend_names()
    if network.backend not in ("auto", *known):
        hint = did_you_mean(network.backend, ("auto", *known))
        where = document.where("network", "backend")
        raise N6Error("N6-MODEL-010", f"no backend '{network.backend}'", where=where, hint=hint)
    for key in network.backends:
        if key not in known:
            hint = did_you_mean(key, [*(each.name for each in fields(NetworkChoices)), *known])
            raise N6Error("N6-YAML-003", f"unknown key '{key}'", where=document.where("network", key), hint=hint)


def _check_classes(model: ModelFile, document: Document) -> None:
    if model.result == "classification" and not model.classes:
        what = "a classification needs the names of its classes"
        raise N6Error("N6-MODEL-004", what, where=document.where("result"), hint="add the key 'classes'")
    if model.vectors and model.classes:
        for index, label in enumerate(model.vectors.labels):
            if label not in model.classes:
                hint = did_you_mean(label, model.classes)
                where = document.where("vectors", "labels", index)
                raise N6Error("N6-MODEL-005", f"label '{label}' is not a class of this model", where=where, hint=hint)
