"""n6build: from a neural network's model file to a running STM32N6 board.

This package knows the domain and imports no SCons; `site_scons/site_tools` are thin SCons tools over it.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Mapping
from importlib.machinery import FileFinder, SourceFileLoader

# Importing these modules takes longer than everything else in a build with nothing to do.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.abc import PathEntryFinder
    from typing import Any


class _ByContent(SourceFileLoader):
    """A loader that recognizes changed modules by their content.

    Python uses compiled code if its source has the same size and the same time stamp in whole
    seconds. Steps are signed with the content of modules, and the code that runs has to match it:
    an edit may keep size and time, or be the second one in a second.
    """

    def path_stats(self, path: Any) -> Mapping[str, Any]:
        data = self.get_data(path)
        return {"mtime": zlib.crc32(data), "size": len(data)}


def _finder(hook: Callable[[str], PathEntryFinder]) -> Callable[[str], PathEntryFinder]:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow to import

    def find(folder: str) -> PathEntryFinder:
        if folder != here and not folder.startswith(here + os.sep):
            raise ImportError
        return hook(folder)

    return find


sys.path_hooks.insert(0, _finder(FileFinder.path_hook((_ByContent, [".py"]))))
