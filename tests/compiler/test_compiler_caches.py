"""ccache and sccache in front of the compiler.

n6build does not take them for the compiler. They find the results of another checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from build_grid import SERVERS, free_port
from compiler_cache import real_compiler
from n6build.base.environment import read_environment
from n6build.compile.toolchain import COMPILER, Toolchain, find_toolchain
from n6build.engine import command
from n6build.engine.command import run_command
from n6build.engine.step import Step, Tool
from n6build.steps.compile_c import Compilation, compile_step


@dataclass(frozen=True)
class Front:
    """A compiler cache.

    Attributes:
        program: A link to the cache with the compiler's name, which is first on PATH.
        shows: Option that prints its statistics.
    """

    program: str
    environment: dict[str, str]
    shows: str

    def told(self, *words: str) -> str:
        return subprocess.run(
            [self.program, *words], env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        ).stdout

    def hits(self) -> int:
        found = re.findall(
            r"^(?:(?:direct|preprocessed)_cache_hit|Cache hits)\s+(\d+)", self.told(self.shows), re.MULTILINE
        )
        return sum(map(int, found))


@pytest.fixture(params=["ccache", "sccache"])
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    # The installed program is preferred: one on PATH may be a script that starts any program of its own name.
    installed = SERVERS / request.param
    program = str(installed) if installed.is_file() else shutil.which(request.param)
    assert program, "make setup-tests installs it"
    compiler = real_compiler()
    assert compiler is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / COMPILER).symlink_to(program)
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(compiler).parent), "/usr/bin", "/bin"])
    environment = {"PATH": path, "HOME": str(tmp_path), "CCACHE_DIR": str(tmp_path / "ccache")}
    environment |= {"SCCACHE_SERVER_PORT": str(free_port()), "SCCACHE_DIR": str(tmp_path / "sccache")}
    front = Front(program, environment, "--print-stats" if request.param == "ccache" else "--show-stats")
    yield front
    if request.param == "sccache":
        front.told("--stop-server")


def checkout(folder: Path, toolchain: Toolchain) -> Step:
    folder.mkdir()
    (folder / "where.h").write_text("#define WHERE __FILE__\n")
    (folder / "a.c").write_text('#include "where.h"\nconst char *const n6_where = WHERE;\n')
    return compile_step("a.o", folder / "a.c", Compilation(toolchain, folders=(".",)))


def test_another_checkout_gets_what_one_has_compiled(
    front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = find_toolchain(read_environment(front.environment), None)
    bare = {**front.environment, "PATH": front.environment["PATH"].partition(os.pathsep)[2]}
    assert toolchain.tool == find_toolchain(read_environment(bare), None).tool
    made = []
    for number, name in enumerate(("one", "an other $x'")):
        (folder := tmp_path / name).mkdir()
        monkeypatch.chdir(folder)
        step = checkout(folder / "src", toolchain)
        run_command(step, front.environment)
        made.append((folder / "a.o").read_bytes())
        assert front.hits() == number
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]
    # This compiler differs only in a part that the cache does not check.
    other = replace(step, tools=(Tool(COMPILER, "0" * 64),))
    run_command(other, front.environment)
    assert front.hits() == 1
    # This file of the same name has other options.
    (specs := tmp_path / command.SPECS.name).write_text(
        command.SPECS.read_text().replace("(N6BUILD_HERE =.)", "(N6BUILD_HERE =x)")
    )
    monkeypatch.setattr(command, "SPECS", specs)
    shutil.rmtree("build", ignore_errors=True)
    run_command(replace(step, sources=(*step.sources, str(specs))), front.environment)
    assert front.hits() == 1
