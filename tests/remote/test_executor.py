"""The steps that leave this machine, and builds with any kind of server.

A build always ends with the right files, and reports a server's fault once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from n6build.base.errors import N6Error
from n6build.engine.local import execute, local_site
from n6build.engine.perform import Site, perform
from n6build.engine.plan import make_plan
from n6build.engine.remote.executor import may_leave, use_remote
from n6build.engine.remote.messages import CLASSES, COMPLETED, message
from n6build.engine.step import Step, Tool
from n6build.steps.c_array import c_array_step

from remote.scripted import WAITS, WORKS, Line, Scripted, breaks, does, operation, response, says

RIGHT = b"right\n"
FIRST = Step(verb="Copy", stage="copy", sources=("in",), outputs=("build/first",), command=("cp", "in", "build/first"))
SECOND = replace(FIRST, outputs=("build/second",), command=("cp", "in", "build/second"))
THIRD = replace(FIRST, outputs=("build/third",), command=("cp", "in", "build/third"))
PLAN = make_plan([FIRST, SECOND, THIRD])


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # A busy machine must not cause a time-out.
    monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "300")
    (tmp_path / "in").write_bytes(RIGHT)
    return tmp_path


def built(scripted: Scripted, *steps: Step) -> Site:
    """Do the steps in sequence, so that the script fits; return the site."""
    site = local_site(Path("build"), {"PATH": os.defpath})
    remote = use_remote(scripted.address, site)
    execute(make_plan(steps), [step.name for step in steps], site, jobs=1)
    if remote:
        remote.finish()
    return site


def made(scripted: Scripted, path: str, data: bytes, *, text: bytes = b"", **more: Any) -> Line:
    """Return the stream of a worker that has made this file."""
    file = message("OutputFile", path=path, digest=scripted.put(data), **more)
    return says(WORKS, operation(COMPLETED, response(output_files=[file], stdout_raw=text)))


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed lines about the server, without the last one with the sums."""
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if line.startswith("Remote") and " sent, " not in line]


