"""The name of a model that has none but that of its file: fit for a folder, a target and a string in C."""

from __future__ import annotations

import hashlib
import re

# Folders of a board that hold no application.
RESERVED = frozenset({"common", "fsbl", "fsbl_image.bin", "include", "romfs"})
NAME = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_LONGEST = 80
_DIGITS = 8


def folder_name(text: str) -> str:
    """The text, if it is such a name. Otherwise what is left of it with digits of its SHA-256: texts that differ only in letters
    that a name cannot have do not share a folder."""
    if is_folder_name(text):
        return text
    left = re.sub(r"[^\w.-]|^[.-]", "_", text, flags=re.ASCII)[:_LONGEST] or "_"
    return f"{left}-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:_DIGITS]}"


def is_folder_name(text: str) -> bool:
    """Whether it can be the name of a model as it is."""
    return bool(NAME.fullmatch(text)) and text not in RESERVED and len(text) <= _LONGEST
