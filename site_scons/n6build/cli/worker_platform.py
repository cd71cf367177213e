"""The properties that a worker of a build farm announces.

    python -m n6build.cli.worker_platform

It runs on the worker's machine, in the environment in which the worker will do steps.
"""

from __future__ import annotations

import sys

from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.board.virtual_board.build import chips
from n6build.compile.toolchain import find_toolchain
from n6build.engine.closure import library_code
from n6build.engine.remote.platform import PYTHON_PROPERTY, python_digest, tool_property
from n6build.engine.step import Tool
from n6build.steps.emulator import emulator_for
from n6build.steps.quantise_model import processor_tool


def main() -> int:
    """Print the properties as NAME=VALUE lines.

    Returns:
        Exit status: 0, or 2 with the error on stderr.
    """
    try:
        compiler = find_toolchain(read_environment(), None).tool
        # An emulator that is not built has no digest.
        emulators = {tool for tool in map(emulator_for, chips()) if tool.digest}
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tools = [tool_property(tool) for tool in (compiler, processor_tool(), *sorted(emulators, key=_digest))]
    for name, value in (*tools, (PYTHON_PROPERTY, python_digest(library_code()))):
        print(f"{name}={value}")
    return 0


def _digest(tool: Tool) -> str:
    return tool.digest


if __name__ == "__main__":
    sys.exit(main())
