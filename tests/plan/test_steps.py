"""Steps and plans: their valid forms, and errors before anything runs."""

from __future__ import annotations

import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.paths import LIBRARY
from n6build.engine.closure import Code, library_code
from n6build.engine.plan import joined, make_plan, plan_json, read_plan_json
from n6build.engine.signature import signed_parts
from n6build.engine.step import Step, Tool, canonical, to_parameters

HERE = r"tests/plan/test_steps\.py:\d+: "


def step(output: str = "out/a", **given: object) -> Step:
    values: dict[str, object] = {"verb": "Make", "stage": "test", "outputs": (output,), "command": ("true",)}
    if "function" in given:
        del values["command"]
    return Step(**{**values, **given})  # type: ignore[arg-type]


def made(*names: str) -> Step:
    """Return a step that makes the first file from the others."""
    return step(names[0], sources=names[1:])


MISTAKES = [
    ({"outputs": ()}, "N6-STEP-005: step Make: has no output"),
    ({"command": ()}, "N6-STEP-007: step out/a: needs either a function or a command"),
    ({"command": ("cc",), "function": "n6build.steps.c_array:make_c_array"}, "N6-STEP-007"),
    ({"function": "lambda: 0"}, "N6-STEP-007: step out/a: 'lambda: 0' is not a function of a module"),
    ({"function": "n6build.steps.c_array"}, "N6-STEP-007"),
    ({"function": "n6build.steps.c_array:Make.it"}, "N6-STEP-007"),
    ({"parameters": "{'a': 1}"}, "N6-STEP-006: step out/a: its parameters are not canonical JSON"),
    ({"sources": ("a//b",)}, "N6-STEP-008: step out/a: 'a//b' is not a file path"),
    ({"sources": ("a/../b",)}, "N6-STEP-008"),
    ({"sources": ("",)}, "N6-STEP-008"),
    ({"outputs": ("a\0b",)}, "N6-STEP-008"),
]


@pytest.mark.parametrize(("given", "message"), MISTAKES, ids=lambda value: str(value)[:40])
def test_a_step_that_cannot_be_is_refused_with_the_line_that_makes_it(given: dict[str, Any], message: str) -> None:
    with pytest.raises(N6Error) as caught:
        step(**given)
    assert message in str(caught.value)
    assert re.match(HERE, str(caught.value)), str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"bytes", Path("x"), object()])
def test_a_parameter_that_cannot_be_written_as_json_is_refused_with_the_line(value: object) -> None:
    with pytest.raises(N6Error, match="N6-STEP-006: a parameter cannot be written as JSON") as caught:
        to_parameters({"value": value})
    assert re.match(HERE, str(caught.value))


@pytest.mark.parametrize(
    "function", ["n6build.steps.no_such:make_no_such", "n6build.steps.c_array:no_such", "no_such:make"]
)
def test_a_function_that_is_not_there_is_said_when_the_plan_is_made(function: str) -> None:
    with pytest.raises(N6Error, match="N6-STEP-007"):
        make_plan([step(function=function)])


def test_two_steps_with_one_output_are_refused_with_both_lines() -> None:
    with pytest.raises(N6Error, match="N6-STEP-003: two steps make out/a: Make out/a .* and Other out/b") as caught:
        make_plan([step(), step(verb="Other", outputs=("out/b", "out/a"))])
    assert str(caught.value).count("test_steps.py:") == 3


def test_the_same_step_twice_counts_once() -> None:
    assert make_plan([step(), step()]).steps == (step(),)


def test_a_circle_is_refused_with_its_files() -> None:
    with pytest.raises(N6Error, match="N6-STEP-004: steps depend on each other in a cycle: a <- b <- c <- a"):
        make_plan([made("x", "a"), made("a", "b"), made("b", "c"), made("c", "a")])


def test_a_step_of_its_own_output_is_a_circle() -> None:
    with pytest.raises(N6Error, match="cycle: a <- a"):
        make_plan([made("a", "a")])


def test_a_plan_deeper_than_the_stack_is_ordered() -> None:
    chain = [made(f"n{number}", f"n{number + 1}") for number in range(5000)]
    ordered = make_plan(chain).steps
    assert ordered[0].name == "n4999"
    assert ordered[-1].name == "n0"


@given(seed=st.integers(), size=st.integers(1, 25))
def test_steps_come_behind_what_they_need_whatever_their_order(seed: int, size: int) -> None:
    dice = random.Random(seed)
    steps = []
    for number in range(size):
        below = dice.sample(range(number), min(number, dice.randint(0, 3)))
        steps.append(made(f"n{number}", *(f"n{each}" for each in below)))
    dice.shuffle(steps)
    plan = make_plan(steps)
    place = {each.name: index for index, each in enumerate(plan.steps)}
    assert all(place[source] < place[each.name] for each in plan.steps for source in each.sources)
    assert {each.name for each in plan.behind([f"n{size - 1}"])} <= set(place)


