"""What is left of a plan: nothing that is up to date, and everything that a build would do."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.files import read_text, write_atomically
from n6build.plan.closure import Code, library_code
from n6build.plan.ledger import ledger_path, read_ledger
from n6build.plan.local import execute
from n6build.plan.perform import Site
from n6build.plan.plan import Plan, make_plan, needs_of
from n6build.plan.remaining import remaining
from n6build.plan.step import Call, Step, Tool, to_parameters

COMPILED = "build/main.o"
LEDGER = ledger_path(Path("build"))
# Whose digests are computed once.
CODE = library_code()


def joined(call: Call) -> None:
    """As a line of C."""
    for output in call.outputs:
        write_atomically(output, f"// {output.name} {' '.join(map(read_text, call.sources))}".replace("\n", ""))


def step(name: str, *sources: str, **given: object) -> Step:
    values = {"outputs": (f"build/{name}",), "sources": sources, "function": f"{__name__}:joined", **given}
    return Step("Make", "test", **values)  # type: ignore[arg-type]


def compilation(*flags: str) -> Step:
    """By a preprocessor, which says what it has read."""
    depfile = f"{COMPILED}.d"
    command = ("cc", "-E", "-Inear", "-Ifar", "-Ibuild", "-MMD", "-MF", depfile, *flags, "-o", COMPILED, "main.c")
    folders = ("near", "far", "build")
    made = {"command": command, "include_folders": folders, "depfile": depfile, "after": ("build/b.h",)}
    return step("main.o", "main.c", function="", **made)


def whole_plan(*flags: str, **given: object) -> Plan:
    """flags: of the compilation. given: of the step that makes build/a."""
    a = step("a", "one", **{"templates": ("template",), "outputs": ("build/a", "build/a.map"), **given})
    steps = [a, step("b.h", "build/a", "two"), step("c", "build/b.h"), step("d", "one"), compilation(*flags)]
    return make_plan(steps, {"build": ("build/c", COMPILED)})


def here() -> Site:
    """As a new process finds it."""
    build = Path("build").absolute()
    return Site(Path.cwd(), build, CODE, read_ledger(build), dict(os.environ))


def done(plan: Plan, wanted: Iterable[str] = ()) -> list[str]:
    """Names of the steps that a build does. wanted: all files if there are none."""
    begun: list[str] = []
    execute(plan, wanted or plan.makers, here(), jobs=1, on_step=lambda each: begun.append(Path(each.name).name))
    return begun


def left(plan: Plan, site: Site | None = None) -> list[str]:
    return [Path(each.name).name for each in remaining(plan, site or here()).steps]


def note_as_found() -> None:
    """What a build does that looks for headers itself."""
    site = here()
    for entry in list(site.ledger.entries.values()):
        site.ledger.write(replace(entry, is_foreseen=True))


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built, with nothing left to do."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "template"):
        Path(name).write_text(name)
    for folder in ("near", "far"):
        Path(folder).mkdir()
    Path("far/part.h").write_text("int far;\n")
    Path("main.c").write_text('#include "part.h"\n#include "b.h"\n')
    assert sorted(done(whole_plan())) == ["a", "b.h", "c", "d", "main.o"]
    note_as_found()


def test_nothing_is_left_of_what_is_up_to_date_but_the_goals() -> None:
    plan, before = whole_plan(), LEDGER.read_bytes()
    assert remaining(plan, here()) == Plan((), plan.goals)
    assert LEDGER.read_bytes() == before


def test_a_compilation_is_left_until_a_build_has_looked_for_its_headers_itself() -> None:
    """Its compiler may have found one that such a build does not see: N6-STEP-012."""
    Path(COMPILED).unlink()
    assert done(whole_plan()) == ["main.o"]
    assert left(whole_plan()) == ["main.o"]


def with_old_times(name: str) -> None:
    path = Path(name)
    found, text = path.stat(), path.read_text()
    path.write_text(text.swapcase())
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def without_compilation() -> None:
    """In the ledger, where its line is damaged."""
    lines = LEDGER.read_bytes().splitlines(keepends=True)
    LEDGER.write_bytes(b"".join(line[: -40 if b"main.c" in line else None] for line in lines))


def with_output_that_was_gone() -> None:
    """When the step was entered into the ledger."""
    site = here()
    entry = site.ledger.entries["build/a"]
    site.ledger.write(replace(entry, outputs={"build/a": entry.outputs["build/a"]}))


FROM_A, FROM_B = ["a", "b.h", "c", "main.o"], ["b.h", "c", "main.o"]
# What happens, and what is left: steps to do, and those that may become so.
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
def test_what_a_change_concerns_is_left(name: str) -> None:
    change, expected = CHANGES[name]
    change()
    assert sorted(left(whole_plan())) == expected


PLANS = {
    "a parameter": (whole_plan(parameters=to_parameters({"a": 1})), FROM_A),
    "a tool": (whole_plan(tools=(Tool("cc", "1"),)), FROM_A),
    "a source more": (whole_plan(templates=("template", "two")), FROM_A),
    "an output more": (whole_plan(outputs=("build/a", "build/a.map", "build/more")), FROM_A),
    "what is to run always": (whole_plan(always=True), FROM_A),
    "a flag": (whole_plan("-DN=1"), ["main.o"]),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_another_plan_concerns_is_left(name: str) -> None:
    plan, expected = PLANS[name]
    assert sorted(left(plan)) == expected


def test_all_that_follows_from_changed_code_is_left() -> None:
    site = here()
    site.code = Code({__name__.partition(".")[0]: Path(__file__).parent})
    site.code.digests[__name__] = "another"
    assert sorted(left(whole_plan(), site)) == ["a", "b.h", "c", "d", "main.o"]


def test_what_is_up_to_date_leads_to_what_is_to_be_done_before_it() -> None:
    """Such as checks, which nobody reads, before the board is programmed."""
    plan = make_plan([step("checks", "one"), step("flash", "two", after=("build/checks",))])
    assert done(plan) == ["checks", "flash"]
    note_as_found()
    Path("one").write_text("1")
    assert left(plan) == ["checks", "flash"]
    assert done(plan) == ["checks"]


def test_a_step_that_makes_an_absent_header_counts_wherever_it_is_in_the_plan() -> None:
    late = step("part.h", "two", outputs=("near/part.h",))
    assert left(make_plan([*whole_plan().steps, late])) == ["main.o", "part.h"]


@pytest.mark.parametrize("seed", range(12))
def test_a_build_does_nothing_but_what_is_left(seed: int) -> None:
    """Any plan, and any changes of what is read, of what was made and of the plan."""
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
    note_as_found()
    for number in chosen.sample(range(15), chosen.randrange(3)):
        steps[number] = replace(steps[number], parameters=to_parameters({"seed": seed}))
    for name in chosen.sample([*names, *(each.name for each in steps)], chosen.randrange(5)):
        chosen.choice((lambda path: path.write_text("changed"), Path.touch, Path.unlink))(Path(name))
    for name in names:
        # A source that is gone is an error of the steps that read it.
        if not Path(name).exists():
            Path(name).write_text(name)
    plan = make_plan(steps)
    goals = chosen.sample(sorted(plan.makers), 3)
    # What a build system that follows these goals comes by.
    reached = [Path(each.name).name for each in remaining(plan, here()).behind(goals)]
    expected = left(plan)
    assert {*done(plan, wanted=goals)} <= {*reached}
    assert {*done(plan)} <= {*expected}
    # After it as a whole, nothing is left but what runs always and what may follow from it.
    note_as_found()
    assert [each.name for each in remaining(plan, here()).steps if not _may_follow(each, plan)] == []


def _may_follow(each: Step, plan: Plan) -> bool:
    return each.always or any(_may_follow(plan.makers[path], plan) for path in needs_of(each) if path in plan.makers)
