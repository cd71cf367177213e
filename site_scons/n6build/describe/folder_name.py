"""Names of models from their files, valid for a folder, a target and a C string."""

from __future__ import annotations

import hashlib
import re

# These folders of a board hold no application.
RESERVED = frozenset({"common", "fsbl", "fsbl_image.bin", "include", "romfs"})
NAME = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_LONGEST = 80
_DIGITS = 8


def folder_name(text: str) -> str:
    """Return the text if it is a valid name, else its valid letters with a hash.

    The digits of its SHA-256 keep texts apart that differ only in letters that a name cannot have.
    """
    if is_folder_name(text):
        return text
    left = re.sub(r"[^\w.-]|^[.-]", "_", text, flags=re.ASCII)[:_LONGEST] or "_"
    return f"{left}-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:_DIGITS]}"


def is_folder_name(text: str) -> bool:
    """Return whether a text is a valid name of a model."""
    return bool(NAME.fullmatch(text)) and text not in RESERVED and len(text) <= _LONGEST
