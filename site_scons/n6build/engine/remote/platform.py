"""Properties that a worker needs for a step: contents, not names or versions.

A worker with other contents never gets a step that depends on them.
"""

from __future__ import annotations

import hashlib
import platform
import sys

from n6build.base.members import member_names
from n6build.engine.closure import Code
from n6build.engine.step import Step, Tool, canonical
from n6build.engine.step_process import MODULE

# (name, value) of each property.
Properties = tuple[tuple[str, str], ...]

PYTHON_PROPERTY = "n6build-python"


def properties_for(step: Step, python: str) -> Properties:
    """Return the properties that a worker needs. python: result of `python_digest`."""
    of_python = ((PYTHON_PROPERTY, python),) if step.function else ()
    return (*of_python, *(tool_property(tool) for tool in step.tools))


def tool_property(tool: Tool) -> tuple[str, str]:
    """Return (name, value) of the property for a tool."""
    return f"n6build-tool-{tool.name}", tool.digest


def python_digest(code: Code) -> str:
    """Return the SHA-256 of the Python environment that steps use.

    It covers the interpreter's version, the kind of machine, and all third-party packages that steps use.
    """
    modules = [MODULE, *(f"n6build.steps.{name}" for name in member_names("n6build.steps.*"))]
    modules += [f"n6build.compile.{name}.backend" for name in member_names("n6build.compile.*.backend")]
    packages = {
        name: digest
        for module in modules
        for name, digest in code.parts_of(module).items()
        if name.partition(".")[0] not in code.roots
    }
    system = [list(sys.version_info[:2]), sys.platform, platform.machine()]
    return hashlib.sha256(canonical([system, packages]).encode()).hexdigest()
