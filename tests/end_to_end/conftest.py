"""Fixtures that run the real scons in a copy of the project."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from called import call, shared_caches
from compiled_library import copy_project_file
from patience import NET_S
from samples import sample
from shared_folder import made_once, shared_folder

from end_to_end.hosts import started, with_another_weight
from end_to_end.lent_tree import LentTree

ROOT = Path(__file__).resolve().parents[2]
EQUAL = "10 of 10 outputs equal the reference interpreter bit for bit"
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
_VERBS = "Network|Reference|Inputs|Plan|Check|Weights|Vectors|Header|Compile|Link|Image|Manifest|Hex|Sizes|Flash|Run"
_VERBS += "|Compare|Place|Reloc|Model|Params|Slot|Array|Romfs|Sign|Verify"
_ACTION = re.compile(rf"^ *({_VERBS}) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """The result of a call of scons.

    Attributes:
        status: Exit status.
        output: Standard output and standard error.
    """

    status: int
    output: str

    @property
    def actions(self) -> list[str]:
        return [f"{verb} {re.sub(r'^build/[^/]+/', '', path)}" for verb, path in _ACTION.findall(self.output)]

    @property
    def flashed(self) -> str:
        match = re.search(r"^ *Flashed .*?, (.*)$", self.output, re.MULTILINE)
        return match[1] if match else "nothing"

    def done(self) -> Result:
        """Return this result, which is a success."""
        assert self.status == 0, self.output
        return self

    def refused(self) -> Result:
        """Return this result, which is an error of n6build without a traceback."""
        assert self.status == 2, self.output
        assert "Traceback" not in self.output, self.output
        return self


@dataclass(frozen=True)
class Project:
    """A copy of the project with its own build folder.

    Attributes:
        root: The copy's folder.
        home: Home folder of a user without settings or boards.
    """

    root: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its programs beside PATH."""
        # The copy must be found before a checkout that is installed as editable.
        return {"HOME": str(self.home), **shared_caches(), "PYTHONPATH": str(self.root / "site_scons")}

    def call(self, *command: str | Path, folder: Path | None = None, **environment: str) -> Result:
        """Run a command in its folder or in another one."""
        result = call(*command, cwd=folder or self.root, **{**self.environment, **environment})
        return Result(result.returncode, result.stdout + result.stderr)

    def scons(self, *arguments: str, **environment: str) -> Result:
        with self.started(*arguments, **environment) as process:
            try:
                output, _ = process.communicate(timeout=NET_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Result(process.returncode, output)

    def done(self, *arguments: str, **environment: str) -> Result:
        """Call scons, and check that it succeeds."""
        return self.scons(*arguments, **environment).done()

    def started(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start scons in its own session.

        A signal to the session reaches all processes that scons has started, as Ctrl-C does on a
        terminal.
        """
        variables = {"PATH": os.environ["PATH"], **self.environment, **environment}
        return started([sys.executable, "-m", "SCons", "-Q", *arguments], self.root, variables)

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert text.count(old) >= 1, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    def change_one_weight(self, model: str, change: int = 1, count: int = 1) -> None:
        """Change the last weight of the largest buffer, and the digest in model.yaml.

        Args:
            change: Bits of the weight that change.
            count: Number of weights that change.
        """
        path = self.root / f"models/{model}/{model}.tflite"
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        data = with_another_weight(path.read_bytes(), change, count)
        path.write_bytes(data)
        self.replace(f"models/{model}/model.yaml", before, hashlib.sha256(data).hexdigest())


def make_project(folder: Path) -> Project:
    root, home = folder / "project", folder / "home"
    root.mkdir()
    home.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, copy_function=copy_project_file)
        else:
            shutil.copy2(source, root / name)
    return Project(root, home)


@dataclass(frozen=True)
class BuiltOnce:
    """Projects that are built once and then copied or lent to tests.

    Attributes:
        shared: A folder that all processes of this test run share.
        lent_trees: Copies that tests of this process use one after the other, by name.
    """

    shared: Path
    lent_trees: dict[str, LentTree] = field(default_factory=dict)

    def original(self, *arguments: str) -> Project:
        """Return the project after a successful call of scons; do not change it.

        Without arguments, it is a project with nothing built.
        """
        name = hashlib.sha256("\0".join(sorted(arguments)).encode()).hexdigest()[:16]

        def make(folder: Path) -> None:
            project = make_project(folder)
            if arguments:
                project.done(*arguments)

        folder = made_once(self.shared / name, make)
        return Project(folder / "project", folder / "home")

    def copy(self, folder: Path, *arguments: str) -> Project:
        """Return a copy that the test may change freely."""
        original = self.original(*arguments)
        for each in (original.root, original.home):
            shutil.copytree(each, folder / each.name, symlinks=True, copy_function=copy_project_file)
        return Project(folder / original.root.name, folder / original.home.name)

    def lent(self, *arguments: str) -> Project:
        """Lend a copy to one test; the next test of this process gets it restored.

        A test does not have to copy 1,500 files. The path stays the same, so the plans are reused,
        too.
        """
        original = self.original(*arguments)
        name = f"{original.root.parent.name}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
        if name not in self.lent_trees:
            # A project with nothing built has no remembered plans to keep.
            kept = f"{original.root.name}/build/.n6build/plans" if arguments else None
            self.lent_trees[name] = LentTree(original.root.parent, self.shared / name, kept)
        folder = self.lent_trees[name].as_it_was()
        return Project(folder / original.root.name, folder / original.home.name)


def st_core(core: Path) -> dict[str, str]:
    """Return the variables that name ST Edge AI Core and headers of the device."""
    return {"STEDGEAI_CORE_DIR": str(core), "N6BUILD_CMSIS": str(sample("apps/audio"))}


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> BuiltOnce:
    return BuiltOnce(shared_folder(tmp_path_factory, "built-once"))


@pytest.fixture
def folder(built: Project, tmp_path: Path) -> Path:
    """Return a copy of the virtual board of the module's fixture `built`."""
    return Path(shutil.copytree(built.root / "build/virtual_board/nucleo-n657", tmp_path / "board"))


@pytest.fixture
def project(request: pytest.FixtureRequest, built_once: BuiltOnce) -> Project:
    """Return a project with nothing built, or built as marker `built` says."""
    marker = request.node.get_closest_marker("built")
    return built_once.lent(*(marker.args if marker else ()))
