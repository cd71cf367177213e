"""Files of samples: arrays, pictures, sounds and tables."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from n6build.base.errors import N6Error
from n6build.base.files import files_in, is_file, is_folder
from n6build.base.paths import project_path

_T = TypeVar("_T")
ARRAYS = (".npy", ".npz")
PICTURES = (".png", ".jpg", ".jpeg", ".bmp")
SOUNDS = (".wav",)
TABLES = (".csv",)
KINDS = (ARRAYS, PICTURES, SOUNDS, TABLES)
_OF_PHONES = (".heic", ".heif")
_KNOWN = tuple(suffix for kind in KINDS for suffix in kind)
# A hint names at most this number of suffixes.
_MOST_NAMED = 5
# A file with this name beside pictures has their boxes, in the format of COCO.
ANNOTATIONS = "annotations.json"


def is_media(path: Path) -> bool:
    """Return whether a path is a folder, or a file other than an array."""
    return is_folder(path) or path.suffix.lower() in (*PICTURES, *SOUNDS, *TABLES)


def spread(values: Sequence[_T], most: int) -> tuple[_T, ...]:
    """Return at most this many values, spread evenly."""
    count = len(values)
    return tuple(values) if count <= most else tuple(values[place * count // most] for place in range(most))


def classes_of(files: Sequence[Path], root: Path, classes: Sequence[str]) -> tuple[str, ...]:
    """Return the class of each file: the name of its folder.

    The result is empty if a folder is no class.

    Args:
        files: Files in folders below the root.
        root: The folder of these folders.
        classes: Names of the classes.
    """
    named = [each.parent.name for each in files if each.absolute().parent.parent == root.absolute()]
    return tuple(named) if len(named) == len(files) and set(named) <= set(classes) else ()


def sample_files(path: Path) -> tuple[Path, ...]:
    """Return the files with samples: the file itself, or those of a folder.

    Files of its subfolders count as well.

    Raises:
        N6Error: N6-QUANT-005 if there are none, or of several kinds; N6-QUANT-011 if a package for pictures is missing.
    """
    found = _files_at(path)
    files = tuple(each for each in found if each.suffix.lower() in _KNOWN)
    _check_kind(files, path)
    if not files:
        raise _no_samples(found, path)
    return files


def _files_at(path: Path) -> list[Path]:
    """Return the file itself, or all files of a folder and of its subfolders.

    Files of unknown formats are among them.

    Raises:
        N6Error: N6-QUANT-005 if there is neither.
    """
    if is_file(path):
        return [path]
    if not is_folder(path):
        raise N6Error("N6-QUANT-005", "no such file or folder with samples", where=project_path(path))
    entries = files_in(path)
    inner = [each for each in entries if each.suffix.lower() not in _KNOWN and is_folder(each)]
    return [each for each in (*entries, *(file for folder in inner for file in files_in(folder))) if each not in inner]


def _check_kind(files: Sequence[Path], path: Path) -> None:
    """Check that all samples are of one kind, and that its package is installed.

    Raises:
        N6Error: N6-QUANT-005 for several kinds; N6-QUANT-011 for a missing package.
    """
    kinds = {kind for each in files for kind in KINDS if each.suffix.lower() in kind}
    if len(kinds) > 1:
        suffixes = " and ".join(sorted({each.suffix.lower() for each in files}))
        what, hint = f"has files of several kinds: {suffixes}", "put each kind into a folder of its own"
        raise N6Error("N6-QUANT-005", what, where=project_path(path), hint=hint)
    if kinds == {PICTURES} and importlib.util.find_spec("PIL") is None:
        what = "package pillow, which reads pictures, is not installed"
        hint = "run make setup, which installs the extra [quantise]"
        raise N6Error("N6-QUANT-011", what, where=project_path(path), hint=hint)


def _no_samples(found: Sequence[Path], path: Path) -> N6Error:
    """Return the error for files of which none is in a known format."""
    suffixes = sorted({each.suffix.lower() or "files without a suffix" for each in found})[:_MOST_NAMED]
    what = f"has no samples in a known format, but {', '.join(suffixes) or 'nothing'}"
    hint = f"save them as one of {', '.join(_KNOWN)}"
    if any(each.suffix.lower() in _OF_PHONES for each in found):
        hint = "convert each to JPEG, for example: heif-convert in.heic out.jpg"
    return N6Error("N6-QUANT-005", what, where=project_path(path), hint=hint)
