"""Test set-up: this tree's own code, no time limits in hypothesis, one C cache.

The same C code is compiled only once.
"""

from __future__ import annotations

import sys

import pytest
from compiled_library import compile_library
from compiler_cache import use_compiler_cache
from durations import Durations
from hypothesis import HealthCheck, settings
from this_tree import advice, foreign_code

_NOT_CHECKED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("n6build", max_examples=30, deadline=None, suppress_health_check=_NOT_CHECKED)
settings.register_profile("n6build-all", deadline=None, suppress_health_check=_NOT_CHECKED)
settings.load_profile("n6build")
# pytest keeps the test modules with their rewritten assertions, or each worker would spend 6 seconds on that.
# This holds here and in the workers of xdist, but not in programs that tests start.
sys.dont_write_bytecode = False
use_compiler_cache()


def pytest_configure(config: pytest.Config) -> None:
    """Check and compile the library once, before the workers of xdist start.

    Only the workers have an input.
    """
    if config.option.markexpr != "not slow":
        # If slow tests run, random tests have all their examples.
        settings.load_profile("n6build-all")
    if hasattr(config, "workerinput"):
        return
    if foreign := foreign_code():
        raise pytest.UsageError(advice(foreign))
    compile_library()
    config.pluginmanager.register(Durations(config))
