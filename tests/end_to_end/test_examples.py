"""Projects of other people, each with its own build system, start-up and drivers, that adopt n6build in a few lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAID = "Console host: keyword says 1 of 12"
MAKE = pytest.mark.skipif(shutil.which("make") is None, reason="GNU make is not installed")
CMAKE = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


class Host:
    """A copy of an example, in a folder with a space in its name, and a command n6build in PATH."""

    def __init__(self, folder: Path, example: str) -> None:
        self.root = folder / "my project"
        shutil.copytree(ROOT / "examples" / example, self.root)
        shutil.copytree(ROOT / "models/keyword", self.root / "own_model", ignore=shutil.ignore_patterns("*.py"))
        self.command = folder / "bin/n6build"
        self.command.parent.mkdir(parents=True)
        self.command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m n6build "$@"\n')
        self.command.chmod(0o755)
        self.environment = {
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            "N6BUILD_QEMU": os.environ.get("N6BUILD_QEMU", ""),
            "PYTHONPATH": str(ROOT / "site_scons"),
        }

    def call(self, *command: str) -> str:
        result = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert result.returncode == 0, result.stdout
        return result.stdout

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.mark.parametrize("file", ["make/Makefile", "cmake/CMakeLists.txt"])
def test_an_example_adopts_n6build_in_at_most_five_lines(file: str) -> None:
    text = (ROOT / "examples" / file).read_text()
    adopted = re.search(r"# n6build\n(.*)# n6build: end\n", text, re.DOTALL)
    assert adopted
    assert 0 < len(adopted[1].splitlines()) <= 5
    assert not re.search(r"n6|N6", text[: adopted.start()].split("\n", 2)[2] + text[adopted.end() :])


@MAKE
def test_a_project_of_make(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    host.replace("Makefile", "model=keyword", "model=own_model")
    built = host.call("make", "-j2", "all", "n6-build")
    assert built.count("Place build/n6build") == 1
    assert "Nothing to be done for 'all'" in host.call("make", "all", "n6-build")
    ran = host.call("make", "n6-run", "N6_BOARD_OPTIONS=probe=virtual until=text:'host: done'")
    assert SAID in ran
    # Another source of the host: linked and placed, and nothing else is compiled.
    host.replace("src/main.c", "host: hello", "host: HELLO")
    again = host.call("make", "all", "n6-build")
    assert re.findall(r"^ +(\w+) build", again, re.MULTILINE) == ["Place", "Manifest", "Check"]
    assert "Nothing to be done for 'all'" in host.call("make", "all", "n6-build")
    # A header that disappears, and another model.
    (host.root / "own_model/model.yaml").write_text(
        (host.root / "own_model/model.yaml").read_text().replace("name: keyword", "name: spotting")
    )
    assert "spotting" in host.call("make", "all", "n6-build")
    host.call("make", "clean")
    assert not (host.root / "build").exists()


@CMAKE
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_project_of_cmake(tmp_path: Path, generator: str) -> None:
    if generator == "Ninja" and shutil.which("ninja") is None:
        pytest.skip("ninja is not installed")
    host = Host(tmp_path, "cmake")
    host.replace("CMakeLists.txt", "MODEL keyword", "MODEL own_model")
    place = host.call("n6build", "--cmake-dir").strip()
    host.call("cmake", "--preset", "release", "-G", generator, f"-Dn6build_DIR={place}")
    build = ("cmake", "--build", "build", "-j", "2")
    built = host.call(*build)
    assert built.count("Place n6build/app") == 1
    assert built.count("Network n6build/app") == 1
    before = made(host)
    second = host.call(*build)
    assert "n6build step" not in second
    assert "Network" not in second
    assert made(host) == before
    assert SAID in host.call(*build, "-t", "app_n6_run")
    model = host.root / "own_model/model.yaml"
    model.write_text(model.read_text().replace("name: keyword", "name: spotting"))
    changed = host.call(*build)
    assert "spotting" in changed
    assert "fsbl.elf" not in changed
    after = made(host)
    host.call(*build)
    assert made(host) == after


def made(host: Host) -> dict[str, int]:
    """Times of all that n6build made."""
    folder = host.root / "build/n6build/app"
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@CMAKE
def test_what_cmake_refuses(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    place = host.call("n6build", "--cmake-dir").strip()
    for old, new, said in (
        ("BOARD nucleo-n657", "BOARD nucleo-n658", "error N6-BOARD"),
        ("n6build_add_network(app", "n6build_add_network(nobody", "there is no target nobody"),
        ("n6build_image(app ALL)", "n6build_add_network(app MODEL keyword)", "is called twice"),
        ("BOARD nucleo-n657", "BORD nucleo-n657", "error N6-"),
    ):
        original = (host.root / "CMakeLists.txt").read_text()
        host.replace("CMakeLists.txt", old, new)
        with pytest.raises(AssertionError, match=said):
            host.call("cmake", "--preset", "release", "-G", "Unix Makefiles", f"-Dn6build_DIR={place}")
        (host.root / "CMakeLists.txt").write_text(original)
