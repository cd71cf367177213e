"""Edits for `n6build prove`: repeatable, of every kind, and undone completely.

The same seed gives the same edits.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.prove.edits import MANNERS, Edit, Inputs, apply, choose, difference, edited_line, matching

FILES = {
    "project/app.py": b'import os\n\n# one\nSIZE = 4\nNAME = "app"\n',
    "project/main.c": b'#include "x.h"\nint main(void) { return 0x10 + 2; }\n',
    "project/include/x.h": b"#define X 1\n",
    "project/board.yaml": b"board:\n  name: nucleo  # the board\n",
    "project/model.tflite": bytes(range(64)),
    "project/empty.txt": b"",
}


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "bin").mkdir()
    return Inputs(
        tmp_path,
        sorted(FILES)[:-1],
        sorted(FILES)[-1:],
        ["project/board.yaml"],
        {"project/x.h": "project/include/x.h"},
        {"bin/gcc": '/usr/bin/gcc "$@" -g0'},
        ["load=xip", "split=1"],
    )


def state(folder: Path) -> dict[str, bytes]:
    """Return the content of each file, and the names of empty folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if path.is_file() or not any(path.iterdir())
    }


def kind_of(edit: Edit) -> str:
    (name,) = edit.files or (edit.words[0],)
    if name.startswith("bin/"):
        return "tool"
    if edit.words:
        return "option"
    if edit.files[name] is None:
        return "removed"
    if name not in FILES:
        return "module" if name.endswith(".py") else "header"
    return Path(name).suffix if edit.files[name] != FILES[name] else "touched"


def test_the_same_seed_gives_the_same_edits(inputs: Inputs) -> None:
    edits = [[choose(Random(f"{seed} {number}"), inputs) for number in range(9)] for seed in (1, 1, 2)]
    assert edits[0] == edits[1]
    assert edits[0] != edits[2]


def test_some_seed_gives_each_kind_of_edit_in_each_manner(inputs: Inputs) -> None:
    edits = [choose(Random(number), inputs) for number in range(1000)]
    suffixes = {".py", ".c", ".h", ".yaml", ".tflite", ".txt"}
    assert {kind_of(edit) for edit in edits} == {"tool", "option", "removed", "module", "header", "touched", *suffixes}
    assert {edit.manner for edit in edits} == set(MANNERS)


def test_every_edit_is_taken_back_and_leaves_nothing(inputs: Inputs) -> None:
    before = state(inputs.folder)
    for number in range(300):
        edit = choose(Random(number), inputs)
        back = apply(edit, inputs.folder)
        for name, data in edit.files.items():
            assert (inputs.folder / name).is_file() == (data is not None)
            assert data is None or (inputs.folder / name).read_bytes() == data
        apply(back, inputs.folder)
        assert state(inputs.folder) == before, edit


def test_manners_differ_by_the_time_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.utime(path, ns=(10**18, 10**18))
    inode = path.stat().st_ino
    apply(Edit("a", "", {"a": b"new"}, (), MANNERS[2]), tmp_path)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (10**18, inode)
    apply(Edit("a", "", {"a": b"old"}, (), MANNERS[1]), tmp_path)
    assert path.stat().st_mtime_ns < 10**18
    assert path.stat().st_ino != inode
    apply(Edit("a", "", {"a": b"new"}, (), MANNERS[0]), tmp_path)
    assert path.stat().st_mtime_ns > 10**18


def test_a_tool_is_replaced_by_a_program(inputs: Inputs) -> None:
    edit = next(edit for number in range(999) if kind_of(edit := choose(Random(number), inputs)) == "tool")
    apply(edit, inputs.folder)
    assert os.access(inputs.folder / "bin/gcc", os.X_OK)


_LINES = st.one_of(
    st.sampled_from(
        ["    SIZE = 4\n", "x == 0x0F;\n", '#include "n6_soc.h"\n', "a and b\n", "  baud: 115200  # fast\n", "\n"]
    ),
    st.text(st.characters(codec="ascii"), max_size=60).map(lambda text: text.replace("\n", "") + "\n"),
)


@given(_LINES, st.sampled_from(["#", "//", ""]), st.integers(0, 99))
def test_an_edited_line_is_another_line(line: str, comment: str, seed: int) -> None:
    new, what = edited_line(Random(seed), line, comment)
    assert new != line
    assert what


def test_a_person_can_repeat_an_edit(inputs: Inputs) -> None:
    edit = Edit("project/app.py:4", "4 -> 5", {"project/app.py": FILES["project/app.py"].replace(b"4", b"5")})
    shown = difference(edit, inputs.folder)
    assert "a/project/app.py" in shown
    assert "\n-SIZE = 4\n+SIZE = 5\n" in shown
    model = Edit("m", "byte 3: 0x03 -> 0x07", {"project/model.tflite": b""})
    assert difference(model, inputs.folder) == "project/model.tflite: byte 3: 0x03 -> 0x07\n"
    assert difference(Edit("o", "", {}, ("split=1",)), inputs.folder) == "on the command line: split=1\n"


def test_a_pattern_names_paths_in_the_project_and_options(inputs: Inputs) -> None:
    found = matching(inputs, "*.yaml")
    assert found
    assert (found.files, found.headers, found.tools, found.options) == (["project/board.yaml"], {}, {}, [])
    assert all(edit.files for edit in (choose(Random(number), found) for number in range(50)))
    of_options = matching(inputs, "load=*")
    assert of_options
    assert choose(Random(1), of_options).words == ("load=xip",)
    assert matching(inputs, "*.rs") is None
