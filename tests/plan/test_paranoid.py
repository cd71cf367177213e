"""Content that changes without any time of the file: option paranoid=1 rereads it."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from n6build.base import uses
from n6build.base.files import read_bytes, write_atomically
from n6build.engine import known_files as module
from n6build.engine.closure import Code
from n6build.engine.known_files import keep_known_code, keep_known_files, known_code, remember_known_files
from n6build.engine.ledger import Entry, Ledger, output_of
from n6build.engine.local import execute, local_site
from n6build.engine.perform import is_current
from n6build.engine.plan import Plan, make_plan
from n6build.engine.remember import remembered_plan
from n6build.engine.step import Call, Step

BUILD = Path("build")
COPY = Step("Copy", "test", ("build/copy",), ("large",), function=f"{__name__}:copied")
PLAN = make_plan([COPY], {"build": ("build/copy",)})


def copied(call: Call) -> None:
    write_atomically(call.outputs[0], read_bytes(call.sources[0]))


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make a project with a file that is large enough for its digest to be kept."""
    monkeypatch.chdir(tmp_path)
    # Tests must not wait until their files are old.
    monkeypatch.setattr(uses, "_YOUNG_NS", -(3600 * 10**9))
    monkeypatch.setattr(uses, "_trusts_earlier_builds", True)
    monkeypatch.setattr(uses, "_digests", {})
    Path("large").write_bytes(bytes(uses.LARGE_BYTES))
    yield


def edit_twice(path: Path, between: Callable[[], object]) -> None:
    """Edit a file through a mapping, look at it, and edit it again.

    The second edit moves no time.
    """
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        for attempt in range(50):
            mapped[:8] = b"%8d" % attempt
            between()
            state = uses.state_of(path)
            mapped[:8] = b"%8d" % (attempt + 1000)
            # The system may just have written the page to the disk: then the edit is noticed.
            if uses.state_of(path) == state:
                return
    pytest.skip("this file system moves the time of every edit")


def in_another_process(monkeypatch: pytest.MonkeyPatch, *, paranoid: bool) -> None:
    monkeypatch.setattr(uses, "_digests", {})
    monkeypatch.setattr(uses, "_trusts_earlier_builds", True)
    if paranoid:
        uses.distrust_earlier_builds()


def build() -> None:
    execute(PLAN, ["build/copy"], local_site(BUILD, {}), jobs=1)


def is_up_to_date() -> bool:
    return is_current(COPY, local_site(BUILD, {}))


@pytest.mark.parametrize("size", [uses.LARGE_BYTES, 100])
def test_a_source_is_read_again(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("large").write_bytes(bytes(size))
    # Digests are kept only if reading the files takes a while.
    Path("larger").write_bytes(bytes(uses.LARGE_BYTES))
    uses.digest_of("larger")
    edit_twice(Path("large"), build)
    in_another_process(monkeypatch, paranoid=False)
    assert is_up_to_date()
    in_another_process(monkeypatch, paranoid=True)
    assert not is_up_to_date()
    build()
    assert Path("build/copy").read_bytes() == Path("large").read_bytes()
    # The next build may trust the digests of this one.
    in_another_process(monkeypatch, paranoid=False)
    assert is_up_to_date()


def test_an_output_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(Path("ledger.jsonl"))
    step = Step("Make", "test", ("large",), function=f"{__name__}:copied")
    edit_twice(
        Path("large"), lambda: ledger.write(Entry("large", {}, {}, {"large": output_of("large")}, "asked", "here"))
    )
    in_another_process(monkeypatch, paranoid=False)
    assert ledger.objections(step) == []
    in_another_process(monkeypatch, paranoid=True)
    assert ledger.objections(step) == ["large has been altered since it was made"]


def test_a_file_that_planning_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[bytes] = []

    def plan() -> Plan:
        planned.append(read_bytes(Path("large"))[:8])
        return PLAN

    def ask() -> None:
        remember_known_files(BUILD)
        remembered_plan("key", BUILD, Code({}), "nothing", plan, keep=True)
        keep_known_files(BUILD)

    edit_twice(Path("large"), ask)
    before = len(planned)
    in_another_process(monkeypatch, paranoid=False)
    ask()
    assert len(planned) == before
    in_another_process(monkeypatch, paranoid=True)
    ask()
    assert planned[before:] == [Path("large").read_bytes()[:8]]


def test_code_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("p").mkdir()
    Path("p/__init__.py").write_bytes(b"#" * 100)
    monkeypatch.setattr(module, "library_code", lambda: Code({"p": Path("p")}))

    def digest() -> str:
        code = known_code(BUILD)
        found = code.digest_of("p")
        keep_known_code(code, BUILD)
        return found

    edit_twice(Path("p/__init__.py"), digest)
    in_another_process(monkeypatch, paranoid=False)
    assert digest() != Code({"p": Path("p")}).digest_of("p")
    in_another_process(monkeypatch, paranoid=True)
    assert digest() == Code({"p": Path("p")}).digest_of("p")
    in_another_process(monkeypatch, paranoid=False)
    assert digest() == Code({"p": Path("p")}).digest_of("p")
