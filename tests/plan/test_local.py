"""The local executor: order of steps, and the other steps after a failure."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import read_text, write_atomically
from n6build.engine.ledger import read_ledger
from n6build.engine.local import execute, local_site
from n6build.engine.perform import perform
from n6build.engine.plan import Plan, make_plan, plan_json, read_plan_json, step_for
from n6build.engine.step import Call, Step, outputs_of

JOINED = f"{__name__}:joined"
FAILS = f"{__name__}:fails"
HALF = f"{__name__}:half"
MEETS = f"{__name__}:meets"
SLOW = f"{__name__}:slow"

# Two steps that have to be at work at the same time.
_both = threading.Barrier(2, timeout=20)
_at_work = threading.Event()
_has_failed = threading.Event()


def joined(call: Call) -> None:
    """Write the outputs' names and the sources' content."""
    for output in call.outputs:
        write_atomically(output, f"{output.name}({' '.join(map(read_text, call.sources))})")


def fails(call: Call) -> None:
    raise N6Error("N6-TEST-001", f"{call.outputs[0].name} cannot be made")


def half(call: Call) -> None:
    write_atomically(call.outputs[0], "half")
    fails(call)


def meets(call: Call) -> None:
    _both.wait()
    joined(call)


def slow(call: Call) -> None:
    """Stay at work while another step fails."""
    _at_work.set()
    assert _has_failed.wait(20)
    time.sleep(0.05)
    joined(call)


def fails_meanwhile(call: Call) -> None:
    assert _at_work.wait(20)
    _has_failed.set()
    fails(call)


def step(name: str, *sources: str, function: str = JOINED, after: tuple[str, ...] = ()) -> Step:
    return Step("Make", "test", (f"build/{name}",), _built(sources), function, after=_built(after))


def _built(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"build/{name}" for name in names)


def done(plan: Plan, *wanted: str, jobs: int = 2) -> list[str]:
    """Return the names of the started steps, in order."""
    begun: list[str] = []

    def note(each: Step, verb: str) -> None:
        begun.append(Path(each.name).name)

    site = local_site(Path("build"), {})
    site.announce = note
    try:
        execute(plan, _built(wanted), site, jobs=jobs)
    finally:
        (Path("begun")).write_text(" ".join(begun))
    return begun


def begun() -> list[str]:
    return Path("begun").read_text().split()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


DIAMOND = make_plan([step("top", "left", "right"), step("left", "base"), step("right", "base"), step("base")])


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_a_step_is_done_once_and_behind_those_that_it_needs(jobs: int) -> None:
    names = done(DIAMOND, "top", jobs=jobs)
    assert sorted(names) == ["base", "left", "right", "top"]
    assert (names[0], names[-1]) == ("base", "top")
    assert Path("build/top").read_text() == "top(left(base()) right(base()))"


def test_only_what_is_wanted_is_done() -> None:
    assert done(DIAMOND, "left") == ["base", "left"]
    assert not Path("build/right").exists()
    assert done(DIAMOND) == []


def test_what_is_up_to_date_is_not_done_again() -> None:
    assert len(done(DIAMOND, "top")) == 4
    assert done(DIAMOND, "top") == []
    Path("build/left").unlink()
    assert done(DIAMOND, "top") == ["left"]
    Path("build/base").write_text("of the user")
    assert done(DIAMOND, "top") == ["base"]


def test_what_follows_from_another_output_is_done_again() -> None:
    source = Path("source")
    plan = make_plan([Step("Make", "test", ("build/a",), ("source",), JOINED), step("b", "a")])
    source.write_text("one")
    assert done(plan, "b") == ["a", "b"]
    source.write_text("two")
    assert done(plan, "b") == ["a", "b"]
    assert Path("build/b").read_text() == "b(a(two))"


def test_what_is_to_run_always_runs_and_what_depends_on_it_only_if_it_makes_something_else() -> None:
    again = replace(step("base"), always=True)
    plan = make_plan([step("top", "base"), again])
    assert done(plan, "top") == ["base", "top"]
    assert done(plan, "top") == ["base"]


def test_what_comes_before_without_being_read_is_waited_for() -> None:
    plan = make_plan([step("b", after=("a",)), step("a")])
    assert done(plan, "b", jobs=4) == ["a", "b"]
    assert Path("build/b").read_text() == "b()"


def test_steps_that_need_nothing_of_each_other_are_done_at_the_same_time() -> None:
    plan = make_plan([step("one", function=MEETS), step("two", function=MEETS), step("both", "one", "two")])
    *first, last = done(plan, "both")
    # Both steps wait for each other, so that either may end first.
    assert (sorted(first), last) == (["one", "two"], "both")


def test_no_more_are_begun_than_there_are_jobs() -> None:
    plan = make_plan([step(f"s{number}") for number in range(6)])
    most: list[int] = []
    site = local_site(Path("build"), {})

    def note(_: Step, verb: str) -> None:
        # Count the steps that are started and not yet done.
        most.append(1 + len(most) - len(site.done))

    site.announce = note
    execute(plan, outputs_of(plan.steps), site, jobs=2)
    assert len(site.done) == 6
    assert max(most) <= 2


def test_behind_an_error_nothing_is_begun() -> None:
    plan = make_plan([step("bad", function=FAILS), *(step(f"s{number}") for number in range(5)), step("end", "bad")])
    with pytest.raises(N6Error, match="N6-TEST-001: bad cannot be made"):
        done(plan, "bad", "s0", "s1", "s2", "s3", "s4", "end", jobs=1)
    assert begun() == ["bad"]
    assert not any(Path("build").glob("s*"))


def test_what_is_at_work_when_a_step_fails_is_ended() -> None:
    _at_work.clear()
    _has_failed.clear()
    bad = step("bad", function=f"{__name__}:fails_meanwhile")
    plan = make_plan([step("slow", function=SLOW), bad, step("next", "slow")])
    with pytest.raises(N6Error, match="bad cannot be made"):
        done(plan, "bad", "next")
    assert Path("build/slow").read_text() == "slow()"
    assert sorted(begun()) == ["bad", "slow"]
    # The slow step counts as made, the failed one does not.
    assert set(read_ledger(Path("build")).entries) == {"build/slow"}


def test_the_first_of_several_errors_is_raised() -> None:
    plan = make_plan([step(f"bad{number}", function=FAILS) for number in range(4)])
    with pytest.raises(N6Error, match="bad0 cannot be made"):
        done(plan, "bad0", "bad1", "bad2", "bad3", jobs=1)


@pytest.mark.parametrize("function", [FAILS, HALF])
def test_a_step_that_fails_leaves_neither_old_nor_half_made_outputs(function: str) -> None:
    Path("build").mkdir()
    outputs = ("build/one", "build/two")
    for each in (*outputs, "build/other"):
        Path(each).write_text("of another day")
    with pytest.raises(N6Error):
        perform(Step("Make", "test", outputs, function=function), local_site(Path("build"), {}))
    assert [path.name for path in Path("build").iterdir()] == ["other"]


def test_a_step_that_fails_keeps_its_reasons() -> None:
    Path("build").mkdir()
    outputs = ("build/one", "build/reasons.xml")
    for each in outputs:
        Path(each).write_text("of another day")
    failing = Step("Make", "test", outputs, function=f"{__name__}:reasons", kept=outputs[1:])
    site = local_site(Path("build"), {})
    with pytest.raises(N6Error, match="for a reason"):
        perform(failing, site)
    assert [path.read_text() for path in Path("build").iterdir() if path.is_file()] == ["a reason"]
    # Nothing is known of them: the step is not up to date.
    assert not read_ledger(Path("build")).entries


def test_a_command_that_fails_leaves_nothing() -> None:
    Path("build").mkdir()
    for each in ("build/made", "build/made.d"):
        Path(each).write_text("of another day")
    failing = Step("Link", "link", ("build/made",), command=("false",), depfile="build/made.d")
    with pytest.raises(N6Error, match="N6-STEP-010: false ended with status 1"):
        execute(make_plan([failing]), failing.outputs, local_site(Path("build"), {"PATH": "/usr/bin:/bin"}))
    assert not any(path.is_file() for path in Path("build").iterdir())


def test_a_step_does_not_see_what_it_made_before() -> None:
    looking = Step("Make", "test", ("build/made",), function=f"{__name__}:looks")
    for _ in range(2):
        execute(make_plan([looking]), looking.outputs, local_site(Path("build"), {}))
        assert Path("build/made").read_text() == "new"


def reasons(call: Call) -> None:
    for output in call.outputs:
        output.write_text("a reason")
    raise N6Error("N6-TEST-001", "for a reason")


def looks(call: Call) -> None:
    write_atomically(call.outputs[0], "old" if call.outputs[0].exists() else "new")


def test_a_folder_in_the_place_of_an_output_is_left_alone() -> None:
    Path("build/made/of the user").mkdir(parents=True)
    with pytest.raises(N6Error, match="N6-FILE-001: cannot write") as caught:
        perform(step("made"), local_site(Path("build"), {}))
    assert caught.value.where == "build/made"
    assert Path("build/made/of the user").is_dir()


def test_a_file_in_the_place_of_a_folder() -> None:
    Path("build").mkdir()
    Path("build/folder").write_text("")
    with pytest.raises(N6Error, match="N6-FILE-001: cannot write"):
        perform(step("folder/made"), local_site(Path("build"), {}))


def test_a_file_that_no_step_makes_is_named_before_anything_is_done() -> None:
    with pytest.raises(N6Error, match="N6-STEP-014: no step of this plan makes build/tap") as caught:
        done(DIAMOND, "base", "tap")
    assert caught.value.hint == "did you mean 'build/top'?"
    assert not Path("build").exists()


def test_a_step_is_found_by_any_of_its_outputs(project: Path) -> None:
    two = Step("Make", "test", ("build/one", "build/two"), function=JOINED)
    plan = make_plan([two])
    for name in ("build/one", "build/two", "build//two", "./build/two", str(project / "build/two")):
        assert step_for(name, plan) is two


def test_errors_of_the_executor_s_caller_come_through() -> None:
    def stops(_: Step, verb: str) -> None:
        raise KeyboardInterrupt

    site = local_site(Path("build"), {})
    site.announce = stops
    with pytest.raises(KeyboardInterrupt):
        execute(DIAMOND, ["build/top"], site)


def test_a_plan_is_the_same_when_it_is_read_again() -> None:
    plan = make_plan([*DIAMOND.steps, step("größe $x; rm", "base")], {"build": ("build/top",)})
    assert read_plan_json(json.loads(json.dumps(plan_json(plan)))) == plan


@pytest.mark.parametrize("values", [{}, [], {"format": 2, "goals": {}, "steps": []}, {"format": 1, "steps": [{}]}])
def test_a_document_that_is_no_plan(values: object) -> None:
    with pytest.raises(N6Error, match="N6-STEP-009: is not a plan"):
        read_plan_json(values)


def test_the_ledger_knows_what_had_become_of_an_output() -> None:
    done(DIAMOND, "base")
    perform(step_for("build/base", DIAMOND), local_site(Path("build"), {}))
    assert read_ledger(Path("build")).entries["build/base"].reason == "it was requested"
    Path("build/base").write_text("of the user")
    done(DIAMOND, "base")
    assert "build/base" in read_ledger(Path("build")).entries["build/base"].reason
    assert Path("build/base").read_text() == "base()"
