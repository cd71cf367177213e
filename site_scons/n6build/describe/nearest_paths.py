"""Existing paths that are nearest to a missing one."""

from __future__ import annotations

from pathlib import Path

from n6build.base.errors import nearest
from n6build.base.files import files_in, is_file, is_folder


def nearest_paths(name: str, start: Path) -> list[str]:
    """Return existing paths that differ from a missing one in a single word.

    Args:
        name: Path to a file or folder.
        start: Start of relative paths.
    """
    parts = [*reversed(Path(name).parents), Path(name)]
    missing = next((path for path in parts if not is_folder(start / path)), None)
    if missing is None:
        return []
    rest = Path(name).relative_to(missing)
    beside = (path.name for path in files_in(start / missing.parent))
    paths = [missing.parent / word / rest for word in nearest(missing.name, beside)]
    return [str(path) for path in paths if is_file(start / path) or is_folder(start / path)]
