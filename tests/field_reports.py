"""A reader of field reports."""

from __future__ import annotations

from pathlib import Path

import msgspec
from n6build.board.run.field_report import FieldReport


def read_field_report(path: Path) -> FieldReport:
    """Return the report that a file contains as JSON behind the text for people."""
    _, _, behind = path.read_bytes().rpartition(b"\n```json\n")
    return msgspec.json.decode(behind.removesuffix(b"\n```\n"), type=FieldReport)
