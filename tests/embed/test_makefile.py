"""The rules for make, carried out by the real one: names of all kinds, several outputs, headers, what is done again and when."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.embed.host_build import HostBuild, Planning, check_folder
from n6build.embed.makefile import included, makefile
from n6build.embed.places import MAKEFILE
from n6build.plan.plan import Plan, make_plan
from n6build.plan.step import Step

FOLDER = "out"
# In place of n6build: notes its arguments, and makes the outputs that a file lists for the step.
STAND_IN = """#!/bin/sh
[ "$1" = step ] || { echo "planned" >> log; cp next.mk out/targets.mk; exit 0; }
echo "$2" >> log
while IFS= read -r name; do : > "$name"; done < "out/outputs-of/$(basename "$2")"
"""


def step(outputs: tuple[str, ...], *sources: str, **more: tuple[str, ...] | str) -> Step:
    return Step(verb="Make", stage="test", outputs=outputs, sources=sources, command=("true",), **more)  # type: ignore[arg-type]


def build_of(plan: Plan, planning: Planning) -> HostBuild:
    stamps = {each.name: f"{FOLDER}/stamp-{number}" for number, each in enumerate(plan.steps)}
    return HostBuild(plan, planning, FOLDER, "'model=x'", stamps, "/include", ())


def lay_out(folder: Path, plan: Plan, planning: Planning | None = None) -> None:
    """A host with these rules, all sources there and older than anything that is made."""
    build = build_of(plan, planning or Planning(("plan-input",)))
    (folder / FOLDER / "outputs-of").mkdir(parents=True)
    for each in plan.steps:
        (folder / FOLDER / "outputs-of" / Path(each.name).name).write_text(
            "".join(f"{name}\n" for name in each.outputs)
        )
        for source in (*each.sources, *each.templates):
            if source not in plan.makers:
                (folder / source).touch()
    for name in (*build.stamp_of.values(), "plan-input"):
        (folder / name).touch()
    for path in folder.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    (folder / "next.mk").write_text(makefile(build))
    shutil.copy(folder / "next.mk", folder / FOLDER / "targets.mk")
    stand_in = folder / "stand-in"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    (folder / "Makefile").write_text(
        f"N6BUILD = ./stand-in\nN6_BUILD = {FOLDER}\nN6_MODEL = x\ninclude {MAKEFILE}\nall: n6-build\nclean:\n"
    )


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # These tests may be run by make: without what the outer one hands on, this one prints no folders.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS")}
    command = ["make", *arguments]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def done(folder: Path, *arguments: str) -> list[str]:
    """What a call of make does."""
    (folder / "log").write_text("")
    make(folder, *arguments)
    return (folder / "log").read_text().splitlines()


NAMES = st.text(st.sampled_from("ab1 $#%:=;|&*?[]~\\'\"!(){},<>`@+-._é\n\t"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NAMES, NAMES)
def test_a_name_is_refused_or_make_takes_it_for_what_it_is(tmp_path: Path, source: str, output: str) -> None:
    folder = tmp_path / "host"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plan = make_plan([step((f"{FOLDER}/{output}",), f"s{source}")], {"build": (f"{FOLDER}/{output}",), "library": ()})
    try:
        lay_out(folder, plan)
    except N6Error as error:
        assert error.id == "N6-EMBED-001"
        assert (source + "\n" + output + "\n").count(" \n") or set(source + output) & set(
            "%:=;|&*?[]~\\'\"!(){},<>`\n\t"
        )
        return
    assert done(folder) == [f"{FOLDER}/{output}"]
    assert done(folder) == []
    (folder / f"s{source}").touch()
    os.utime(folder / f"s{source}", (4_000_000_000, 4_000_000_000))
    assert done(folder) == [f"{FOLDER}/{output}"]


PAIR = step(("out/a.c", "out/a.h"), "model", templates=("template",))
OBJECT = step(("out/a.o",), "out/a.c", after=("out/a.h",), depfile="out/a.o.d")
PLAN = make_plan([PAIR, OBJECT], {"build": ("out/a.o",), "library": ()})


@pytest.fixture
def host(tmp_path: Path) -> Path:
    lay_out(tmp_path, PLAN)
    assert done(tmp_path, "-j2") == ["out/a.c", "out/a.o"]
    return tmp_path


def test_nothing_is_done_twice(host: Path) -> None:
    assert done(host) == []
    assert done(host, "-j2", "n6-build") == []


@pytest.mark.parametrize("changed", ["model", "template", "out/stamp-0"])
def test_sources_templates_and_stamps_are_followed(host: Path, changed: str) -> None:
    os.utime(host / changed, (4_000_000_000, 4_000_000_000))
    assert "out/a.c" in done(host)


def test_one_of_several_outputs_that_is_missing_is_made_once(host: Path) -> None:
    (host / "out/a.h").unlink()
    assert done(host, "-j2", "all", "out/a.h").count("out/a.c") == 1


def test_headers_that_the_compiler_names_are_followed_and_may_disappear(host: Path) -> None:
    (host / "own.h").touch()
    os.utime(host / "own.h", (1_000_000_000, 1_000_000_000))
    (host / "out/a.o.d").write_text("out/a.o: out/a.c own.h\n\nown.h:\n")
    assert done(host) == []
    os.utime(host / "own.h", (4_000_000_000, 4_000_000_000))
    assert done(host) == ["out/a.o"]
    (host / "own.h").unlink()
    assert done(host) == ["out/a.o"]


def test_a_dry_run_does_nothing_and_b_does_everything(host: Path) -> None:
    (host / "out/a.o").unlink()
    assert done(host, "-n") == []
    assert not (host / "out/a.o").exists()
    assert [each for each in done(host, "-B") if each != "planned"] == ["out/a.c", "out/a.o"]


@pytest.mark.parametrize("change", ["content", "removed", "option", "appeared", "listed", "variable"])
def test_a_plan_is_made_again_for_all_that_it_follows_from(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N6BUILD_BOARD", "one")
    (tmp_path / "listed").mkdir()
    (tmp_path / "listed/a.c").touch()
    planning = Planning(
        ("plan-input",),
        (str(tmp_path / "appears"),),
        {(str(tmp_path / "listed"), "*.c"): ("a.c",)},
        {"N6BUILD_BOARD": "one"},
    )
    lay_out(tmp_path, PLAN, planning)
    assert "planned" not in done(tmp_path)
    arguments = []
    if change == "content":
        os.utime(tmp_path / "plan-input", (4_000_000_000, 4_000_000_000))
    elif change == "removed":
        (tmp_path / "plan-input").unlink()
    elif change == "option":
        arguments = ["N6_MODEL=y"]
    elif change == "appeared":
        (tmp_path / "appears").touch()
    elif change == "listed":
        (tmp_path / "listed/b.c").touch()
    else:
        monkeypatch.setenv("N6BUILD_BOARD", "two")
    # Once, although the stand-in's plan is as before: never an endless loop.
    assert done(tmp_path, *arguments).count("planned") == 1


@pytest.mark.parametrize("flag", ["-n", "-q", "-t", "-nk", "--question"])
def test_a_call_that_is_to_change_nothing_makes_no_plan(host: Path, flag: str) -> None:
    os.utime(host / "plan-input", (4_000_000_000, 4_000_000_000))
    (host / "log").write_text("")
    before = {path: path.stat().st_mtime_ns for path in host.rglob("*") if path.name != "targets.mk"}
    said = subprocess.run(["make", flag], cwd=host, capture_output=True, text=True, check=False)
    # There is something to do, and a question is answered so.
    assert said.returncode == (1 if "q" in flag else 0), said
    assert (host / "log").read_text() == ""
    assert {path: path.stat().st_mtime_ns for path in host.rglob("*") if path.name != "targets.mk"} == before
    if "n" in flag and "q" not in flag:
        assert "embed make" in said.stdout


def test_a_dry_run_before_the_first_plan_says_that_it_is_made(host: Path) -> None:
    shutil.rmtree(host / FOLDER)
    assert "embed make" in make(host, "-n").stdout
    assert not (host / FOLDER).exists()


def test_a_question_about_what_is_up_to_date_is_answered_so(host: Path) -> None:
    assert done(host, "-q", "all", "n6-build") == []
    assert done(host, "--no-print-directory", "all") == []


def test_an_error_is_kept_to_what_needs_the_step(host: Path) -> None:
    (host / "out/a.o").unlink()
    (host / "stand-in").write_text("#!/bin/sh\nexit 3\n")
    with (host / "Makefile").open("a") as file:
        file.write("other:\n\t@echo other >> log\n")
    (host / "log").write_text("")
    result = subprocess.run(["make", "-k", "-j2", "-Oline", "all", "other"], cwd=host, capture_output=True, check=False)
    assert result.returncode == 2
    assert (host / "log").read_text() == "other\n"


def test_an_old_make_is_refused(host: Path) -> None:
    said = subprocess.run(
        ["make", ".FEATURES=target-specific order-only", "MAKE_VERSION=4.2.1"],
        cwd=host,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 2
    assert "n6build needs GNU make 4.3 or later, this is 4.2.1" in said.stderr


def test_the_host_s_first_target_stays_its_default_and_clean_needs_no_plan(host: Path) -> None:
    (host / "Makefile").write_text(
        (host / "Makefile").read_text().replace("all: n6-build", "first:\n\t@echo first > log")
    )
    assert done(host) == ["first"]
    (host / "out/.n6build").mkdir()
    assert done(host, "clean") == []
    assert not (host / "out").exists()
    assert done(host, "clean") == []


def test_cleaning_removes_no_folder_that_n6build_did_not_make(host: Path) -> None:
    make(host, "clean")
    assert (host / "out/a.o").exists()


def test_steps_on_a_board_are_not_rules() -> None:
    flash = replace(step(("out/receipt",), "out/a.o"), state=("record",))
    plan = make_plan([PAIR, OBJECT, flash], {"build": ("out/a.o", "out/receipt"), "library": ()})
    assert "receipt" not in makefile(build_of(plan, Planning(())))


def test_a_build_folder_of_its_own_with_a_plain_name() -> None:
    assert check_folder("build/n6-build") == "build/n6-build"
    for folder in ("a b", "$(HOME)", ".", "..", "a;b", "-x", ""):
        with pytest.raises(N6Error) as caught:
            check_folder(folder)
        assert caught.value.id == "N6-EMBED-002"


def test_a_program_with_a_runtime_of_its_own_does_not_wait_for_the_library(tmp_path: Path) -> None:
    library = step(("out/libn6networks.a",), "model")
    plan = make_plan([library], {"build": (), "library": library.outputs})
    lay_out(tmp_path, plan)
    rules = makefile(replace(build_of(plan, Planning(("plan-input",))), program="app.elf"))
    (tmp_path / "out/targets.mk").write_text(rules)
    with (tmp_path / "Makefile").open("a") as file:
        file.write("app.elf:\n\ttouch $@\n")
    assert done(tmp_path, "N6_LINKED=0", "app.elf") == []
    assert (tmp_path / "app.elf").exists()
    assert done(tmp_path, "app.elf") == ["out/libn6networks.a"]


def test_n6build_s_own_makefile_is_named_and_never_carried_out(tmp_path: Path) -> None:
    place = tmp_path / "it is $HOME #1/n6build.mk"
    place.parent.mkdir()
    place.write_text("all:\n\t@echo found\n")
    (tmp_path / "Makefile").write_text(included(str(place)))
    assert make(tmp_path).stdout == "found\n"
    for folder in ("$(shell touch PWNED)", "`touch PWNED`", "a;b", "a,b"):
        with pytest.raises(N6Error, match="N6-EMBED-001"):
            included(f"/{folder}/n6build.mk")
