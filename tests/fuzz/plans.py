"""Fuzz targets for planning: ledger, plans, digests and compiler output."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from n6build.engine.ask import understood, written
from n6build.engine.closure import library_code
from n6build.engine.compile_commands import write_compile_commands
from n6build.engine.depfile import read_depfile
from n6build.engine.explain import reasons_for
from n6build.engine.known_files import known_code
from n6build.engine.ledger import ledger_path, read_ledger
from n6build.engine.plan import Plan, plan_json
from n6build.engine.remember import _read as read_remembered
from n6build.engine.signature import signed_parts
from plan.plan_samples import application_plan

from fuzz.target import Target, of_file

PLAN = application_plan()
STEP = PLAN.steps[0]
PARTS = signed_parts(STEP, library_code(), "/project")
EMPTY = Plan((), {})
_ENTRY = {
    "format": 1,
    "name": STEP.name,
    "parts": {**PARTS, "sources": ["a.c"], "parameters": '{"a":{"b":[1,2]}}', "tools": [["gcc", "0" * 64]]},
    "inputs": {"a.c": "0" * 64, "absent.h": ""},
    "outputs": {STEP.name: [1, 2, 3, 4, "0" * 64]},
    "reason": "it was never built in this build folder",
    "origin": "here",
    "seconds": 0.5,
}
_REMEMBERED = {
    "key": '{"a":1}',
    "code": "c",
    "uses": [["content", "/nowhere", "", "", [1, 2, 3, 4]]],
    "plan": plan_json(PLAN),
}


def _ledger(data: bytes, folder: Path) -> None:
    path = ledger_path(folder)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    ledger = read_ledger(folder)
    list(reasons_for(STEP, ledger, PARTS))


def _answer(data: bytes, folder: Path) -> None:
    """Read the file behind its digest, which plain damage would not get past."""
    call, looked = b"c", [(b"-", b"/a"), (b"1 2 3 4 5 6", b"/b")]
    for told in (data, b"done\n"):
        # A ValueError means that the answer is not used.
        with suppress(ValueError):
            understood(written(call, told, [*looked, (data, data)]), call)


def _known_code(data: bytes, folder: Path) -> None:
    path = folder / ".n6build" / "code.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    known_code(folder)


PLANS = (
    Target("ledger", lambda: [json.dumps(_ENTRY).encode() + b"\n"], _ledger),
    Target(
        "remembered plan",
        lambda: [json.dumps(_REMEMBERED).encode()],
        of_file("plan.json", lambda path: read_remembered(path, '{"a":1}', "c")),
    ),
    Target("answer of the front", lambda: [b"scons: `build' is up to date.\n"], _answer),
    Target(
        "known code", lambda: [b'{"state": "a", "digests": {"n6build.base.files": "' + b"0" * 64 + b'"}}'], _known_code
    ),
    Target(
        "compile commands",
        lambda: [b'[{"directory": "/a", "file": "a.c", "arguments": ["gcc", "a.c"]}]'],
        of_file("c.json", lambda path: write_compile_commands(path.with_name("made.json"), EMPTY, Path("/a"), [path])),
    ),
    Target(
        "depfile",
        lambda: [b"build/a.o: firmware/a.c \\\n firmware/a\\ b.h firmware/$$c.h\n\nfirmware/a.h:\n"],
        lambda data, folder: read_depfile(data),
    ),
)
