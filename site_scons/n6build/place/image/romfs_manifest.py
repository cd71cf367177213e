"""The description of romfs partitions, in the form of OpenMV's romfs_config.json."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.files import files_in, is_file, is_folder, read_part
from n6build.base.yaml_schema import Document, Range, Size, read_document
from n6build.describe.model import MODEL_SUFFIXES
from n6build.describe.relocatable_file import NBIN
from n6build.place.image.romfs import MAX_ALIGNMENT

DEFAULT_PROFILE = "default"
# A loader needs a model at a multiple of 4, and pools should be aligned to cache lines.
_MODEL_ALIGNMENT = 32
_FILE_ALIGNMENT = 4


@dataclass(frozen=True)
class _Entry:
    """An entry as OpenMV writes it.

    Attributes:
        stages: Number of stages of a Haar cascade; 0 for all.
        optimize: Option of a compiler for other chips; not used here.
    """

    type: Literal["tflite", "onnx", "txt", "bin", "file", "haar"]
    path: str
    alignment: Annotated[int, Range(1, MAX_ALIGNMENT)] | None = None
    profile: str = DEFAULT_PROFILE
    enabled: bool = True
    stages: int | None = None
    optimize: str | None = None


@dataclass(frozen=True)
class _Partition:
    size: Size
    entries: tuple[_Entry, ...]


@dataclass(frozen=True)
class RomfsEntry:
    """A file of the image.

    Attributes:
        path: Source file.
        name: Name in the image.
        alignment: Alignment of the content in the image, in bytes.
        kind: A 'model' becomes a relocatable model, a 'cascade' is converted, a 'file' stays unchanged.
        where: Place in the description.
        profile: Memory profile of a model.
        stages: Number of stages of a cascade; 0 for all.
    """

    path: Path
    name: str
    alignment: int
    kind: Literal["model", "cascade", "file"]
    where: str
    profile: str = ""
    stages: int = 0


@dataclass(frozen=True)
class RomfsPartition:
    """A partition with its entries.

    Attributes:
        number: Number of the partition.
        size: Bytes that the image may take.
        entries: Files of the image.
    """

    number: str
    size: int
    entries: tuple[RomfsEntry, ...]


def read_manifest(path: Path, build: Path) -> tuple[RomfsPartition, ...]:
    """Read the description of romfs partitions.

    A model is followed by its labels, a file with its name and the suffix .txt.

    Args:
        path: Description, whose place also decides the value of {TOP} (`top_of`).
        build: Value of {BUILD}.

    Raises:
        N6Error: N6-YAML-00x if the description is invalid; N6-ROMFS-003 if a file does not exist;
            N6-ROMFS-004 if n6build does not support an entry.
    """
    document = read_document(path)
    partitions = document.load(dict[str, _Partition])
    patterns = [entry.path for partition in partitions.values() for entry in partition.entries if entry.enabled]
    variables = {"TOP": str(top_of(path.absolute().parent, patterns)), "BUILD": str(build.absolute())}
    return tuple(
        RomfsPartition(number, partition.size, tuple(_entries(document, number, partition, path.parent, variables)))
        for number, partition in partitions.items()
    )


def top_of(folder: Path, patterns: Sequence[str]) -> Path:
    """Return the value of {TOP}, the tree that the description belongs to.

    It is the nearest folder above the description that has all folders in the patterns, such as
    `lib/models` of OpenMV's sources. Otherwise it is the working directory if it has them, for a copied
    description. Otherwise it is the description's folder.

    Args:
        folder: Folder of the description, absolute.
        patterns: Paths of its entries.
    """
    named = {_folder_of(pattern.removeprefix("{TOP}/")) for pattern in patterns if pattern.startswith("{TOP}/")}
    candidates = (folder, *folder.parents, Path.cwd())
    return next((each for each in candidates if all(is_folder(each / name) for name in sorted(named))), folder)


def _folder_of(pattern: str) -> str:
    """Return the folder of a pattern, up to the first wildcard."""
    parts = pattern.split("/")[:-1]
    return "/".join(itertools.takewhile(lambda part: not set(part) & set("*?[{"), parts))


def _entries(
    document: Document, number: str, partition: _Partition, folder: Path, variables: dict[str, str]
) -> list[RomfsEntry]:
    entries: list[RomfsEntry] = []
    for index, entry in enumerate(partition.entries):
        if not entry.enabled:
            continue
        where = document.where(number, "entries", index)
        for file in _files(entry.path, folder, variables, where):
            entries += _with_labels(entry, file, where)
    return entries


def _with_labels(entry: _Entry, file: Path, where: str) -> list[RomfsEntry]:
    is_model = entry.type in ("tflite", "onnx")
    # The file is a model of a firmware's release or of another tool. Its version of ll_aton is checked later.
    is_made = is_model and read_part(file, 0, len(NBIN)) == NBIN
    if is_model and not is_made and file.suffix not in MODEL_SUFFIXES:
        raise N6Error("N6-ROMFS-004", f"'{file.suffix}' is not a supported model format", where=where)
    alignment = entry.alignment or (_MODEL_ALIGNMENT if is_model else _FILE_ALIGNMENT)
    if alignment & (alignment - 1):
        raise N6Error("N6-ROMFS-004", f"alignment {alignment} is not a power of two", where=where)
    if entry.type == "haar":
        return [RomfsEntry(file, f"{file.stem}.cascade", alignment, "cascade", where, stages=entry.stages or 0)]
    if not is_model:
        return [RomfsEntry(file, file.name, alignment, "file", where)]
    own = RomfsEntry(file, f"{file.stem}.tflite", alignment, "file" if is_made else "model", where, entry.profile)
    labels = file.with_suffix(".txt")
    return [own, *([RomfsEntry(labels, labels.name, _FILE_ALIGNMENT, "file", where)] if is_file(labels) else [])]


def _files(pattern: str, folder: Path, variables: dict[str, str], where: str) -> list[Path]:
    """Return the files that match a pattern, sorted by name."""
    try:
        text = pattern.format(**variables)
    except (KeyError, IndexError, ValueError) as error:
        known = ", ".join(f"{{{name}}}" for name in variables)
        raise N6Error("N6-ROMFS-003", f"'{pattern}' has an unknown variable", where=where, hint=known) from error
    path = Path(text)
    base, rest = (Path(path.anchor), path.relative_to(path.anchor)) if path.is_absolute() else (folder, path)
    found = _matching(base, rest.parts) if any(letter in text for letter in "*?[") else [base / rest]
    files = [file for file in found if is_file(file)]
    if not files:
        raise N6Error(
            "N6-ROMFS-003",
            f"no file '{text}'",
            where=where,
            hint="write the path from the description's folder, or from {TOP}, the top of its tree",
        )
    return files


def _matching(folder: Path, parts: tuple[str, ...]) -> list[Path]:
    """Return the matching paths like Path.glob, but sorted.

    Each searched folder is recorded as an input.
    """
    if not parts:
        return [folder]
    first, rest = parts[0], parts[1:]
    if first == "..":
        return _matching(folder / first, rest)
    below = files_in(folder, "*" if first == "**" else first)
    if first != "**":
        return [path for each in below for path in _matching(each, rest)]
    deeper = [path for each in below if is_folder(each) for path in _matching(each, parts)]
    return sorted({*_matching(folder, rest), *deeper})


def check_size(number: str, room: int, size: int, where: str) -> None:
    """Check that the image fits into its partition.

    Raises:
        N6Error: N6-ROMFS-005 if the image has more bytes than its partition.
    """
    over = size - room
    if over > 0:
        raise N6Error(
            "N6-ROMFS-005",
            f"romfs partition {number} overflows by {over} bytes: {size} of {room} ({size / room:.1%})",
            where=where,
            hint="remove an entry, or use a smaller model",
        )
