"""The commands for a project's beginning and end: n6build new, n6build clean."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from end_to_end.hosts import ROOT, Host
from n6build.__main__ import main
from n6build.base.paths import EXAMPLES
from n6build.cli.new import KINDS

KEYWORD = ROOT / "models/keyword/keyword.tflite"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_project_has_the_model_and_the_board_that_were_named(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(KEYWORD, tmp_path / "my wörd.tflite")
    assert main(["new", "app", "my wörd.tflite", "board=stm32n6570-dk", "--with", kind]) == 0
    (model,) = (tmp_path / "app/model").iterdir()
    # The name suits the rules of make, for every name of the given file.
    assert model.name.isascii()
    assert " " not in model.name
    assert model.read_bytes() == KEYWORD.read_bytes()
    script = {"make": "Makefile", "cmake": "CMakeLists.txt", "scons": "SConstruct"}[kind]
    text = (tmp_path / "app" / script).read_text()
    assert f"model/{model.name}" in text
    assert "stm32n6570-dk" in text
    assert "nucleo" not in text
    assert "  cd app\n" in capsys.readouterr().out
    # The file has the same source as the examples that other tests build.
    assert (tmp_path / "app/src/main.c").read_bytes() == (EXAMPLES / KINDS[kind].example / "src/main.c").read_bytes()


def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("file", "folder/file"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
        assert main(["new", name.partition("/")[0]]) == 2
        assert "N6-NEW-001" in capsys.readouterr().err
        assert (tmp_path / name).read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert main(["new", "empty"]) == 0


def test_a_folder_with_a_model_is_copied(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "models/keyword", tmp_path / "net")
    assert main(["new", "app", "net"]) == 0
    assert (tmp_path / "app/model/net/model.yaml").is_file()
    assert "model=model/net " in (tmp_path / "app/Makefile").read_text()


# Every run covers this by test_examples.py, which builds the sources of these files; the tests above compare with them.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "build", "run"),
    [
        ("make", [["make", "-j2", "all", "n6-build"]], ["make", "n6-run"]),
        (
            "cmake",
            [["cmake", "--preset", "release"], ["cmake", "--build", "build"]],
            ["cmake", "--build", "build", "-t", "app_n6_run"],
        ),
        ("scons", [["scons", "-j2"]], ["scons", "n6.probe=virtual", "flash", "run"]),
    ],
)
def test_a_new_project_builds_and_runs(kind: str, build: list[list[str]], run: list[str], tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    shutil.rmtree(host.root)
    host.root.mkdir()
    host.call("n6build", "new", ".", str(KEYWORD), "--with", kind)
    place = host.call("n6build", "--cmake-dir").strip()
    for command in build:
        host.call(*command, *([f"-Dn6build_DIR={place}"] if "--preset" in command else []))
    options = {"N6_BOARD_OPTIONS": "probe=virtual until=text:'host: done'"} if kind == "make" else {}
    assert "Console host: keyword says " in host.call(*run, **options)


def test_clean_removes_what_was_made_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean"]) == 0
    assert "Nothing to clean" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    shutil.copy(KEYWORD, tmp_path / "net.tflite")
    header = "build/nucleo-n657/include/n6_soc.h"
    assert main(["build", header, "model=net.tflite"]) == 0
    (tmp_path / "build/nucleo-n657/mine.txt").write_text("mine")
    (tmp_path / "build/virtual_board").mkdir()
    (tmp_path / "build/virtual_board/nor.bin").write_bytes(b"mine")
    assert Path(header).is_file()
    capsys.readouterr()
    assert main(["clean", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert not Path(header).exists()
    kept = {path.name for path in (tmp_path / "build").rglob("*") if path.is_file() and ".n6build" not in path.parts}
    assert kept == {"mine.txt", "nor.bin"}
    assert (tmp_path / "net.tflite").is_file()
    # After the removal, nothing counts as up to date.
    assert main(["build", header, "model=net.tflite"]) == 0
    assert Path(header).is_file()


def test_clean_leaves_what_a_damaged_record_names_elsewhere(tmp_path: Path) -> None:
    header = "build/nucleo-n657/include/n6_soc.h"
    assert main(["build", header]) == 0
    for name in ("mine.c", "build.c"):
        (tmp_path / name).write_text("mine")
    ledger = tmp_path / "build/.n6build/ledger.jsonl"
    text = ledger.read_text().replace(header, "mine.c")
    ledger.write_text(text + text.replace("mine.c", "build/../build.c"))
    assert main(["clean"]) == 0
    assert sorted(path.name for path in tmp_path.glob("*.c")) == ["build.c", "mine.c"]
