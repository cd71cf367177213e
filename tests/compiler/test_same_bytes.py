"""Sources give the same bytes, wherever compiler, project and n6build are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from compiler_cache import real_compiler
from n6build.compile.toolchain import COMPILER
from n6build.engine.command import make_map_portable, run_command
from n6build.engine.step import Step

from compiler.places import copied_toolchain, steps_in, use


@pytest.fixture(scope="module")
def toolchains(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Return folders of programs: the installed one and two further places.

    The project may be beside one of them.
    """
    folder = tmp_path_factory.mktemp("tool chains")
    installed = Path(real_compiler() or "").parent
    return (installed, copied_toolchain(folder / "a"), copied_toolchain(folder / "another one" / "opt"))


def built(steps: Sequence[Step], environment: Mapping[str, str]) -> dict[str, bytes]:
    shutil.rmtree("build", ignore_errors=True)
    for step in steps:
        run_command(step, environment)
    return {name: Path(name).read_bytes() for step in steps for name in step.outputs}


def test_places_of_compilers_and_projects_are_in_no_product(
    toolchains: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources may be in the project or beside it.

    The compiler also counts as the same one in the key.
    """
    found, tools = [], set()
    for number, programs in enumerate(toolchains):
        for project in ("p", "an other $x'/project"):
            place = tmp_path / str(number) / project
            place.mkdir(parents=True)
            monkeypatch.chdir(place)
            toolchain, environment = use(programs)
            tools.add(toolchain.tool)
            found.append(built(steps_in(place / "src", toolchain), environment))
    assert len(tools) == 1
    assert len(found) == 6
    for other in found[1:]:
        assert [name for name, data in other.items() if data != found[0][name]] == []
    places = (tmp_path, *(programs.parent for programs in toolchains))
    for name, data in found[0].items():
        # Debug information of the C library names folders of its maker.
        assert [place for place in places if f"{place}/".encode() in data] == [] or name == "build/all.elf"
    debug = found[0]["build/a.c.o"]
    assert b"/toolchain/gcc" in debug
    assert b"/toolchain/newlib" in debug
    assert b"LOAD /toolchain/libgcc.a" in found[0]["build/all.map"]


def test_the_maps_are_needed(toolchains: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands without the maps make other bytes in every product.

    This shows that the test above can fail.
    """
    found = []
    for number, programs in enumerate(toolchains[:2]):
        place = tmp_path / str(number)
        place.mkdir()
        monkeypatch.chdir(place)
        toolchain, environment = use(programs)
        steps = steps_in(place / "src", toolchain)
        Path("build").mkdir()
        for step in steps:
            subprocess.run(step.command, env={**os.environ, **environment}, check=True)
        found.append({name: Path(name).read_bytes() for step in steps for name in step.outputs})
    assert [name for name, data in found[0].items() if data == found[1][name]] == []


def test_the_place_of_other_headers_of_a_compiler_is_in_the_key(tmp_path: Path) -> None:
    """A compiler may search a folder that n6build does not know.

    It counts as another compiler at each place.
    """
    tools = []
    for place in (tmp_path / "a", tmp_path / "b"):
        programs = copied_toolchain(place)
        plain = use(programs)[0].tool
        told = subprocess.run([programs / COMPILER, "-dumpspecs"], capture_output=True, text=True, check=True).stdout
        (specs := next(place.glob("lib/gcc/*/*/libgcc.a")).with_name("specs")).write_text(
            told.replace("*cpp:\n", "*cpp:\n-isystem %:find-file(more) ")
        )
        (specs.parent / "more").mkdir()
        tools.append((plain, use(programs)[0].tool))
    assert tools[0][0] == tools[1][0]
    assert len(set(tools[0] + tools[1])) == 3


@pytest.mark.parametrize("flag", ["-flto", "--coverage", "-fprofile-generate"])
def test_what_keeps_its_place_is_not_shared(flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GCC writes its options, or the path of a file for counters, into such objects."""
    monkeypatch.chdir(tmp_path)
    toolchain, _ = use(Path(real_compiler() or "").parent)
    assert [step.shared for step in steps_in(Path("plain"), toolchain)] == [True] * 5
    assert [step.shared for step in steps_in(Path("with"), toolchain, [flag])] == [False] * 3 + [True] * 2


def test_a_map_keeps_the_paths_that_the_step_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths that the step names are the same wherever it runs.

    Paths that the compiler finds are not.
    """
    monkeypatch.chdir(tmp_path)
    step = Step(
        verb="Link",
        stage="link",
        outputs=("a.elf", "a.map"),
        sources=("/opt/st lib/net.a",),
        command=("ld", "-Wl,-Map=a.map"),
    )
    lines = [
        "/opt/my tools/lib/libc.a(memset.o)",
        "                              build/a.o (memset)",
        "LOAD /opt/st lib/net.a",
        "LOAD /opt/my tools/lib/libgcc.a",
        " .text          0x34000000       0x10 /opt/st lib/net.a(x.o)",
        " .text          0x34000010       0x10 /opt/my tools/lib/libgcc.a(y.o)",
        "/DISCARD/",
        "                0x34000020                stack = (. / 0x2 / 0x4)",
    ]
    Path("a.map").write_text("\n".join(lines) + "\n")
    make_map_portable(step)
    assert Path("a.map").read_text().splitlines() == [
        "/toolchain/libc.a(memset.o)",
        lines[1],
        lines[2],
        "LOAD /toolchain/libgcc.a",
        lines[4],
        " .text          0x34000010       0x10 /toolchain/libgcc.a(y.o)",
        *lines[6:],
    ]
