"""The front answers a call with nothing to do like scons itself.

Its answer depends on every path that scons looked at.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import re
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import SCons
from n6build.base.uses import state_of
from patience import wait_until

from end_to_end.conftest import Project, Result

WORDS = ("model=anomaly", "build")
# These paths decide how any Python process starts, also the front's own. Others are read by terminals,
# locales and C libraries for themselves. Python compares compiled modules with their source.
NOT_OF_THE_BUILD = re.compile(
    r"/etc/(ld\.so\.(cache|preload)|localtime|(terminfo|ssl)(/.*)?|inputrc)|/(usr/)?(lib|share)/(locale|ssl|terminfo)(/.*)?"
    r"|.*/\.(terminfo|inputrc)|.*\.so(\.[0-9.]+)?|.*/(glibc-hwcaps|tls|x86_64|aarch64|haswell|xeon_phi|avx512_1)(/.*)?"
    r"|.*/LC_MESSAGES/.*"
    r"|.*/(python3?[0-9.]*\._pth|pybuilddir\.txt|Setup\.local|python3[0-9]+\.zip|pyvenv\.cfg)|.*/bin/lib/.*"
    r"|/(proc|dev|sys)/.*|.*/__pycache__/.*|.*/\.n6build/(lock|front/.*)"
)
# This program asks again after each change of a path, in a process like the front's own. It checks a few
# paths at a time, which saves a minute.
FLIPS = """
import importlib.util, json, os, shutil, sys
spec = importlib.util.spec_from_file_location("ask", sys.argv[1])
ask = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ask)
words, ours = json.loads(sys.argv[2]), [os.fsencode(each) for each in json.loads(sys.argv[3])]
call = ask.call_of(words)
path = ask.file_of(call, ask.folder_of(words))
told, looked = ask.understood(open(path, "rb").read(), call)
flipped = {"touched": 0, "made": 0, "written": 0}

def store(some):
    with open(path, "wb") as file:
        file.write(ask.written(call, told, some))

def now(some):
    return [(ask.state_of(name, state), name) for state, name in some]

assert ask.answer(words) == told, "no answer before"
for first in range(0, len(looked), 20):
    some = now(looked[first : first + 20])
    store(some)
    assert ask.answer(words) == told, some
    for number, (state, name) in enumerate(some):
        if not any(os.path.abspath(name).startswith(each + b"/") for each in ours) or state.startswith(b"/"):
            # Of the system: what is written down is another state.
            store([*some[:number], (b"1" + state, name), *some[number + 1 :]])
            assert ask.answer(words) is None, name
            flipped["written"] += 1
            continue
        store(some)
        if state != ask.ABSENT:
            os.utime(name, ns=(os.stat(name).st_atime_ns, os.stat(name).st_mtime_ns))
            assert ask.answer(words) is None, name
            flipped["touched"] += 1
        else:
            parent = os.path.dirname(os.path.abspath(name))
            above = parent
            while not os.path.isdir(os.path.dirname(above)):
                above = os.path.dirname(above)
            is_new = not os.path.isdir(parent)
            os.makedirs(parent, exist_ok=True)
            open(name, "wb").close()
            assert ask.answer(words) is None, name
            shutil.rmtree(above) if is_new else os.unlink(name)
            flipped["made"] += 1
        some = now(some)
