"""Compare the modules that steps load with their import closures.

    python -m n6build.prove.loaded PLAN

PLAN is a plan.json, whose steps have been done. The functions of all steps are called again. Each
module of steps gets a process of its own, forked before any of them was imported. One line is
printed for each module or distribution that a step loads and no signature covers, and for each
module of steps that fails.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.regular_file import content_of
from n6build.engine.call import call_function
from n6build.engine.closure import library_code
from n6build.engine.plan import read_plan_json
from n6build.engine.signature import FUNCTIONS
from n6build.engine.step import Step


def main(plan: str) -> int:
    """Compare all steps of a plan, and return 0, or 2 if a step loads unsigned code."""
    by_module: dict[str, list[Step]] = {}
    for step in read_plan_json(parse_json(content_of(plan))).steps:
        if step.function:
            by_module.setdefault(step.function.partition(":")[0], []).append(step)
    code = library_code()
    distributions = importlib.metadata.packages_distributions()
    signed = set(code.parts_of(FUNCTIONS))
    lacking = []
    for module, steps in sorted(by_module.items()):
        loaded = _loaded_by(steps, signed)
        if loaded is None:
            lacking.append(f"{module} fails when it is called again")
        else:
            names = set(_named(loaded, distributions)) - set(code.parts_of(module)) - signed
            lacking += [f"{module} loads {name}, which is not in its signature" for name in sorted(names)]
    print("\n".join(lacking))
    return 2 if lacking else 0


def _loaded_by(steps: Iterable[Step], signed: Collection[str]) -> list[str] | None:
    """Return the modules that a process loads for these steps, None if a step fails.

    Args:
        steps: Steps of one module.
        signed: Modules that all steps are signed with. Others of the library are loaded again,
            though this process has them.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            for name in [name for name in sys.modules if name.startswith("n6build.") and name not in signed]:
                del sys.modules[name]
            before = set(sys.modules)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            for step in steps:
                call_function(step, Path.cwd(), Path("build").absolute())
            with os.fdopen(writing, "w", encoding="utf-8") as file:
                json.dump(sorted(set(sys.modules) - before), file)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    return None if status else [str(name) for name in json.loads(told)]


def _named(modules: Iterable[str], distributions: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield modules of the library, and distributions of third-party modules, by name.

    Closures use the same names.
    """
    for module in modules:
        top = module.partition(".")[0]
        if top == "n6build":
            yield module
        elif top not in sys.stdlib_module_names:
            yield from (re.sub(r"[-_.]+", "_", name).lower() for name in distributions.get(top, ()))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
