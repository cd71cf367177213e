"""Steps on a worker that is not n6build's, in sandboxes.

Every folder has another name in the sandbox.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from compiler.places import copied_toolchain, steps_in, use
from compiler_cache import real_compiler
from n6build.engine.local import execute, local_site
from n6build.engine.plan import make_plan
from n6build.engine.remote.executor import use_remote
from n6build.steps.c_array import c_array_step

from remote.build_box import build_box, reason_without

pytestmark = pytest.mark.skipif(bool(reason_without()), reason=reason_without())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a server whose compiler is at another place than here."""
    folder = tmp_path_factory.mktemp("box")
    copied_toolchain(folder / "compiler")
    with build_box(folder, folder / "compiler") as address:
        yield address


def test_it_makes_the_bytes_of_this_machine(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Functions of n6build, the compiler, the archiver and the linker make the bytes.

    The second time, the server knows all results.
    """
    monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "300")
    monkeypatch.chdir(tmp_path)
    toolchain, environment = use(Path(real_compiler() or "").parent)
    Path("in").write_bytes(b"model")
    plan = make_plan([*steps_in(Path("src"), toolchain), c_array_step("build/array.c", "in")])
    names = [output for step in plan.steps for output in step.outputs]
    execute(plan, names, local_site(Path("build"), environment))
    here = {name: Path(name).read_bytes() for name in names}
    for said in (f"{len(plan.steps)} steps by workers, ", f"0 steps by workers, {len(plan.steps)} known, "):
        shutil.rmtree("build")
        site = local_site(Path("build"), environment)
        remote = use_remote(server, site)
        assert remote is not None
        execute(plan, names, site)
        remote.finish()
        assert said in capsys.readouterr().out
        assert {entry.origin for entry in site.ledger.entries.values()} == {"elsewhere"}
        assert [name for name in names if Path(name).read_bytes() != here[name]] == []