store(now(looked))
assert ask.answer(words) == told, "no answer afterwards"
print(json.dumps(flipped))
"""


@dataclass(frozen=True)
class Built:
    """An up-to-date project that the front can answer for.

    Attributes:
        project: The project.
        said: The last output of scons.
    """

    project: Project
    said: str

    @property
    def answers(self) -> list[Path]:
        return sorted((self.project.root / "build/.n6build/front").glob("*"))


def asked(project: Project, *words: str) -> Result:
    """Ask only the front."""
    ask = project.root / "site_scons/n6build/engine/ask.py"
    return project.call(sys.executable, "-I", "-S", ask, *scons(*words))


def scons(*words: str) -> list[str]:
    return [str(Path(SCons.__file__).parent / "__main__.py"), "-Q", *words]


def grow_old() -> None:
    """Sleep while the files are too young for the front's record.

    Asking again and again would keep a processor busy.
    """
    time.sleep(2.1)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    from end_to_end.conftest import make_project

    project = make_project(tmp_path_factory.mktemp("front"))
    assert asked(project, *WORDS) == Result(1, "")
    # Python changes folders when it compiles modules for the first time.
    assert project.scons("models").status == 0
    assert project.scons(*WORDS).status == 0
    grow_old()
    said: list[str] = []

    def is_answered() -> bool:
        result = project.done(*WORDS)
        said.append(result.output)
        return asked(project, *WORDS).status == 0

    # The front's record is only written when everything is two seconds old.
    wait_until(is_answered)
    return Built(project, said[-1])


def test_the_answer_is_what_scons_says(built: Built) -> None:
    assert built.said == "scons: `build' is up to date.\n"
    assert asked(built.project, *WORDS) == Result(0, built.said)
    assert built.project.scons(*WORDS) == Result(0, built.said)
    # The answer is the same with and without the front.
    assert built.project.scons(*WORDS, "front=0") == Result(0, built.said)


def test_other_calls_are_those_of_scons(built: Built) -> None:
    before = built.answers
    for words in ((*WORDS, "-n"), (*WORDS, "--debug=time"), (*WORDS, "front=0"), ("models",)):
        assert asked(built.project, *words).status == 1
        assert built.project.scons(*words).status == 0
    assert built.answers == before


def test_a_build_under_way_is_waited_for(built: Built) -> None:
    with (built.project.root / "build/.n6build/lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert asked(built.project, *WORDS).status == 1
    assert asked(built.project, *WORDS).status == 0


def test_an_error_of_another_call_does_not_outlive_a_success(built: Built) -> None:
    assert built.project.scons("probe=0042", *WORDS, "flash").status == 2
    error = built.project.root / "build/last_error.json"
    assert error.exists()
    # The front does not remove the error file. Only the build does.
    assert asked(built.project, *WORDS).status == 1
    assert built.project.scons(*WORDS) == Result(0, built.said)
    assert not error.exists()
    grow_old()
    wait_until(lambda: built.project.scons(*WORDS).status == 0 and asked(built.project, *WORDS).status == 0)


def test_an_edit_that_moves_no_time_is_seen_by_paranoid_alone(built: Built) -> None:
    """Edit a mapped file before and after a build looks at it.

    The front gives its recorded answer.
    """
    project = built.project
    source = project.root / "firmware/fsbl/main.c"
    original = source.read_bytes()
    at = original.index(b"ended its mode")

    def is_answered() -> bool:
        return project.scons(*WORDS).status == 0 and asked(project, *WORDS).status == 0

    with source.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        for words in (b"begin", b"again", b"third", b"final"):
            mapped[at : at + 5] = words
            assert project.scons(*WORDS).status == 0
            grow_old()
            wait_until(is_answered)
            state = state_of(source)
            mapped[at : at + 5] = b"other"
            if state_of(source) == state:
                break
        else:
            pytest.skip("this file system moves the time of every edit")
        assert asked(project, *WORDS) == Result(0, built.said)
        result = project.scons("paranoid=1", *WORDS)
        assert result.actions[:2] == ["Compile firmware/fsbl/main.c", "Link fsbl/fsbl.elf"]
        # The front's record is not written, and a call without `paranoid` uses the new result.
        assert project.scons("paranoid=1", *WORDS) == Result(0, built.said)
        assert asked(project, "paranoid=1", *WORDS).status == 1
        assert project.scons(*WORDS) == Result(0, built.said)
    source.write_bytes(original)
    assert project.scons(*WORDS).status == 0
    grow_old()
    wait_until(is_answered)


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not on this computer")
def test_everything_that_scons_looks_at_is_written_down(built: Built, tmp_path: Path) -> None:
    """Compare the record with the kernel's trace of a scons run without the front."""
    (answer,) = built.answers
    fields = answer.read_bytes().split(b"\0\0")[2].split(b"\0")
    pairs = zip(fields[::2], fields[1::2], strict=True)
    known = {str(built.project.root / os.fsdecode(path)): state for state, path in pairs}
    known |= {os.path.realpath(path): state for path, state in known.items()}
    log = tmp_path / "strace"
    trace = ["strace", "-f", "-qq", "-y", "-e", "trace=file,getdents64", "-o", str(log)]
    command = [*trace, sys.executable, "-m", "SCons", "-Q", *WORDS, "front=0"]
    assert built.project.call(*command).status == 0
    looked, listed = set(), set()
    for line in log.read_text().splitlines():
        if called := re.search(r'^\d+ +\w+\((?:AT_FDCWD<([^>]*)>, )?"([^"]*)"', line):
            looked.add(os.path.normpath(built.project.root / (called[1] or "") / called[2]))
        elif read := re.search(r"getdents64\(\d+<([^>]*)>", line):
            listed.add(read[1])

    def is_known(path: str) -> bool:
        if path in known or os.path.realpath(path) in known or NOT_OF_THE_BUILD.fullmatch(path):
            return True
        if Path(path).is_dir():
            # The folder is only a part of the path to a known file.
            return any(other.startswith(f"{path}/") for other in known)
        folder = next(each for each in Path(path).parents if each.is_dir())
        # The file cannot appear without a change of its folder's content.
        return not Path(path).exists() and not known.get(os.path.realpath(folder), b"/").startswith(b"/")

    assert len(looked) > 900
    assert [path for path in sorted(looked) if not is_known(path)] == []
    ours = (path for path in sorted(listed) if not path.endswith("/__pycache__"))
    assert [path for path in ours if known.get(path, b"/").startswith(b"/")] == []


def test_every_input_that_is_written_down_counts(built: Built) -> None:
    """Change each path in turn, and then an output, which is made again.

    Paths of the project are really changed.
    """
    command = [
        sys.executable,
        "-I",
        "-S",
        "-B",
        "-c",
        FLIPS,
        str(built.project.root / "site_scons/n6build/engine/ask.py"),
    ]
    command += [json.dumps(scons(*WORDS)), json.dumps([str(built.project.root), str(built.project.home)])]
    result = built.project.call(*command)
    assert result.status == 0, result.output
    flipped = json.loads(result.output)
    assert flipped["touched"] > 500 and flipped["made"] > 0 and flipped["written"] > 300
    # All files are restored except for their times, which another build notices.
    image = built.project.root / "build/nucleo-n657/fsbl_image.bin"
    before = image.read_bytes()
    image.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    assert asked(built.project, *WORDS).status == 1
    assert built.project.scons(*WORDS).actions == ["Image fsbl_image.bin"]
    assert image.read_bytes() == before
    # The image is younger than two seconds, so the front does not answer.
    assert asked(built.project, *WORDS).status == 1
