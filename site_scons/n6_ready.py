"""Checks of Python, SCons and packages, shared by the SCons tools in site_tools/.

Their errors replace the traceback of an import that fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import SCons
from n6build.base.errors import N6Error
from n6build.base.requirements import check_python, check_scons, missing_package


@contextmanager
def ready() -> Iterator[None]:
    """Report an old Python or SCons or a missing package, and end with status 2.

    For blocks that import third-party packages. Tracebacks of n6build's own modules stay as they
    are.
    """
    try:
        check_python()
        check_scons(SCons.__version__)
        yield
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{missing_package(error)}\n")
    except N6Error as error:
        if not error.id.startswith("N6-SETUP-"):
            raise
        sys.stderr.write(f"{error}\n")
    else:
        return
    raise SystemExit(2)
