"""A plan as text for a terminal."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base import console
from n6build.engine.explain import State, Status
from n6build.engine.inspect import explain_text, plan_text
from n6build.engine.step import Step

from plan.plan_samples import application_plan, compilation, link, make

NEVER = ("it was never built in this build folder",)


def status(step: Step, state: State = "up to date", *reasons: str) -> Status:
    return Status(step, state, reasons)


def small_plan() -> list[Status]:
    sources = [f"firmware/kernels/{name}.c" for name in ("add", "conv", "mean", "pool", "relu")]
    objects = [compilation("build/kernels", source, ()) for source in sources]
    elf = link("build/appli.elf", [step.name for step in objects], ("build/pools.ld",))
    plan = make(
        "Plan",
        "plan",
        ("build/memory_plan.json", "build/pools.ld"),
        ("build/network.c", "boards/nucleo.yaml"),
        parameters={
            "profile": "extflash",
            "board": {"name": "NUCLEO", "revision": None},
            "sizes": [1, "2", "a b"],
        },
    )
    changed = [f"firmware/kernels/{name}.c has changed, from 0123456789ab to ba9876543210" for name in ("conv", "mean")]
    return [
        status(plan, "to do", "parameter profile has changed, from intflash to extflash", "build/pools.ld is missing"),
        status(objects[0]),
        status(objects[1], "to do", changed[0]),
        status(objects[2], "to do", changed[1]),
        status(objects[3]),
        status(objects[4]),
        status(elf, "if changed", "build/kernels/conv.o is made again", "build/kernels/mean.o is made again"),
        status(
            make("Image", "image", "build/appli_image.bin", (elf.name,)), "if changed", "build/appli.elf is made again"
        ),
    ]


def test_a_plan_is_told_in_few_lines() -> None:
    assert plan_text(small_plan(), ("build",)).splitlines() == [
        "      Goals build",
        "       Plan build/memory_plan.json and 1 more, to do",
        "            from build/network.c, boards/nucleo.yaml",
        '            with board: {name: NUCLEO, revision: null}, profile: extflash, sizes: [1, "2", "a b"]',
        "            why  parameter profile has changed, from intflash to extflash",
        "                 build/pools.ld is missing",
        "    Compile build/kernels, 3 files, up to date",
        "    Compile build/kernels/conv.o, to do",
        "            from firmware/kernels/conv.c",
        "            why  firmware/kernels/conv.c has changed, from 0123456789ab to ba9876543210",
        "    Compile build/kernels/mean.o, to do",
        "            from firmware/kernels/mean.c",
        "            why  firmware/kernels/mean.c has changed, from 0123456789ab to ba9876543210",
        "       Link build/appli.elf and 1 more, if changed",
        "            why  build/kernels/conv.o is made again, and 1 more",
        "      Image build/appli_image.bin, if changed",
        "            why  build/appli.elf is made again",
        "     In all 3 of 8 steps to do, 2 if those change",
    ]


def test_who_wants_to_know_all_gets_all() -> None:
    lines = plan_text(small_plan()[4:7], verbose=True).splitlines()
    assert lines == [
        "    Compile build/kernels/pool.o, up to date",
        "            from firmware/kernels/pool.c",
        "            run  arm-none-eabi-gcc -o build/kernels/pool.o -c -mcpu=cortex-m55 -O2",
        "                 firmware/kernels/pool.c",
        "    Compile build/kernels/relu.o, up to date",
        "            from firmware/kernels/relu.c",
        "            run  arm-none-eabi-gcc -o build/kernels/relu.o -c -mcpu=cortex-m55 -O2",
        "                 firmware/kernels/relu.c",
        "       Link build/appli.elf and 1 more, if changed",
        "            and  build/appli.map",
        "            from build/kernels/add.o, build/kernels/conv.o, build/kernels/mean.o,",
        "                 build/kernels/pool.o, build/kernels/relu.o, build/pools.ld",
        "            run  arm-none-eabi-gcc -o build/appli.elf build/kernels/add.o build/kernels/conv.o",
        "                 build/kernels/mean.o build/kernels/pool.o build/kernels/relu.o",
        "            why  build/kernels/conv.o is made again",
        "                 build/kernels/mean.o is made again",
        "     In all 0 of 3 steps to do, 1 if those change",
    ]


def test_what_is_up_to_date_is_one_line() -> None:
    steps = application_plan().steps
    lines = plan_text([status(step) for step in steps]).splitlines()
    assert len(lines) == 28
    assert lines[-1] == f"     In all nothing to do: {len(steps)} steps up to date"
    assert all(line.endswith(", up to date") for line in lines[:-1])
    # Every file counts, also in a folded line.
    assert "    Compile build/nucleo_n657x0_q/common/kernels, 9 files, up to date" in lines


def test_in_a_new_folder_the_reason_is_said_once() -> None:
    steps = application_plan().steps
    text = plan_text([status(step, "to do", *NEVER) for step in steps])
    assert text.count(NEVER[0]) == 1
    assert text.endswith(f"     In all 55 of 55 steps to do\n            why  {NEVER[0]}\n")
    assert "    Compile build/nucleo_n657x0_q/common/kernels, 9 files, to do\n" in text
    assert "            from firmware/kernels (9 files)\n" in text


def test_steps_of_a_folder_with_different_reasons_stay_apart() -> None:
    steps = [compilation("build/k", f"k/{name}.c", ()) for name in "abcdef"]
    statuses = [status(step, "to do", f"{step.sources[0]} has changed, from 0 to 1") for step in steps[:2]]
    statuses += [status(step, "to do", "k/k.h has changed, from 2 to 3") for step in steps[2:]]
    lines = plan_text(statuses).splitlines()
    assert "    Compile build/k, 4 files, to do" in lines
    assert "            why  k/a.c has changed, from 0 to 1" in lines
    assert lines.count("            why  k/k.h has changed, from 2 to 3") == 1


def test_many_sources_are_counted() -> None:
    step = make("Link", "link", "build/a.elf", [f"build/folder_{n}/some_longer_name.o" for n in range(40)])
    line = plan_text([status(step, "to do", *NEVER)]).splitlines()[1]
    assert line == f"            from {', '.join(step.sources[:2])} and 38 more"


def test_no_line_is_longer_than_the_terminal() -> None:
    name = "n" * 300
    step = make(
        name, "stage", (f"build/{name}/{name}.c", "b"), (f"s/{name}.c", f"t/{name}.c"), parameters={name: [name] * 50}
    )
    step = replace(step, function="", command=(name, "-o", name))
    for columns in (60, 100, 140):
        for verbose in (False, True):
            text = plan_text(
                [status(step, "to do", name, name, *map(str, range(9)))], [name], verbose=verbose, columns=columns
            )
            assert max(map(len, text.splitlines())) <= columns
            assert "n.c and 1 more, to do" in text


def test_an_empty_plan_is_none() -> None:
    assert plan_text([]) == "     In all nothing to do: 0 steps up to date\n"
    assert plan_text([status(make("Plan", "plan", "p"))]).endswith("nothing to do: 1 step up to date\n")


def test_deep_parameters_are_cut_where_nobody_can_follow() -> None:
    value: Any = 1
    for _ in range(25):
        value = {"a": [value]}
    text = plan_text([status(make("Plan", "plan", "p", parameters={"deep": value, "e": {}}), "to do", *NEVER)])
    assert "            with deep: {a: [{a: [{...}]}]}, e: {}" in text.splitlines()


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = plan_text(small_plan())
    monkeypatch.setattr(console, "_colour", lambda: True)
    coloured = plan_text(small_plan())
    assert "\x1b[2m    Compile build/kernels, 3 files, up to date\x1b[0m\n" in coloured
    for code in ("\x1b[2m", "\x1b[36m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_an_explanation_is_shown_below_the_file() -> None:
    assert explain_text("build/a.o", ["will be made:", "  a.c\x1b[2J has changed"]) == (
        "    Explain build/a.o\n            will be made:\n              a.c\\x1b[2J has changed\n"
    )


LETTERS = st.sampled_from("\x1b\ud800\u202e\n\r%\"'{}ab,") | st.characters(exclude_characters="\0/.")
NAMES = st.lists(LETTERS, min_size=1, max_size=120).map("".join)


@given(NAMES, st.booleans(), st.sampled_from(["up to date", "to do", "if changed"]))
@settings(max_examples=150, deadline=None)
def test_no_name_drives_a_terminal(name: str, verbose: bool, state: State) -> None:
    folder, one = f"build/{name}", f"{name}/{name}"
    steps = [make(name, name, f"{folder}/{n}{name}", (one, name), parameters={name: name}) for n in range(4)]
    steps.append(make("Link", "link", name, (one,), command=(name, one)))
    text = plan_text([status(step, state, name, f"{name} gone") for step in steps], [name], verbose=verbose)
    text += explain_text(name, [name])
    assert all(line.isprintable() for line in text.removesuffix("\n").split("\n"))


def test_thousands_of_steps_take_no_time() -> None:
    statuses = [
        status(
            compilation(f"build/{n % 50}", f"src/{n % 50}/file_{n}.c"), "to do", f"src/{n}.c has changed, from 0 to 1"
        )
        for n in range(2000)
    ]
    began = time.perf_counter()
    plan_text(statuses)
    plan_text(statuses, verbose=True)
    assert time.perf_counter() - began < 3
