"""The library's compiled code, made once before the first test: hundreds of copies of the project take it along.

Without it each copy compiles hundreds of modules anew.
"""

from __future__ import annotations

import os
import pkgutil
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path

import n6build

# Importing it brings its loader.
LIBRARY = Path(n6build.__file__).resolve().parents[1]


def compile_library() -> None:
    """As importing each module would, by the loader that the library has for it. What cannot be written is left out."""
    for path in sorted(LIBRARY.rglob("*.py")):
        # A package is found from the folder that it is in.
        named = path.parent if path.name == "__init__.py" else path.with_suffix("")
        finder = pkgutil.get_importer(str(named.parent))
        spec = finder.find_spec(named.name) if finder is not None else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader.get_code(spec.name)


def copy_project_file(source: str, target: str) -> str:
    """For shutil.copytree: as it is by itself, but compiled code is shared with the original. Python replaces such a file and
    never writes into one."""
    if source.endswith(".pyc"):
        try:
            os.link(source, target)
            return target
        except OSError:
            # Another file system.
            pass
    return shutil.copy2(source, target)
