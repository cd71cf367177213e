"""A step as an action that any worker with the right platform can carry out: a command line, the tree of its inputs, and the
paths of its outputs, none of which depends on this machine or checkout.

Compilations run in the root of the tree as they run in the project's folder. A function of the library runs from its own source,
which is among the inputs, with what the platform has of other packages.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.paths import LIBRARY, ROOT
from n6build.plan.alone import MODULE
from n6build.plan.closure import Code
from n6build.plan.plan import make_plan, plan_json
from n6build.plan.step import Step, canonical
from n6build.remote.input_tree import input_tree
from n6build.remote.messages import CLASSES, message
from n6build.remote.platform import properties_for
from n6build.remote.store import Blob, Digest, blob_of, blob_of_file

STEP_FILE = ".n6build-step.json"
# What a program prints is one stream, in its order. A compiler keeps the worker's folder out of debug information.
_RUN = 'exec "$@" 2>&1'
_COMPILE = 'exec "$@" "-ffile-prefix-map=$(pwd -P)=." 2>&1'


@dataclass(frozen=True)
class Order:
    """action: names everything else. blobs: all that the server has to have, without those of empty files. outputs: paths."""

    action: Digest
    blobs: tuple[Blob, ...]
    outputs: tuple[str, ...]


def may_leave(step: Step, top: Path) -> bool:
    """Whether the step reads nothing but its inputs, and may do that anywhere: not those that touch a board, look at this machine,
    use keys of this user, or are done each time. top: folder of the project."""
    if step.always or step.state or not step.shared:
        return False
    paths = (*step.outputs, *step.sources, *step.templates, *step.include_folders, *filter(None, (step.depfile,)))
    if any(path.startswith(("/", "..")) for path in paths):
        return False
    # The library's own source has a place in the tree only if it has one in the project.
    if step.function and not LIBRARY.is_relative_to(top):
        return False
    here = {str(top), str(ROOT), str(Path.home())} - {os.sep}
    return not any(place in text for place in here for text in (*step.command, step.parameters))


def order_for(
    step: Step, headers: Iterable[str], top: Path, build: str, code: Code, python: str, timeout_s: int
) -> Order | None:
    """headers: that a compiler will read. build: folder of all build products, relative. python: as of `properties_for`. None if no
    property names what the step needs, or an input cannot be read."""
    properties = properties_for(step, python)
    if properties is None:
        return None
    try:
        files = {
            path: blob_of_file(str(top / path)) for path in dict.fromkeys((*step.sources, *step.templates, *headers))
        }
        files |= dict(_code(step, top, code))
    except FileNotFoundError:
        return None
    outputs = (*step.outputs, *([step.depfile] if step.depfile else []))
    platform = CLASSES["Platform"](
        properties=[CLASSES["Property"](name=name, value=value) for name, value in properties]
    )
    command = CLASSES["Command"](
        arguments=["/bin/sh", "-c", _COMPILE if step.depfile else _RUN, "sh", *_arguments(step, build)],
        environment_variables=[
            CLASSES["EnvironmentVariable"](name=name, value=value)
            for name, value in sorted(_environment(step, top).items())
        ],
        output_paths=sorted(outputs),
        platform=platform,
    )
    tree = input_tree(files)
    told = blob_of(command.SerializeToString(deterministic=True))
    action = message(
        "Action", command_digest=told.digest.message(), input_root_digest=tree.root.message(), platform=platform
    )
    action.timeout.seconds = timeout_s
    named = blob_of(action.SerializeToString(deterministic=True))
    return Order(named.digest, (*tree.blobs, told, named), outputs)


def _arguments(step: Step, build: str) -> tuple[str, ...]:
    return step.command or ("python3", "-m", MODULE, STEP_FILE, build)


def _environment(step: Step, top: Path) -> dict[str, str]:
    """Besides what a worker sets: its PATH leads to the programs that its properties promise."""
    where = {"PYTHONPATH": str(LIBRARY.parent.relative_to(top))} if step.function else {}
    return {"LANG": "C.UTF-8", **where}


def _code(step: Step, top: Path, code: Code) -> Iterator[tuple[str, Blob]]:
    """The step itself and the library's modules behind its function, each at its place in the project."""
    if not step.function:
        return
    # What is known elsewhere does not matter to whoever does the step.
    plan = plan_json(make_plan([replace(step, tools=())]))
    yield STEP_FILE, blob_of(canonical(plan).encode())
    for module in (MODULE, step.function.partition(":")[0]):
        for path in code.files_of(module):
            yield str(Path(path).relative_to(top)), blob_of_file(path)
