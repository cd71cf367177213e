"""The library's compiled code, made once before the first test.

Hundreds of copies of the project share it. Without it, each copy would compile hundreds of modules
anew.
"""

from __future__ import annotations

import os
import pkgutil
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path

import n6build

# Importing the library also brings its loader.
LIBRARY = Path(n6build.__file__).resolve().parents[1]


def compile_library() -> None:
    """Compile each module with the library's loader, as an import would.

    A file that cannot be written is left out.
    """
    for path in sorted(LIBRARY.rglob("*.py")):
        # A package is found from the folder that it is in.
        named = path.parent if path.name == "__init__.py" else path.with_suffix("")
        finder = pkgutil.get_importer(str(named.parent))
        spec = finder.find_spec(named.name) if finder is not None else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader.get_code(spec.name)


def copy_project_file(source: str, target: str) -> str:
    """Copy a file for shutil.copytree, but share compiled code with the original.

    Python replaces a compiled file and never writes into one.
    """
    if source.endswith(".pyc"):
        try:
            os.link(source, target)
            return target
        except OSError:
            # The target is on another file system.
            pass
    return shutil.copy2(source, target)
