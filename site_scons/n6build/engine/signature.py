"""Signatures of steps: all that affects their outputs, except source contents.

They are equal on every machine and in every checkout: placeholders replace the locations of
checkout and project.
"""

from __future__ import annotations

import os
from functools import cache

from n6build.base.paths import ROOT
from n6build.engine.closure import Code
from n6build.engine.step import Step

# The module that runs commands; the options that it adds affect their outputs.
COMMANDS = "n6build.engine.command"
# The module that calls functions on workers; it imports plan.call, which calls them everywhere, and plan.watch. The arguments
# and files that a function gets from them affect its outputs. plan.closure is not among them: it makes the signature itself.
FUNCTIONS = "n6build.engine.step_process"
_PROJECT, _LIBRARY = "<project>", "<n6build>"


def signed_parts(step: Step, code: Code, top: str) -> dict[str, object]:
    """Return the parts of a step's signature by name, as values for JSON.

    Args:
        step: The step.
        code: Code of the library.
        top: Folder of the project, absolute.
    """

    def each(texts: tuple[str, ...]) -> list[str]:
        return [portable(text, top) for text in texts]

    return {
        "name": portable(step.name, top),
        "verb": step.verb,
        "function": step.function,
        "command": each(step.command),
        "parameters": portable(step.parameters, top),
        "outputs": each(step.outputs),
        "sources": each(step.sources),
        "templates": each(step.templates),
        "include_folders": each(step.include_folders),
        "depfile": portable(step.depfile, top),
        "tools": [[tool.name, tool.digest] for tool in step.tools],
        "code": [code.digest_of(module) for module in modules_behind(step)],
    }


def modules_behind(step: Step) -> tuple[str, ...]:
    """Return the modules whose import closures are the code of a step."""
    return (step.function.partition(":")[0], FUNCTIONS) if step.function else (COMMANDS,)


def localized(text: str, top: str) -> str:
    """Return a text from elsewhere with the locations of this checkout and project.

    This is the inverse of `portable`.
    """
    return text.replace(_PROJECT, top).replace(_LIBRARY, str(ROOT))


@cache
def portable(text: str, top: str) -> str:
    """Return the text without the locations of project and checkout.

    The project may be inside the checkout, or the other way round: the longer path is replaced
    first.

    Args:
        text: The text.
        top: Folder of the project, absolute.
    """
    root = str(ROOT)
    for folder, name in sorted({top: _PROJECT, root: _LIBRARY}.items(), key=lambda item: -len(item[0])):
        if folder != os.sep and folder in text:
            text = text.replace(folder + os.sep, name + os.sep).replace(folder, name)
    return text
