"""Lines are added after the user's text, and the same lines only once.

They never replace the user's text.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.adopt.write import add_block, add_links, add_step, block, with_block, with_step
from n6build.base.errors import N6Error

from adopt.trees import CPROJECT

LINES = ["N6_LINKED := 0", "include x"]
TEXT = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=200)
LINE = st.text("abc $(){}=:/.", min_size=1, max_size=30)


@given(TEXT, st.lists(LINE, min_size=1, max_size=5), st.lists(LINE, min_size=1, max_size=5))
def test_a_block_is_added_once_and_replaced_while_it_is_unchanged(text: str, one: list[str], other: list[str]) -> None:
    first, result = with_block(text, one)
    assert result == "written"
    # The user's text is there, byte for byte.
    assert first.startswith(text)
    assert with_block(first, one) == (first, "there already")
    second, result = with_block(first, other)
    assert result == ("there already" if one == other else "replaced")
    assert second == with_block(text, other)[0]


def test_a_block_that_somebody_has_changed_is_left_as_it_is() -> None:
    text = with_block("all:\n", LINES)[0].replace("N6_LINKED := 0", "N6_LINKED := 1")
    assert with_block(text, LINES) == (text, "differs")
    assert with_block(text, ["other"]) == (text, "differs")


@pytest.mark.parametrize("line", ["include $(shell n6build --makefile)", "find_package(n6build CONFIG REQUIRED)"])
def test_lines_that_somebody_wrote_by_hand_are_enough(line: str) -> None:
    text = f"all:\n{line}\n"
    assert with_block(text, LINES) == (text, "adopted by hand")
    assert with_block(f"all:\n# {line}\n", LINES)[1] == "written"


def test_ends_of_lines_stay_those_of_the_file(tmp_path: Path) -> None:
    script = tmp_path / "Makefile"
    script.write_bytes(b"all:\r\n\techo \xff\r\n")
    script.chmod(0o755)
    assert add_block(script, LINES) == "written"
    data = script.read_bytes()
    assert data.startswith(b"all:\r\n\techo \xff\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert script.stat().st_mode & 0o777 == 0o755
    assert add_block(script, LINES) == "there already"
    assert script.read_bytes() == data
    assert add_block(script, ["other"]) == "replaced"
    assert b"other\r\n" in script.read_bytes()


def test_a_step_of_cube_ide_is_added_and_nothing_else_changes(tmp_path: Path) -> None:
    command = 'n6build build model=../"a b" appli=${BuildArtifactFileName}'
    path = tmp_path / ".cproject"
    path.write_text(CPROJECT)
    assert add_step(path, command) == "written"
    text = path.read_text()
    assert ' postbuildStep="n6build build model=../&quot;a b&quot; appli=${BuildArtifactFileName}">' in text
    assert (
        text.replace(' postbuildStep="n6build build model=../&quot;a b&quot; appli=${BuildArtifactFileName}"', "")
        == CPROJECT
    )
    assert add_step(path, command) == "there already"
    assert path.read_text() == text


def test_a_step_of_the_user_is_left_as_it_is() -> None:
    mine = CPROJECT.replace('name="Debug">', 'name="Debug" postbuildStep="arm-none-eabi-size x">')
    assert with_step(mine, "n6build build") == (mine, "differs")
    empty = CPROJECT.replace('name="Debug">', 'name="Debug" postbuildStep="">')
    assert with_step(empty, "n6build build")[1] == "written"
    assert with_step("<a/>", "n6build build") == ("<a/>", "differs")


def test_links_are_made_once_and_never_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data/network.c"
    file.write_text("x")
    links = [("n6build-network/network.c", file)]
    for _ in range(2):
        add_links(tmp_path, links)
    link = tmp_path / "n6build-network/network.c"
    assert (link.is_symlink(), link.read_text(), str(link.readlink())) == (True, "x", "../data/network.c")
    link.unlink()
    link.write_text("mine")
    with pytest.raises(N6Error, match="N6-ADOPT-004"):
        add_links(tmp_path, links)
    assert link.read_text() == "mine"


def test_the_marks_say_whose_lines_these_are() -> None:
    assert block(LINES).splitlines()[1:-1] == LINES
