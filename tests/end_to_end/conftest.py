"""Real scons in a copy of the project, and what it did."""

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
from compiled_library import copy_project_file
from patience import NET_S
from shared_folder import made_once, shared_folder

from end_to_end.hosts import with_another_weight
from end_to_end.lent_tree import LentTree

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
_VERBS = "Network|Reference|Inputs|Plan|Check|Weights|Vectors|Header|Compile|Link|Image|Manifest|Hex|Sizes|Flash|Run"
_VERBS += "|Compare|Place|Reloc|Model|Params|Slot|Array|Romfs|Sign|Verify"
_ACTION = re.compile(rf"^ *({_VERBS}) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """actions: 'Verb path' in the order in which they ran, paths without build/<board>/ or build/flash/."""

    status: int
    output: str

    @property
    def actions(self) -> list[str]:
        return [f"{verb} {re.sub(r'^build/[^/]+/', '', path)}" for verb, path in _ACTION.findall(self.output)]

    @property
    def flashed(self) -> str:
        match = re.search(r"^ *Flashed .*?, (.*)$", self.output, re.MULTILINE)
        return match[1] if match else "nothing"


@dataclass(frozen=True)
class Project:
    """A copy of the project with a build folder of its own. home: of a user without settings or boards."""

    root: Path
    home: Path

    def scons(self, *arguments: str, **environment: str) -> Result:
        with self.started(*arguments, **environment) as process:
            try:
                output, _ = process.communicate(timeout=NET_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Result(process.returncode, output)

    def started(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """In a session of its own: a signal to it reaches what scons has started, as Ctrl-C on a terminal does."""
        return subprocess.Popen(
            [sys.executable, "-m", "SCons", "-Q", *arguments],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
                "N6BUILD_QEMU": os.environ.get("N6BUILD_QEMU", ""),
                # A checkout that is installed as editable must not be found before the copy.
                "PYTHONPATH": str(self.root / "site_scons"),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert text.count(old) >= 1, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    def change_one_weight(self, model: str) -> None:
        """The last weight of the largest buffer is another one, and model.yaml knows the file."""
        path = self.root / f"models/{model}/{model}.tflite"
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        data = with_another_weight(path.read_bytes())
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
    """shared: folder of all processes of this test run."""

    shared: Path
    lent_trees: dict[str, LentTree] = field(default_factory=dict)

    def original(self, *arguments: str) -> Project:
        """What scons makes of these arguments, which end well; look, and leave it as it is.

        Without arguments, a project with nothing built.
        """
        name = hashlib.sha256("\0".join(sorted(arguments)).encode()).hexdigest()[:16]

        def make(folder: Path) -> None:
            project = make_project(folder)
            if arguments:
                result = project.scons(*arguments)
                assert result.status == 0, result.output

        folder = made_once(self.shared / name, make)
        return Project(folder / "project", folder / "home")

    def copy(self, folder: Path, *arguments: str) -> Project:
        """To do with as one likes."""
        original = self.original(*arguments)
        for each in (original.root, original.home):
            shutil.copytree(each, folder / each.name, symlinks=True, copy_function=copy_project_file)
        return Project(folder / original.root.name, folder / original.home.name)

    def lent(self, *arguments: str) -> Project:
        """A copy for one test to do with as it likes, which the next test of this process gets as it was.

        It costs a test neither a copy of 1,500 files nor, as its path stays the same, a plan of its own.
        """
        original = self.original(*arguments)
        name = f"{original.root.parent.name}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
        if name not in self.lent_trees:
            # A project with nothing built has no remembered plans, either.
            kept = f"{original.root.name}/build/.n6build/plans" if arguments else None
            self.lent_trees[name] = LentTree(original.root.parent, self.shared / name, kept)
        folder = self.lent_trees[name].as_it_was()
        return Project(folder / original.root.name, folder / original.home.name)


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> BuiltOnce:
    return BuiltOnce(shared_folder(tmp_path_factory, "built-once"))


@pytest.fixture
def project(request: pytest.FixtureRequest, built_once: BuiltOnce) -> Project:
    """With nothing built, or after the call of scons that marker `built` has the arguments of."""
    marker = request.node.get_closest_marker("built")
    return built_once.lent(*(marker.args if marker else ()))
