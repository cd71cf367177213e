"""Records of a build that did nothing, and builds that write none."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base import files, uses
from n6build.engine import ask, keep
from n6build.engine.local import execute, local_site
from n6build.engine.perform import DoneStep, Site
from n6build.engine.plan import make_plan
from n6build.engine.step import Call, Step

MADE = f"{__name__}:made"


def made(call: Call) -> None:
    files.write_atomically(call.outputs[0], b"".join(map(files.read_bytes, call.sources)))


def _step(**more: object) -> Step:
    return Step("Make", "test", ("build/a",), ("source.c",), MADE, **more)  # type: ignore[arg-type]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return the site of a build with one step that is up to date."""
    monkeypatch.chdir(tmp_path)
    Path("source.c").write_text("int a;")
    first = local_site(Path("build"), {})
    execute(make_plan([_step()], {"build": ("build/a",)}), ["build/a"], first)
    again = local_site(Path("build"), {})
    again.plan = first.plan
    # Tests must not wait until their files are old; one of them sets the age itself.
    monkeypatch.setattr(keep, "_YOUNG_NS", -(3600 * 10**9))
    return again


def looked() -> keep.Looked:
    """Return the uses of a call that has just begun and written the folder's lock."""
    Path("build/.n6build/lock").write_text("1\n")
    found = keep.Looked(
        ask.call_of(["scons"]), ask.folder_of(["scons"]), time.time_ns(), (time.monotonic_ns(), time.time_ns())
    )
    found.uses.lines[uses.Use("content", str(Path("read.yaml").absolute()))] = ""
    found.uses.lines[uses.Use("existence", str(Path("absent.yaml").absolute()))] = ""
    return found


def is_kept(found: keep.Looked, site: Site, *goals: str) -> bool:
    return keep.keep(found, "done\n", site, goals or ("build",))


def states(found: keep.Looked) -> dict[str, bytes]:
    data = Path(os.fsdecode(ask.file_of(found.call, found.folder))).read_bytes()
    return {str(Path.cwd() / os.fsdecode(path)): state for state, path in ask.understood(data, found.call)[1]}


def test_what_steps_and_the_process_looked_at_is_all_in_it(site: Site) -> None:
    Path("read.yaml").touch()
    found = looked()
    assert is_kept(found, site)
    known = states(found)
    here = Path.cwd()
    for name in ("source.c", "build/a", "read.yaml", "build/.n6build/ledger.jsonl"):
        assert known[str(here / name)] == ask.state_of(os.fsencode(name))
    assert known[str(here / "absent.yaml")] == ask.ABSENT
    for code in (ask.__file__, uses.__file__, os.__file__, sys.executable):
        assert str(Path(code).absolute()) in known
    # The content of folders on the module search path counts.
    assert not known[str(Path(ask.__file__).parent)].startswith(b"/")


def test_a_file_that_steps_name_by_goal_or_path(site: Site) -> None:
    assert is_kept(looked(), site, "build/a")
    assert is_kept(looked(), site, "./build/a")
    assert not is_kept(looked(), site, "source.c")


def _young(found: keep.Looked, site: Site) -> None:
    found.began = time.time_ns() - 3601 * 10**9


def _clock_was_set(found: keep.Looked, site: Site) -> None:
    found.since = found.since[0], found.since[1] + 5 * 10**9


def _other_clock(found: keep.Looked, site: Site) -> None:
    os.utime("build/.n6build/lock", ns=(0, time.time_ns() - 10 * 10**9))


def _always(found: keep.Looked, site: Site) -> None:
    site.plan = make_plan([_step(always=True)], {"build": ("build/a",)})


REASONS: dict[str, Callable[[keep.Looked, Site], object]] = {
    "a file may have changed meanwhile": _young,
    "the clock was set": _clock_was_set,
    "the file system has another clock": _other_clock,
    "a program was started, of which nobody knows what it looked at": lambda found, _: found.note(
        "subprocess.Popen", ("true",)
    ),
    "a step runs always, as those at a board do": _always,
    "a step was done": lambda _, site: site.done.append(DoneStep("test", "build/a", 0.1)),
    "a step failed": lambda _, site: site.failed.append(DoneStep("test", "build/a", 0.1)),
    "no call from this folder would find it": lambda _, site: os.chdir("build"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_nothing_is_written_where(site: Site, reason: str) -> None:
    found = looked()
    REASONS[reason](found, site)
    assert not is_kept(found, site)
    assert not list(site.build.rglob("front/*"))


def test_a_file_younger_than_two_seconds_may_change_again_unseen(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep, "_YOUNG_NS", 2 * 10**9)
    assert not is_kept(looked(), site)
    later = replace(looked(), began=time.time_ns() + 3 * 10**9)
    assert keep._states(later, {str(Path("source.c").absolute())}, "") is not None


def test_old_answers_are_removed(site: Site) -> None:
    folder = Path("build/.n6build/front")
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}").touch()
        os.utime(folder / f"{number}", ns=(number, number))
    found = looked()
    assert is_kept(found, site)
    assert len(list(folder.iterdir())) == 32
    assert not (folder / "5").exists() and (folder / "39").exists()


def test_a_folder_that_cannot_be_written_stops_no_build(site: Site) -> None:
    Path("build/.n6build/front").touch()
    assert not is_kept(looked(), site)


def test_the_hook_sees_what_is_opened_listed_and_started(tmp_path: Path) -> None:
    program = """
import os, subprocess, sys, time
from n6build.engine.keep import look
looked = look(["scons"], time.time_ns())
open("opened", "w").close()
os.listdir(".")
list(os.scandir("folder"))
assert looked.is_sure
print(sorted(name for path in looked.files if (name := os.path.basename(path)) == "opened"))
print(sorted(map(os.path.basename, looked.folders)))
subprocess.run([sys.executable, "-V"])
assert not looked.is_sure
"""
    (tmp_path / "folder").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(keep.__file__).parents[2])}
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[:2] == ["['opened']", str(sorted([tmp_path.name, "folder"]))]
