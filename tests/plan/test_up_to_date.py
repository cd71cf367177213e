"""Steps that are up to date are not done, and all others are."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from file_times import write_with_old_time
from n6build.base.errors import N6Error
from n6build.base.files import read_text, write_atomically
from n6build.engine.closure import Code, library_code
from n6build.engine.explain import statuses
from n6build.engine.ledger import ledger_path, read_ledger
from n6build.engine.local import execute
from n6build.engine.perform import Site
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Call, Step, Tool, to_parameters

COMPILED = "build/main.o"
LEDGER = ledger_path(Path("build"))
# The digests of the library's code are computed once.
CODE = library_code()


def joined(call: Call) -> None:
    """Write the outputs' names and the sources' content as a line of C."""
    for output in call.outputs:
        write_atomically(output, f"// {output.name} {' '.join(map(read_text, call.sources))}".replace("\n", ""))


def step(name: str, *sources: str, **given: object) -> Step:
    values = {"outputs": (f"build/{name}",), "sources": sources, "function": f"{__name__}:joined", **given}
    return Step("Make", "test", **values)  # type: ignore[arg-type]


def compilation(*flags: str) -> Step:
    """Return a step that runs a preprocessor, which lists the files that it reads."""
    depfile = f"{COMPILED}.d"
    command = ("cc", "-E", "-Inear", "-Ifar", "-Ibuild", "-MMD", "-MF", depfile, *flags, "-o", COMPILED, "main.c")
    folders = ("near", "far", "build")
    made = {"command": command, "include_folders": folders, "depfile": depfile, "after": ("build/b.h",)}
    return step("main.o", "main.c", function="", **made)


def whole_plan(*flags: str, **given: object) -> Plan:
    """Return the plan of all tests.

    Args:
        flags: Flags of the compilation.
        given: Changed fields of the step that makes build/a.
    """
    a = step("a", "one", **{"templates": ("template",), "outputs": ("build/a", "build/a.map"), **given})
    steps = [a, step("b.h", "build/a", "two"), step("c", "build/b.h"), step("d", "one"), compilation(*flags)]
    return make_plan(steps, {"build": ("build/c", COMPILED)})


def here() -> Site:
    """Return the site of a new process."""
    build = Path("build").absolute()
    return Site(Path.cwd(), build, CODE, read_ledger(build), dict(os.environ))


def done(plan: Plan, wanted: Iterable[str] = (), site: Site | None = None) -> list[str]:
    """Return the names of the steps that a build does.

    Args:
        plan: The plan.
        wanted: Wanted files; all files if there are none.
        site: The site; a new process if there is none.
    """
    begun: list[str] = []
    site = site or here()
    site.announce = lambda each, verb: begun.append(Path(each.name).name)
    execute(plan, wanted or plan.makers, site, jobs=1)
    return begun


def foretold(plan: Plan, site: Site | None = None) -> list[str]:
    """Return the names of the steps that `scons plan` shows as to be done, or perhaps."""
    site = site or here()
    found = statuses(plan, site.ledger, site.code, str(site.top))
    return [Path(each.step.name).name for each in found if each.state != "up to date"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a project that is built, with nothing left to do."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "template"):
        Path(name).write_text(name)
    for folder in ("near", "far"):
        Path(folder).mkdir()
    Path("far/part.h").write_text("int far;\n")
    Path("main.c").write_text('#include "part.h"\n#include "b.h"\n')
    assert sorted(done(whole_plan())) == ["a", "b.h", "c", "d", "main.o"]


def test_nothing_is_done_twice() -> None:
    before = LEDGER.read_bytes()
    assert done(whole_plan()) == foretold(whole_plan()) == []
    assert LEDGER.read_bytes() == before


def with_old_times(name: str) -> None:
    write_with_old_time(Path(name), Path(name).read_text().swapcase())


def without_compilation() -> None:
    """Damage the ledger's line of the compilation."""
    lines = LEDGER.read_bytes().splitlines(keepends=True)
    LEDGER.write_bytes(b"".join(line[: -40 if b"main.c" in line else None] for line in lines))


def with_output_that_was_gone() -> None:
    """Write the ledger as if an output had been missing when the step was recorded."""
    site = here()
    entry = site.ledger.entries["build/a"]
    site.ledger.write(replace(entry, outputs={"build/a": entry.outputs["build/a"]}))


