"""Shared by the SCons tools in site_tools/: says what is missing, in place of the traceback of an import that fails for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import SCons
from n6build.base.errors import N6Error
from n6build.base.requirements import check_python, check_scons, missing_package


@contextmanager
def ready() -> Iterator[None]:
    """For whatever imports packages of others. Ends with status 2 and an error where Python or SCons are too old, or a package
    is missing. Tracebacks of n6build's own modules are left as they are."""
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
