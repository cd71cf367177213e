"""Models: any folder with a model.yaml, or a bare .tflite file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from n6build.errors import N6Error, did_you_mean
from n6build.files import read_bytes, sha256
from n6build.paths import MODELS
from n6build.yaml_schema import Document, read_document

TensorType = Literal["int8", "uint8", "float32"]


@dataclass(frozen=True)
class Quality:
    metric: str
    value: float
    on: str


@dataclass(frozen=True)
class NetworkTypes:
    """What the application sees; a model that delivers something else is refused."""

    input_type: TensorType | None = None
    output_type: TensorType | None = None


@dataclass(frozen=True)
class Vectors:
    """inputs, expected: .npy files, one row a vector. expected: the raw outputs of the reference interpreter."""

    inputs: str
    expected: str | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class _ModelFile:
    name: str
    file: str
    sha256: str | None = None
    description: str = ""
    quality: Quality | None = None
    made_by: str | None = None
    network: NetworkTypes = field(default_factory=NetworkTypes)
    result: Literal["classification", "reconstruction", "raw"] = "raw"
    classes: tuple[str, ...] = ()
    vectors: Vectors | None = None


@dataclass(frozen=True)
class Model:
    """description_file: the model.yaml, None for a bare model file. inputs, expected: paths of the test vectors."""

    name: str
    file: Path
    sha256: str | None
    description: str
    quality: Quality | None
    network: NetworkTypes
    result: Literal["classification", "reconstruction", "raw"]
    classes: tuple[str, ...]
    labels: tuple[str, ...]
    inputs: Path | None
    expected: Path | None
    description_file: Path | None


def model_names(folder: Path = MODELS) -> list[str]:
    return sorted(path.parent.name for path in folder.glob("*/model.yaml"))


def load_model(name: str, folder: Path = MODELS, *, relative_to: Path | None = None) -> Model:
    """`name`: of a folder in `folder`, a path of a folder with a model.yaml, or a path of a .tflite file.

    relative_to: where a relative path starts (default: the working directory). Raises N6-MODEL-00x, N6-YAML-00x.
    """
    if (folder / name / "model.yaml").is_file() and "/" not in name:
        return _described(folder / name, f"{folder.name}/{name}/model.yaml")
    path = (relative_to or Path()) / name
    if (path / "model.yaml").is_file():
        return _described(path, f"{name.rstrip('/')}/model.yaml")
    if path.is_file() and path.suffix == ".tflite":
        return _bare(path)
    if path.is_file():
        raise N6Error(
            "N6-MODEL-002",
            f"'{path.suffix}' is no kind of model that is read here",
            where=name,
            hint="give a .tflite file",
        )
    if "/" in name or "." in name:
        raise N6Error(
            "N6-MODEL-001", f"no model file or folder '{name}'", hint="a .tflite file, or a folder with a model.yaml"
        )
    raise N6Error("N6-MODEL-001", f"no model '{name}'", hint=did_you_mean(name, model_names(folder)))


def _bare(path: Path) -> Model:
    # The name becomes that of a folder and a text in C.
    empty = _ModelFile(name=re.sub(r"[^\w.-]", "_", path.stem, flags=re.ASCII), file=path.name)
    return _model(empty, path.parent, None)


def _described(folder: Path, shown_as: str) -> Model:
    document = read_document(folder / "model.yaml", shown_as=shown_as)
    described = document.load(_ModelFile)
    _check(described, folder, document)
    return _model(described, folder, folder / "model.yaml")


def _model(described: _ModelFile, folder: Path, description_file: Path | None) -> Model:
    vectors = described.vectors
    return Model(
        name=described.name,
        file=folder / described.file,
        sha256=described.sha256,
        description=described.description,
        quality=described.quality,
        network=described.network,
        result=described.result,
        classes=described.classes,
        labels=vectors.labels if vectors else (),
        inputs=folder / vectors.inputs if vectors else None,
        expected=folder / vectors.expected if vectors and vectors.expected else None,
        description_file=description_file,
    )


def _check(model: _ModelFile, folder: Path, document: Document) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_][\w.-]*", model.name, flags=re.ASCII):
        hint = "letters, digits, '_', '.' and '-'"
        raise N6Error("N6-MODEL-007", f"'{model.name}' is no name for a model", where=document.where("name"), hint=hint)
    named: dict[tuple[str, ...], str] = {("file",): model.file}
    if model.vectors:
        named[("vectors", "inputs")] = model.vectors.inputs
        if model.vectors.expected:
            named[("vectors", "expected")] = model.vectors.expected
    for keys, file in named.items():
        if not (folder / file).is_file():
            known = [path.name for path in folder.iterdir()]
            raise N6Error(
                "N6-MODEL-003", f"no file '{file}'", where=document.where(*keys), hint=did_you_mean(file, known)
            )
    if model.result == "classification" and not model.classes:
        raise N6Error(
            "N6-MODEL-004",
            "a classification needs its classes",
            where=document.where("result"),
            hint="add the key 'classes'",
        )
    if model.vectors and model.classes:
        for index, label in enumerate(model.vectors.labels):
            if label not in model.classes:
                hint = did_you_mean(label, model.classes)
                where = document.where("vectors", "labels", index)
                raise N6Error("N6-MODEL-005", f"label '{label}' is no class of this model", where=where, hint=hint)


def check_hash(model: Model) -> None:
    """Raises N6-MODEL-006 where the model file is not the one that model.yaml describes."""
    if model.sha256 is None:
        return
    found = sha256(read_bytes(model.file))
    if found != model.sha256:
        raise N6Error(
            "N6-MODEL-006",
            f"is not the file that model.yaml describes (sha256 {model.sha256[:12]}...)",
            where=model.file.name,
            hint=f"if it was trained again, write sha256: {found}",
        )
