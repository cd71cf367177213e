"""Test set-up: this tree's own code, no time limits in hypothesis, and the same C compiled once."""

from __future__ import annotations

import sys

import pytest
from compiled_library import compile_library
from compiler_cache import use_compiler_cache
from durations import Durations
from hypothesis import HealthCheck, settings
from this_tree import advice, foreign_code

_NOT_CHECKED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]
settings.register_profile("n6build", max_examples=30, deadline=None, suppress_health_check=_NOT_CHECKED)
settings.register_profile("n6build-all", deadline=None, suppress_health_check=_NOT_CHECKED)
settings.load_profile("n6build")
# Here and in the workers of xdist, not in programs that tests start: pytest keeps the modules of tests with their assertions
# rewritten, or each worker spends 6 seconds on that.
sys.dont_write_bytecode = False
use_compiler_cache()


def pytest_configure(config: pytest.Config) -> None:
    """Check and compile the library once, before the workers of xdist, which have an input, are started."""
    if config.option.markexpr != "not slow":
        # Where slow tests run, random ones have all their examples.
        settings.load_profile("n6build-all")
    if hasattr(config, "workerinput"):
        return
    if foreign := foreign_code():
        raise pytest.UsageError(advice(foreign))
    compile_library()
    config.pluginmanager.register(Durations(config))
