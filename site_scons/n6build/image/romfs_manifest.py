"""The description of romfs partitions, in the form of OpenMV's romfs_config.json."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.files import files_in, is_file, is_folder
from n6build.base.yaml_schema import Document, Range, Size, read_document
from n6build.image.romfs import MAX_ALIGNMENT
from n6build.models.model import MODEL_SUFFIXES

DEFAULT_PROFILE = "default"
# A loader needs a model at a multiple of 4; its pools are best aligned to cache lines.
_MODEL_ALIGNMENT = 32
_FILE_ALIGNMENT = 4


@dataclass(frozen=True)
class _Entry:
    """stages: of a Haar cascade. optimize: of a compiler for other chips."""

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
    """model: the file becomes a relocatable model first. profile: of memory pools. where: in the description."""

    path: Path
    name: str
    alignment: int
    model: bool
    profile: str
    where: str


@dataclass(frozen=True)
class RomfsPartition:
    """size: bytes that the image may take."""

    number: str
    size: int
    entries: tuple[RomfsEntry, ...]


def read_manifest(path: Path, variables: dict[str, str]) -> tuple[RomfsPartition, ...]:
    """variables: what {TOP} and the like stand for. A model is followed by its labels, a file with its name and the suffix
    .txt.

    Raises N6-YAML-00x, N6-ROMFS-003 (a file that does not exist), N6-ROMFS-004 (an entry that n6build does not make).
    """
    document = read_document(path)
    return tuple(
        RomfsPartition(number, partition.size, tuple(_entries(document, number, partition, path.parent, variables)))
        for number, partition in document.load(dict[str, _Partition]).items()
    )


def _entries(
    document: Document, number: str, partition: _Partition, folder: Path, variables: dict[str, str]
) -> list[RomfsEntry]:
    entries: list[RomfsEntry] = []
    for index, entry in enumerate(partition.entries):
        if not entry.enabled:
            continue
        where = document.where(number, "entries", index)
        if entry.type == "haar":
            hint = 'convert it, and name the .cascade file with "type": "bin"; or "enabled": false'
            raise N6Error("N6-ROMFS-004", "n6build does not convert Haar cascades", where=where, hint=hint)
        for file in _files(entry.path, folder, variables, where):
            entries += _with_labels(entry, file, where)
    return entries


def _with_labels(entry: _Entry, file: Path, where: str) -> list[RomfsEntry]:
    is_model = entry.type in ("tflite", "onnx")
    if is_model and file.suffix not in MODEL_SUFFIXES:
        raise N6Error("N6-ROMFS-004", f"'{file.suffix}' is not a supported model format", where=where)
    alignment = entry.alignment or (_MODEL_ALIGNMENT if is_model else _FILE_ALIGNMENT)
    if alignment & (alignment - 1):
        raise N6Error("N6-ROMFS-004", f"alignment {alignment} is not a power of two", where=where)
    name = f"{file.stem}.tflite" if is_model else file.name
    own = RomfsEntry(file, name, alignment, is_model, entry.profile, where)
    labels = file.with_suffix(".txt")
    if not is_model or not is_file(labels):
        return [own]
    return [own, RomfsEntry(labels, labels.name, _FILE_ALIGNMENT, model=False, profile="", where=where)]


def _files(pattern: str, folder: Path, variables: dict[str, str], where: str) -> list[Path]:
    """The pattern may contain wildcards; the files that match are sorted by name."""
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
            hint="paths are relative to the description's folder, or begin with {TOP}",
        )
    return files


def _matching(folder: Path, parts: tuple[str, ...]) -> list[Path]:
    """Like Path.glob, sorted; every folder that is searched is noted."""
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
    """Raises N6-ROMFS-005 where the image has more bytes than its partition."""
    over = size - room
    if over > 0:
        raise N6Error(
            "N6-ROMFS-005",
            f"romfs partition {number} overflows by {over} bytes: {size} of {room} ({size / room:.1%})",
            where=where,
            hint="omit an entry, or make a model smaller",
        )