def test_plans_share_steps_and_join_their_goals() -> None:
    one, other = (
        make_plan([made("a"), made("b", "a")], {"all": ["b"]}),
        make_plan([made("a"), made("c", "a")], {"all": ["c"]}),
    )
    both = joined([one, other])
    assert [each.name for each in both.steps] == ["a", "b", "c"]
    assert both.goals == {"all": ("b", "c")}


FULL = step(
    "out/x",
    sources=("a.c",),
    parameters=to_parameters({"b": [1, None, "ü"], "a": 0.5}),
    templates=("t.j2",),
    include_folders=("include",),
    depfile="out/x.d",
    tools=(Tool("cc", "00"),),
    after=("h.h",),
    state=("record",),
    always=True,
    shared=False,
    quiet=True,
    kept=("out/x",),
)


def test_a_plan_is_the_same_from_its_json() -> None:
    plan = make_plan([FULL, step()], {"goal": ["out/x"]})
    text = json.dumps(plan_json(plan))
    again = read_plan_json(json.loads(text))
    assert again == plan
    assert json.dumps(plan_json(again)) == text


@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(max_size=5), lambda v: st.lists(v) | st.dictionaries(st.text(max_size=8), v)
    )
)
def test_what_is_no_plan_is_refused(value: object) -> None:
    with pytest.raises(N6Error, match="N6-STEP-00"):
        read_plan_json(value)


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 2},
        {"steps": [{"outputs": ["a"]}]},
        {"steps": [{"verb": "x", "stage": "y", "outputs": "a", "command": ["z"]}]},
        {"steps": [{"verb": "x", "stage": "y", "outputs": ["a"], "command": ["z"], "unknown": 1}]},
        {"steps": [{"verb": "x", "stage": "y", "outputs": ["a"], "command": [1]}]},
        {"goals": []},
    ],
    ids=str,
)
def test_a_damaged_plan_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(N6Error, match="N6-STEP-00"):
        read_plan_json({**plan_json(make_plan([step()])), **damage})


CHANGES = [
    {"verb": "Other"},
    {"outputs": ("out/x", "out/y")},
    {"sources": ("b.c",)},
    {"sources": ("a.c", "b.c")},
    {"command": ("false",)},
    {"parameters": to_parameters({"a": 1})},
    {"templates": ("u.j2",)},
    {"include_folders": ("other",)},
    {"depfile": "out/y.d"},
    {"tools": (Tool("cc", "01"),)},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_whatever_decides_what_a_step_makes_is_signed(change: dict[str, Any]) -> None:
    code = library_code()
    assert signed_parts(replace(FULL, **change), code, "/top") != signed_parts(FULL, code, "/top")


def test_the_order_of_sources_is_signed() -> None:
    code = library_code()
    one, other = (replace(FULL, sources=names) for names in (("a", "b"), ("b", "a")))
    assert signed_parts(one, code, "/top") != signed_parts(other, code, "/top")


def test_the_code_of_a_function_is_signed(tmp_path: Path) -> None:
    """The signature has the code of the module and of all its imports.

    It has no other code.
    """
    (tmp_path / "ours").mkdir()
    for name, text in {"__init__": "", "make": "from ours import helper\n", "helper": "X = 1\n", "other": ""}.items():
        (tmp_path / f"ours/{name}.py").write_text(text)
    made_by = Step("Make", "test", ("a",), function="ours.make:make")

    def now() -> dict[str, object]:
        return signed_parts(made_by, Code({"ours": tmp_path / "ours"}), "/top")

    before = now()
    (tmp_path / "ours/other.py").write_text("X = 2\n")
    assert now() == before
    (tmp_path / "ours/helper.py").write_text("X = 2\n")
    assert now() != before


@pytest.mark.parametrize("name", ["engine/call.py", "engine/watch.py", "engine/step_process.py"])
def test_the_code_on_the_way_to_a_function_is_signed(name: str, tmp_path: Path) -> None:
    """A command does not run this code, so that its signature lacks it."""
    library = tmp_path / "n6build"
    shutil.copytree(LIBRARY, library, ignore=shutil.ignore_patterns("__pycache__"))
    function = Step("Make", "test", ("a",), function="n6build.steps.image_sizes:make_missing_sectors")
    command = Step("Compile", "compile", ("b",), command=("cc",))

    def now(step: Step) -> dict[str, object]:
        return signed_parts(step, Code({"n6build": library}), "/top")

    before = now(function), now(command)
    with (library / name).open("a") as file:
        file.write("# Another version.\n")
    assert now(function) != before[0]
    assert now(command) == before[1]


def test_a_signature_is_the_same_in_every_checkout() -> None:
    code = library_code()

    def at(top: str) -> dict[str, object]:
        return signed_parts(step(sources=(f"{top}/x/a.c",), command=("cc", f"-I{top}/x")), code, top)

    assert at("/home/one") == at("/home/two/deep")


@given(text=st.text(max_size=30))
def test_parameters_are_one_text_for_equal_values(text: str) -> None:
    assert to_parameters({"b": text, "a": 1}) == to_parameters({"a": 1, "b": text}) == canonical({"a": 1, "b": text})
