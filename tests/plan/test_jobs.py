"""Steps at a time: a number, or the tokens of a make; every token comes back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.engine.local import execute, local_site, open_slots
from n6build.engine.plan import make_plan
from n6build.engine.step import Step

LIBRARY = str(Path(__file__).parents[2] / "site_scons")
# Takes as many slots as possible, up to six.
TAKE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from n6build.engine.local import open_slots
with open_slots(None, os.environ["MAKEFLAGS"]) as slots:
    print("slots", sum(slots.acquire() for _ in range(6)), bool(slots.tokens))
"""


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """Return the FIFO of a jobserver with three tokens."""
    path = tmp_path / "tokens"
    os.mkfifo(path)
    return path


def fill(fifo: Path) -> int:
    handle = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    os.write(handle, b"+-+")
    return handle


def test_a_number_is_a_limit() -> None:
    with open_slots(2, "-j8 --jobserver-auth=3,4") as slots:
        assert [slots.acquire() for _ in range(3)] == [True, True, False]
        slots.release()
        assert slots.acquire()


def test_a_token_for_each_step_but_the_first(fifo: Path) -> None:
    handle = fill(fifo)
    with open_slots(None, f"-j4 --jobserver-auth=fifo:{fifo}") as slots:
        assert [slots.acquire() for _ in range(5)] == [True, True, True, True, False]
        slots.release()
        assert slots.acquire()
        assert not slots.acquire()
    # The returned bytes are the ones that were taken.
    assert sorted(os.read(handle, 9)) == sorted(b"+-+")


def test_tokens_come_back_after_an_error(fifo: Path) -> None:
    handle = fill(fifo)
    with pytest.raises(KeyboardInterrupt), open_slots(None, f"--jobserver-auth=fifo:{fifo}") as slots:
        assert slots.acquire() and slots.acquire()
        raise KeyboardInterrupt
    assert len(os.read(handle, 9)) == 3


@pytest.mark.parametrize(
    "flags",
    [
        "",
        "k",
        "-j4 --jobserver-auth=-2,-2",
        "--jobserver-auth=900,901",
        "--jobserver-auth=x",
        "--jobserver-auth=fifo:/nowhere",
    ],
)
def test_without_a_jobserver_there_is_one_step_for_each_cpu(flags: str) -> None:
    with open_slots(None, flags) as slots:
        assert slots.tokens is None
        assert slots.limit == os.cpu_count()


def test_a_file_that_is_no_pipe_is_no_jobserver(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("+++")
    with open_slots(None, f"--jobserver-auth=fifo:{tmp_path / 'file'}") as slots:
        assert slots.tokens is None


@pytest.mark.parametrize(("plus", "said"), [("+", "slots 3 True"), ("", f"slots {os.cpu_count()} False")])
def test_the_jobserver_of_a_real_make(tmp_path: Path, plus: str, said: str) -> None:
    (tmp_path / "take.py").write_text(TAKE)
    (tmp_path / "Makefile").write_text(f"all:\n\t{plus}@'{sys.executable}' take.py '{LIBRARY}'\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS")}
    result = subprocess.run(
        ["make", "-j3"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.stdout == f"{said}\n", result.stderr


def build(*steps: Step) -> None:
    site = local_site(Path("build"), {"PATH": os.environ["PATH"]})
    execute(make_plan(steps), [step.name for step in steps], site)


def _step(number: int, *command: str) -> Step:
    return Step(verb="Make", stage="test", outputs=(f"build/{number}",), command=command)


def test_a_build_has_no_more_steps_at_a_time_than_slots(
    fifo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step notes its own run, and counts the other running steps."""
    handle = fill(fifo)
    os.read(handle, 2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEFLAGS", f"-j2 --jobserver-auth=fifo:{fifo}")
    (tmp_path / "now").mkdir()
    script = "mkdir now/$$; ls now | wc -l >> most; sleep 0.1; rmdir now/$$; : > $0"
    steps = [_step(number, "sh", "-c", script, f"build/{number}") for number in range(6)]
    build(*steps)
    assert max(map(int, (tmp_path / "most").read_text().split())) == 2
    assert os.read(handle, 9) == b"+"
    os.write(handle, b"-")
    with pytest.raises(N6Error, match="N6-STEP-010"):
        build(*(_step(number, "sh", "-c", "sleep 0.1; exit 1") for number in (7, 8, 9)))
    assert os.read(handle, 9) == b"-"


def test_a_build_that_waits_for_a_token_takes_it_when_another_job_ends(
    fifo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = fill(fifo)
    os.read(handle, 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEFLAGS", f"--jobserver-auth=fifo:{fifo}")
    # The first step ends only when the second one runs, for which there is no token at first.
    first = _step(1, "sh", "-c", "while [ ! -f second ]; do sleep 0.05; done; : > build/1")
    second = _step(2, "sh", "-c", ": > second; : > build/2")
    threading.Timer(0.3, lambda: os.write(handle, b"+")).start()
    build(first, second)
    assert os.read(handle, 9) == b"+"
