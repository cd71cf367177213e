"""Files of relocatable models from other tools, as models of an application."""

from __future__ import annotations

from pathlib import Path

from n6build.base.files import is_file, read_part

# Every such file begins with these bytes.
NBIN = b"NBIN"
SUFFIX = ".bin"


def is_relocatable(path: Path) -> bool:
    """Return whether a file is a relocatable model, by its content.

    The name is not enough: the file system of a camera calls one `model.tflite`.
    """
    return is_file(path) and (path.suffix == SUFFIX or read_part(path, 0, len(NBIN)) == NBIN)


def params_beside(path: Path) -> Path:
    """Return the weights file of a split model.

    It is network_rel_params.bin beside network_rel.bin.
    """
    return path.with_name(f"{path.stem}_params{path.suffix}")
