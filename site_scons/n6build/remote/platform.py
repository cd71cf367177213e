"""What a worker has to have for a step, as properties of its platform. A worker announces what this prints on its machine, in the
environment in which it will run steps:

    python -m n6build.remote.platform

Both are contents, not names or versions: a worker with anything else never gets a step that depends on it.
"""

from __future__ import annotations

import hashlib
import platform
import sys

from n6build.base.environment import read_environment
from n6build.base.members import member_names
from n6build.compiler.toolchain import COMPILER, find_toolchain
from n6build.plan.alone import MODULE
from n6build.plan.closure import Code, library_code
from n6build.plan.step import Step, canonical

COMPILER_PROPERTY = "n6build-compiler"
PYTHON_PROPERTY = "n6build-python"


def properties_for(step: Step, python: str) -> tuple[tuple[str, str], ...] | None:
    """(name, value), sorted: what a worker needs for the step; None if it needs what no property names. python: of
    `python_digest`."""
    properties = {PYTHON_PROPERTY: python} if step.function else {}
    for tool in step.tools:
        if tool.name != COMPILER:
            return None
        properties[COMPILER_PROPERTY] = tool.digest
    return tuple(sorted(properties.items()))


def python_digest(code: Code) -> str:
    """SHA-256 of the interpreter's version, the kind of machine, and all packages of others that steps use."""
    modules = [MODULE, *(f"n6build.steps.{name}" for name in member_names("n6build.steps.*"))]
    modules += [f"n6build.network.{name}.backend" for name in member_names("n6build.network.*.backend")]
    packages = {
        name: digest
        for module in modules
        for name, digest in code.parts_of(module).items()
        if name.partition(".")[0] not in code.roots
    }
    system = [list(sys.version_info[:2]), sys.platform, platform.machine()]
    return hashlib.sha256(canonical([system, packages]).encode()).hexdigest()


def main() -> None:
    """Prints NAME=VALUE lines. Raises N6-TOOL-001 and -002."""
    print(f"{COMPILER_PROPERTY}={find_toolchain(read_environment(), None).tool.digest}")
    print(f"{PYTHON_PROPERTY}={python_digest(library_code())}")


if __name__ == "__main__":
    main()