FROM_A, FROM_B = ["a", "b.h", "c", "main.o"], ["b.h", "c", "main.o"]
# Each row is a change and the steps that it affects: to be done, or perhaps to be done.
CHANGES: dict[str, tuple[Callable[[], object], list[str]]] = {
    "a source": (lambda: Path("two").write_text("2"), FROM_B),
    "a source that keeps its times": (lambda: with_old_times("two"), FROM_B),
    "a source of two steps": (lambda: Path("one").write_text("1"), ["a", "b.h", "c", "d", "main.o"]),
    "a source that is gone": (lambda: Path("two").unlink(), FROM_B),
    "a template": (lambda: Path("template").write_text("t"), FROM_A),
    "an output": (lambda: Path("build/c").write_text("c"), ["c"]),
    "an output that keeps its times": (lambda: with_old_times("build/c"), ["c"]),
    "an output that is gone": (lambda: Path("build/c").unlink(), ["c"]),
    "a second output that is gone": (lambda: Path("build/a.map").unlink(), FROM_A),
    "an output that was gone": (with_output_that_was_gone, FROM_A),
    "a generated header": (lambda: Path("build/b.h").write_text("int b;\n"), FROM_B),
    "a header": (lambda: Path("far/part.h").write_text("int near;\n"), ["main.o"]),
    "a header that is gone": (lambda: Path("far/part.h").unlink(), ["main.o"]),
    "a header that comes before another": (lambda: Path("near/part.h").write_text("int near;\n"), ["main.o"]),
    "a header beside its source": (lambda: Path("part.h").write_text("int here;\n"), ["main.o"]),
    "a damaged line of the ledger": (without_compilation, ["main.o"]),
    "no ledger": (LEDGER.unlink, ["a", "b.h", "c", "d", "main.o"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_steps_that_a_change_concerns_are_done(name: str) -> None:
    change, expected = CHANGES[name]
    change()
    told = foretold(whole_plan())
    assert sorted(told) == expected
    if name == "a source that is gone":
        with pytest.raises(N6Error, match="N6-FILE-002"):
            done(whole_plan())
        Path("two").write_text("two")
    if name == "a header that is gone":
        with pytest.raises(N6Error, match="N6-STEP-010"):
            done(whole_plan())
        return
    assert {*done(whole_plan())} <= {*told}
    assert done(whole_plan()) == foretold(whole_plan()) == []
    assert_clean()


def assert_clean() -> None:
    """Check that the files are equal to those of a build from nothing."""
    files = [Path(path) for each in whole_plan().steps for path in each.outputs]
    made = [path.read_bytes() for path in files]
    shutil.rmtree("build")
    done(whole_plan())
    assert [path.read_bytes() for path in files] == made


PLANS = {
    "a parameter": (whole_plan(parameters=to_parameters({"a": 1})), FROM_A),
    "a tool": (whole_plan(tools=(Tool("cc", "1"),)), FROM_A),
    "a source more": (whole_plan(templates=("template", "two")), FROM_A),
    "an output more": (whole_plan(outputs=("build/a", "build/a.map", "build/more")), FROM_A),
    "a step that always runs": (whole_plan(always=True), FROM_A),
    "a flag": (whole_plan("-DN=1"), ["main.o"]),
}


@pytest.mark.parametrize("name", PLANS)
def test_steps_that_another_plan_concerns_are_done(name: str) -> None:
    plan, expected = PLANS[name]
    assert sorted(foretold(plan)) == expected
    assert {*done(plan)} <= {*expected}
    assert foretold(plan) == (["a", "b.h", "c", "main.o"] if name == "a step that always runs" else [])


def test_all_that_follows_from_changed_code_is_done() -> None:
    site = here()
    site.code = Code({__name__.partition(".")[0]: Path(__file__).parent})
    site.code.digests[__name__] = "another"
    assert sorted(foretold(whole_plan(), site)) == ["a", "b.h", "c", "d", "main.o"]
    assert sorted(done(whole_plan(), site=site)) == ["a", "b.h", "c", "d", "main.o"]


def test_a_step_waits_for_one_that_it_does_not_read() -> None:
    """The checks are such a step: no step reads them.

    They precede the programming of the board.
    """
    plan = make_plan([step("checks", "one"), step("flash", "two", after=("build/checks",))])
    assert done(plan) == ["checks", "flash"]
    Path("one").write_text("1")
    assert foretold(plan) == ["checks"]
    assert done(plan, wanted=["build/flash"]) == ["checks"]


def test_a_step_that_makes_an_absent_header_counts_wherever_it_is_in_the_plan() -> None:
    late = step("part.h", "two", outputs=("near/part.h",))
    assert foretold(make_plan([*whole_plan().steps, late])) == ["main.o", "part.h"]


def test_a_header_whose_name_a_macro_expands_to_is_an_input() -> None:
    Path("main.c").write_text('#define PART "part.h"\n#include PART\n#include "b.h"\n')
    assert done(whole_plan()) == ["main.o"]
    for change, expected in (("far/part.h", "int changed;\n"), ("near/part.h", "int near;\n"), ("part.h", "int x;\n")):
        Path(change).write_text(expected)
        assert done(whole_plan()) == ["main.o"]
        assert expected in Path(COMPILED).read_text()
        assert done(whole_plan()) == []


def test_an_input_that_is_edited_while_it_is_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler may have read the old or the new content."""
    for edited in ("main.c", "far/part.h"):
        Path("two").write_text(edited)
        site, text = here(), Path(edited).read_text() + "// edited\n"
        Path(COMPILED).unlink()

        def edit(each: Step, verb: str, edited: str = edited, text: str = text) -> None:
            if each.name == COMPILED:
                time.sleep(0.05)
                Path(edited).write_text(text)

        site.announce = edit
        execute(whole_plan(), [COMPILED], site, jobs=1)
        assert done(whole_plan(), wanted=[COMPILED]) == ["main.o"]
        assert done(whole_plan(), wanted=[COMPILED]) == []


def test_an_output_with_the_same_bytes_keeps_its_time() -> None:
    """Other build systems compare times."""
    before = Path("build/d").stat().st_mtime_ns
    plan = whole_plan()
    changed = make_plan([replace(each, verb="Again") if each.name == "build/d" else each for each in plan.steps])
    assert done(changed) == ["d"]
    assert Path("build/d").stat().st_mtime_ns == before
    Path("one").write_text("1")
    assert "d" in done(plan)
    assert Path("build/d").stat().st_mtime_ns > before
    assert done(plan) == []


@pytest.mark.parametrize("seed", range(12))
def test_a_build_does_nothing_but_what_was_foretold(seed: int) -> None:
    """The plan is random, and so are the changes of sources, outputs and the plan."""
    chosen = random.Random(seed)
    names = [f"s{number}" for number in range(12)]
    for name in names:
        Path(name).write_text(name)

    def some(number: int) -> Step:
        before = [f"build/n{each}" for each in range(number)]
        sources = {*chosen.sample(names, 2), *chosen.sample(before, min(number, chosen.randrange(3)))}
        after = chosen.sample(before, min(number, 1))
        return step(f"n{number}", *sorted(sources), after=tuple(after), always=chosen.random() < 0.05)

    steps = [some(number) for number in range(15)]
    done(make_plan(steps))
    for number in chosen.sample(range(15), chosen.randrange(3)):
        steps[number] = replace(steps[number], parameters=to_parameters({"seed": seed}))
    for name in chosen.sample([*names, *(each.name for each in steps)], chosen.randrange(5)):
        chosen.choice((lambda path: path.write_text("changed"), Path.touch, Path.unlink))(Path(name))
    for name in names:
        # A missing source would be an error of the steps that read it.
        if not Path(name).exists():
            Path(name).write_text(name)
    plan = make_plan(steps)
    goals = chosen.sample(sorted(plan.makers), 3)
    expected = foretold(plan)
    assert {*done(plan, wanted=goals)} <= {*expected} & {Path(each.name).name for each in plan.behind(goals)}
    assert {*done(plan)} <= {*expected}
    assert {*done(plan)} == {Path(each.name).name for each in steps if each.always}
    made = {path: Path(path).read_bytes() for path in plan.makers}
    shutil.rmtree("build")
    done(plan)
    assert {path: Path(path).read_bytes() for path in plan.makers} == made
