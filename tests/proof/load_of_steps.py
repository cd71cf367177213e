"""Which modules of the library a step's function loads: each in a process of its own that runs nothing else.

    python load_of_steps.py CALLS

CALLS: a JSON list of [module, outputs, sources, parameters]. Prints a JSON object: module -> names of what it has loaded.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def loaded(calls: list[list[Any]], answer: int) -> None:
    """In a child process. Of one module: all of its calls."""
    module = importlib.import_module(str(calls[0][0]))
    from n6build.plan.step import Call

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for _, outputs, sources, parameters in calls:
        call = Call(tuple(map(Path, outputs)), tuple(map(Path, sources)), str(parameters), Path("build"))
        module.make(call)
    names = sorted(name for name in sys.modules if name.partition(".")[0] == "n6build")
    os.write(answer, json.dumps(names).encode())


def main(calls: str) -> None:
    of_module: dict[str, list[list[object]]] = {}
    for call in json.loads(Path(calls).read_bytes()):
        of_module.setdefault(call[0], []).append(call)
    found = {}
    for module, each in of_module.items():
        assert not [name for name in sys.modules if name.startswith("n6build")]
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            status = 1
            try:
                loaded(each, writing)
                status = 0
            finally:
                sys.stdout.flush()
                os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            answer = file.read()
        _, status = os.waitpid(child, 0)
        if status:
            raise SystemExit(f"{module} ended with status {status}")
        found[module] = json.loads(answer)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