def test_what_a_worker_made_is_taken(scripted: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """The files stay as the worker made them, with the text of the step.

    They may differ from the results of this machine.
    """
    scripted.script = [
        made(scripted, "build/first", b"elsewhere", text=b"told\x07\n", is_executable=True),
        made(scripted, "build/second", b""),
    ]
    site = built(scripted, FIRST, SECOND)
    assert (Path("build/first").read_bytes(), Path("build/second").read_bytes()) == (b"elsewhere", b"")
    assert (os.access("build/first", os.X_OK), os.access("build/second", os.X_OK)) == (True, False)
    assert {entry.origin for entry in site.ledger.entries.values()} == {"elsewhere"}
    first, last = capsys.readouterr().out.splitlines()
    assert first == "told\\x07"
    assert last.strip().startswith(f"Remote {scripted.address}, 2 steps by workers, ")


def test_a_worker_gets_all_that_the_step_reads(scripted: Scripted) -> None:
    scripted.script = [made(scripted, "build/first", b"")]
    built(scripted, FIRST)
    commands = [CLASSES["Command"].FromString(data) for data in scripted.blobs.values() if b"build/first" in data]
    assert [list(each.arguments) for each in commands] == [["cp", "in", "build/first"]]
    assert RIGHT in scripted.blobs.values()


@pytest.mark.parametrize(
    ("script", "id", "asked"),
    [
        ([breaks(grpc.StatusCode.UNAVAILABLE)], "N6-REMOTE-003", None),
        ([breaks(grpc.StatusCode.UNAUTHENTICATED)], "N6-REMOTE-004", 1),
        ([breaks(grpc.StatusCode.RESOURCE_EXHAUSTED)], "N6-REMOTE-005", 1),
        ([says(operation(COMPLETED, response(code=9)))], "N6-REMOTE-006", 2),
    ],
    ids=["gone", "refuses", "full", "loses"],
)
def test_a_build_goes_on_without_a_server_that_fails(
    scripted: Scripted,
    script: list[Line],
    id: str,
    asked: int | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A server that loses its files first gets them once more."""
    if id == "N6-REMOTE-003":
        # The build waits for one and a half time-outs.
        monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "1")
    scripted.script = script
    built(scripted, FIRST, SECOND)
    (line,) = said(capsys)
    assert line.startswith(f"Remote {scripted.address}: {id}: ")
    assert line.endswith(", this computer runs the rest")
    assert Path("build/first").read_bytes() == Path("build/second").read_bytes() == RIGHT
    assert asked is None or len(scripted.asked) == asked


def test_a_file_with_another_digest_is_not_taken(scripted: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    line = made(scripted, "build/first", b"lie")
    (digest,) = [name for name, data in scripted.blobs.items() if data == b"lie"]
    scripted.blobs[digest] = b"die"
    scripted.script = [line]
    built(scripted, FIRST, SECOND)
    assert Path("build/first").read_bytes() == Path("build/second").read_bytes() == RIGHT
    (told,) = said(capsys)
    assert "N6-REMOTE-006" in told
    assert scripted.asked == ["execute"]


COMPILE = Step(
    verb="Compile",
    stage="compile",
    sources=("main.c",),
    outputs=("build/main.o",),
    command=("cc", "-E", "-Inear", "-Ifar", "-MMD", "-MF", "build/main.d", "-o", "build/main.o", "main.c"),
    include_folders=("near", "far"),
    depfile="build/main.d",
)


@pytest.mark.parametrize(
    ("source", "listed", "origin"),
    [
        ('#include "a.h"\n', b"far/a.h", "elsewhere"),
        ('#include "a.h"\n', b"far/a.h other/a.h", "here"),
        ('#define A "a.h"\n#include A\n', b"far/a.h", "here"),
    ],
    ids=["what was sent", "another header", "a header that a macro names"],
)
def test_a_compilation_of_a_worker_is_confirmed_by_its_list_of_headers(
    source: str, listed: bytes, origin: str, scripted: Scripted
) -> None:
    Path("main.c").write_text(source)
    Path("far").mkdir()
    Path("far/a.h").write_text("int a;\n")
    both = [
        message("OutputFile", path="build/main.o", digest=scripted.put(b"elsewhere")),
        message("OutputFile", path="build/main.d", digest=scripted.put(b"build/main.o: main.c " + listed + b"\n")),
    ]
    scripted.script = [says(WORKS, operation(COMPLETED, response(output_files=both)))]
    site = built(scripted, COMPILE)
    assert site.ledger.entries["build/main.o"].origin == origin
    assert (Path("build/main.o").read_bytes() == b"elsewhere") == (origin == "elsewhere")


def test_a_failure_of_one_action_is_not_one_of_the_server(
    scripted: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step whose worker dies or makes nothing is done here.

    The next step is done by a worker.
    """
    scripted.script = [
        says(operation(COMPLETED, response(code=10, text="worker w1 died"))),
        says(operation(COMPLETED, response())),
        made(scripted, "build/third", b"elsewhere"),
    ]
    built(scripted, FIRST, SECOND, THIRD)
    assert Path("build/first").read_bytes() == Path("build/second").read_bytes() == RIGHT
    assert Path("build/third").read_bytes() == b"elsewhere"
    dead, empty = said(capsys)
    assert "N6-REMOTE-021: the server could not complete an action: worker w1 died, this computer repeats it" in dead
    assert "N6-REMOTE-022: a step did not make build/second on worker 'unknown', this computer repeats it" in empty


def test_an_error_of_a_step_is_that_of_this_machine(scripted: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """A step that fails on a worker is done again here.

    It succeeds, or fails as without a server.
    """
    scripted.script = [says(operation(COMPLETED, response(exit_code=127, stderr_raw=b"cp: not found\n")))]
    built(scripted, FIRST)
    (line,) = said(capsys)
    assert (
        "N6-REMOTE-022: a step ended with status 127 on worker 'unknown': cp: not found, this computer repeats it"
        in line
    )
    wrong = replace(FIRST, command=("cp", "absent", "build/first"))
    with pytest.raises(N6Error, match="error N6-STEP-010: "):
        built(scripted, wrong)
    assert not Path("build/first").exists()


def test_a_server_without_workers_or_without_life_is_said_at_once(
    scripted: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.executes = False
    built(scripted, FIRST)
    scripted.address = "grpc://127.0.0.1:1"
    built(scripted, SECOND)
    stores, absent = said(capsys)
    assert stores.endswith(", the server only stores files: this computer runs all steps")
    assert absent.startswith("Remote grpc://127.0.0.1:1: N6-REMOTE-003: ")
    assert Path("build/first").read_bytes() == Path("build/second").read_bytes() == RIGHT
    assert scripted.asked == []
    with pytest.raises(N6Error, match="error N6-REMOTE-001: "):
        scripted.address = "http://somewhere"
        built(scripted, THIRD)


def test_a_step_whose_state_is_known_leaves(scripted: Scripted, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A run of the virtual board is such a step: it consults its flash memory.

    The memory travels in pieces, most of which are equal.
    """
    Path("board").mkdir()
    Path("board/nor.bin").write_bytes(b"\xff" * (3 << 18) + b"end")
    step = replace(c_array_step("build/model.c", "in"), state=("board",), consulted=("board/nor.bin",))
    assert may_leave(step)
    worker = tmp_path_factory.mktemp("worker") / "root"
    scripted.script = [does(scripted, worker)]
    site = built(scripted, step)
    assert {entry.origin for entry in site.ledger.entries.values()} == {"elsewhere"}
    assert (worker / "project/board/nor.bin").read_bytes() == Path("board/nor.bin").read_bytes()
    there = Path("build/model.c").read_bytes()
    perform(step, local_site(Path("build"), {}))
    assert Path("build/model.c").read_bytes() == there
    assert sorted(size for size in map(len, scripted.blobs.values()) if size > 1 << 17) == [1 << 18]
    (names,) = [data for data in scripted.blobs.values() if b"00003" in data]
    directory = CLASSES["Directory"].FromString(names)
    assert [(file.name, file.digest.size_bytes) for file in directory.files][2:] == [("00002", 1 << 18), ("00003", 3)]


def test_a_server_that_lacks_something_gets_all_files_once_more(scripted: Scripted) -> None:
    """The protocol has one status for missing files and for a missing worker."""
    scripted.script = [breaks(grpc.StatusCode.FAILED_PRECONDITION), made(scripted, "build/first", b"elsewhere")]
    built(scripted, FIRST)
    assert Path("build/first").read_bytes() == b"elsewhere"


# A program of a board that writes to its flash memory.
PROGRAM = """
from pathlib import Path

def make(call):
    call.outputs[0].write_bytes(Path("board/nor.bin").read_bytes())
    Path("board/nor.bin").write_bytes(b"after")
"""


def test_a_step_that_changes_its_state_elsewhere_is_done_again_here(
    scripted: Scripted,
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The changed flash memory of the worker's board would be lost.

    After a run here, the next run has it.
    """
    Path("board").mkdir()
    Path("board/nor.bin").write_bytes(b"before")
    Path("program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(project))
    step = replace(FIRST, command=(), function="program:make", state=("board",), consulted=("board/nor.bin",))
    scripted.script = [does(scripted, tmp_path_factory.mktemp("worker") / "root")]
    site = local_site(Path("build"), {})
    site.code.roots = {**site.code.roots, "program": project / "program.py"}
    assert use_remote(scripted.address, site) is not None
    execute(make_plan([step]), [step.name], site)
    (line,) = said(capsys)
    assert "N6-REMOTE-022: a step ended with status 2 on worker 'unknown': the step changed board/nor.bin" in line
    assert line.endswith(", this computer repeats it")
    assert (Path("build/first").read_bytes(), Path("board/nor.bin").read_bytes()) == (b"before", b"after")
    assert {entry.origin for entry in site.ledger.entries.values()} == {"here"}


def waits_for_longer_than_anybody() -> Iterator[Any]:
    yield WAITS
    time.sleep(0.01)


@pytest.mark.parametrize(
    ("script", "what"),
    [
        (
            [breaks(grpc.StatusCode.FAILED_PRECONDITION)] * 2,
            "the server has no worker for this step: as the script says",
        ),
        ([waits_for_longer_than_anybody], "no worker accepted a step in 0.001 s"),
    ],
    ids=["the server says so", "nobody takes it"],
)
def test_what_no_worker_can_do_is_done_here_and_the_rest_by_workers(
    script: list[Line],
    what: str,
    scripted: Scripted,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A farm without the virtual board still has compilers."""
    monkeypatch.setenv("N6BUILD_REMOTE_PATIENCE", "0.001")
    tool = (Tool("board", "1"),)
    scripted.script = [*script, made(scripted, "build/third", b"elsewhere")]
    built(scripted, replace(FIRST, tools=tool), replace(SECOND, tools=tool), THIRD)
    assert Path("build/first").read_bytes() == Path("build/second").read_bytes() == RIGHT
    assert Path("build/third").read_bytes() == b"elsewhere"
    (line,) = said(capsys)
    assert line.endswith(f": N6-REMOTE-020: {what}, this computer runs all steps with the same needs")
    assert len(scripted.asked) == len(script) + 1


def test_workers_that_take_nothing_are_told_of_once_whatever_steps_need(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("N6BUILD_REMOTE_PATIENCE", "0.001")
    scripted.script = [waits_for_longer_than_anybody] * 2
    built(scripted, replace(FIRST, tools=(Tool("board", "1"),)), SECOND)
    assert Path("build/first").read_bytes() == Path("build/second").read_bytes() == RIGHT
    assert len(said(capsys)) == 1
    assert len(scripted.asked) == 2


@pytest.mark.parametrize(
    "field", [{"always": True}, {"state": ("boards",)}, {"shared": False}, {"tools": (Tool("board", ""),)}]
)
def test_what_touches_a_board_or_this_machine_stays(field: dict[str, Any], scripted: Scripted) -> None:
    step = replace(FIRST, **field)
    assert may_leave(FIRST)
    assert not may_leave(step)
    built(scripted, step)
    assert scripted.asked == []


def test_a_step_with_files_from_elsewhere_stays(scripted: Scripted, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "in"
    other.write_bytes(RIGHT)
    built(scripted, replace(FIRST, sources=(str(other),), command=("cp", str(other), "build/first")))
    assert scripted.asked == []
