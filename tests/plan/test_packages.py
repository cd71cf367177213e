"""The content of a distribution counts at any place, and that of its requirements."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import packaging.requirements  # noqa: F401 - the tests replace sys.path.
import pytest
from n6build.base.members import member_names
from n6build.engine.closure import Code, library_code
from n6build.engine.packages import Packages, installed_packages

RECORD = """\
../../../bin/tool,sha256=abc,227
pack-1.dist-info/INSTALLER,sha256=pip,4
pack-1.dist-info/METADATA,sha256=def,5
pack-1.dist-info/RECORD,,
pack-1.dist-info/REQUESTED,sha256=47D,0
pack/__init__.py,sha256=ghi,10
pack/__pycache__/__init__.cpython-311.pyc,,
pack/part.so,sha256=jkl,20
"""


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return a function that computes a digest from a package's list of files.

    It is the digest of code that imports the package.
    """

    def of(record: str) -> str:
        place = tmp_path / f"place{len(list(tmp_path.iterdir()))}"
        (place / "pack-1.dist-info").mkdir(parents=True)
        (place / "pack-1.dist-info" / "RECORD").write_text(record)
        (place / "ours").mkdir()
        (place / "ours" / "__init__.py").write_text("import pack\n")
        monkeypatch.setattr(sys, "path", [str(place)])
        return Code({"ours": place / "ours"}).digest_of("ours")

    return of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bin/tool,sha256=abc", "bin/tool,sha256=of another environment"),
        ("sha256=pip", "sha256=uv"),
        ("pack/__pycache__/__init__.cpython-311.pyc,,\n", ""),
        ("pack-1.dist-info/REQUESTED,sha256=47D,0\n", ""),
    ],
)
def test_how_it_was_installed_does_not_count(old: str, new: str, digest: Callable[[str], str]) -> None:
    assert old in RECORD
    assert digest(RECORD.replace(old, new)) == digest(RECORD)
    assert digest("\n".join(reversed(RECORD.split("\n")))) == digest(RECORD)


@pytest.mark.parametrize("old", ["ghi", "jkl", "def", "pack/part.so"])
def test_what_it_brings_counts(old: str, digest: Callable[[str], str]) -> None:
    assert digest(RECORD.replace(old, "other")) != digest(RECORD)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder with distributions."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def install(place: Path, name: str, files: str, *requires: str) -> None:
    folder = place / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "RECORD").write_text("".join(f"{file},sha256=abc,1\n" for file in files.split()))
    lines = [f"Name: {name}", *(f"Requires-Dist: {each}" for each in requires), "", "Requires-Dist: text"]
    (folder / "METADATA").write_text("\n".join(lines))


def behind(top: str) -> set[str]:
    return set(Packages(installed_packages()).behind(top))


def test_what_a_distribution_requires_counts_with_all_behind_it(place: Path) -> None:
    install(place, "first", "one/__init__.py", "Second.Part>=1")
    install(place, "second_part", "two/__init__.py", "third (>=2)")
    install(place, "third", "three.py", "first")
    install(place, "other", "four.py")
    assert behind("one") == {"first", "second_part", "third"}
    before = Packages(installed_packages()).behind("one")["third"]
    (place / "third-1.0.dist-info/RECORD").write_text("three.py,sha256=def,1\n")
    assert Packages(installed_packages()).behind("one")["third"] != before


def test_markers_hold_for_this_interpreter_and_extras_where_they_are_named(place: Path) -> None:
    install(
        place,
        "first",
        "one.py",
        "second[fast] ; python_version >= '3'",
        "elsewhere ; sys_platform == 'none'",
        "tests ; extra == 'test'",
    )
    install(place, "second", "two.py", "quick ; extra == 'fast'", "small ; extra == 'slow'")
    for name in ("elsewhere", "tests", "quick", "small"):
        install(place, name, f"{name}.py")
    assert behind("one") == {"first", "second", "quick"}


def test_a_module_belongs_to_the_distributions_that_have_files_of_it(place: Path) -> None:
    install(place, "pyyaml", "yaml/__init__.py _yaml/__init__.py")
    install(place, "protobuf", "google/protobuf/__init__.py google/_upb/_message.abi3.so")
    install(place, "google_auth", "google/auth/__init__.py")
    install(place, "cffi", "_cffi_backend.cpython-311-x86_64-linux-gnu.so cffi-1.0.dist-info/METADATA")
    assert behind("yaml") == {"pyyaml"}
    assert behind("google") == {"protobuf", "google_auth"}
    assert behind("_cffi_backend") == {"cffi"}
    assert Packages(installed_packages()).behind("cffi") == {"cffi": "not installed"}


def test_a_requirement_that_is_missing_is_known_when_it_comes(place: Path) -> None:
    install(place, "first", "one.py", "second")
    before = Packages(installed_packages()).behind("one")
    assert before["second"] == "not installed"
    install(place, "second", "two.py")
    assert Packages(installed_packages()).behind("one")["second"] != "not installed"


def test_a_distribution_without_a_list_of_files_counts_by_its_description(place: Path) -> None:
    """The packages of Linux distributions have no list of files."""
    install(place, "first", "")
    (place / "first-1.0.dist-info/RECORD").unlink()
    (place / "first-1.0.dist-info/top_level.txt").write_text("one\n")
    before = Packages(installed_packages()).behind("one")
    assert before.keys() == {"first"}
    (place / "first-1.0.dist-info/METADATA").write_text("Name: first\nVersion: 2\n")
    assert Packages(installed_packages()).behind("one") != before


def test_all_packages_that_steps_load_are_known() -> None:
    """No module that the imports load comes from an unknown package.

    The test imports every third-party package that a step imports.
    """
    code = library_code()
    modules = [f"n6build.steps.{name}" for name in member_names("n6build.steps.*")]
    modules += [f"n6build.compile.{name}.backend" for name in member_names("n6build.compile.*.backend")]
    known = {name for module in modules for name in code.parts_of(module) if not name.startswith("n6build")}
    provided = packages_distributions()
    tops = sorted(top for top, names in provided.items() if known & set(map(_normalized, names)))
    program = "import sys\nfor name in sys.argv[1:]:\n  try: __import__(name)\n  except ImportError: pass\n"
    program += "import json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", program, *tops], capture_output=True, text=True, check=True)
    loaded = {name for top in json.loads(done.stdout.splitlines()[-1]) for name in provided.get(top, ())}
    assert {"numpy", "onnx", "protobuf", "cffi", "flatbuffers", "ml_dtypes"} <= set(map(_normalized, loaded))
    assert set(map(_normalized, loaded)) - {"setuptools"} <= known


def _normalized(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").lower()


def test_what_a_distribution_imports_without_requiring_it_counts() -> None:
    """tests/proof/test_closures.py would find further distributions of this kind."""
    assert "typing_extensions" in Packages(installed_packages()).behind("msgspec")
