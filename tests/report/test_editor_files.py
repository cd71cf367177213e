"""Entries for VS Code are added, and no entry of the user is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.tell.editor_files import (
    LAUNCH_VERSION,
    TASKS_VERSION,
    Application,
    EntryList,
    Server,
    fresh,
    launch_lists,
    merged,
    task_lists,
)

LISTS = [EntryList("tasks", "label", [{"label": "ours", "args": ["a"]}])]
APPLICATION = Application(
    "keyword on nucleo-n657",
    "n6build",
    ("board=nucleo-n657", "model=keyword"),
    ("fsbl.elf", "/x/appli.elf"),
    (),
    "",
    1234,
)


def merge(text: str | bytes, lists: list[EntryList] = LISTS) -> Any:
    return merged(text if isinstance(text, bytes) else text.encode(), ".vscode/tasks.json", "2.0.0", lists)


def test_a_new_file() -> None:
    assert json.loads(fresh("2.0.0", LISTS)) == {"version": "2.0.0", "tasks": [{"label": "ours", "args": ["a"]}]}


def test_what_a_user_has_stays_where_it_is() -> None:
    theirs = {"version": "2.0.0", "mine": 1, "tasks": [{"label": "mine", "x": {"\u00e4": [1.5, None]}}, {"other": 1}]}
    result = merge(json.dumps(theirs))
    assert result.added == ("ours",)
    found = json.loads(result.text)
    assert found["tasks"][:2] == theirs["tasks"]
    assert found["tasks"][2:] == LISTS[0].entries
    assert {**found, "tasks": []} == {**theirs, "tasks": []}
    again = merge(result.text)
    assert (again.text, again.added, again.kept) == (None, (), ())


def test_an_entry_of_ours_that_somebody_has_changed_is_kept() -> None:
    result = merge('{"tasks": [{"label": "ours", "args": ["mine"]}]}')
    assert (result.text, result.added, result.kept) == (None, (), ("ours",))


@pytest.mark.parametrize(("indent", "expected"), [(2, "\n  "), (4, "\n    "), ("\t", "\n\t")])
def test_it_is_written_as_it_was_indented(indent: int | str, expected: str) -> None:
    text = merge(json.dumps({"tasks": []}, indent=indent) if indent != 2 else '{\n  "tasks": []\n}').text
    assert text[1:].startswith(expected + '"')


@pytest.mark.parametrize("text", ["", "  \n", "{}", "\ufeff{}"])
def test_an_empty_file_gets_what_a_new_one_has(text: str) -> None:
    found = json.loads(merge(text).text)
    assert (found["version"], found["tasks"]) == ("2.0.0", LISTS[0].entries)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  // of mine\n  "tasks": []\n}', ".vscode/tasks.json:2"),
        ('{"tasks": [\n1,\n]}', ".vscode/tasks.json:3"),
        ('{"a": 1, "a": 2}', ".vscode/tasks.json"),
        ('{"a": NaN}', ".vscode/tasks.json"),
        (b"\xff", ".vscode/tasks.json"),
        ("[" * 100_000, ".vscode/tasks.json"),
    ],
)
def test_what_would_be_lost_is_not_written(text: str | bytes, where: str) -> None:
    with pytest.raises(N6Error) as caught:
        merge(text)
    assert (caught.value.id, caught.value.where) == ("N6-EDITOR-001", where)


@pytest.mark.parametrize("text", ["[]", "1", '{"tasks": {}}', '{"tasks": [1]}', " " * (5 << 20)])
def test_json_of_another_shape(text: str) -> None:
    with pytest.raises(N6Error, match="error N6-EDITOR-002: "):
        merge(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
ENTRIES = st.lists(st.dictionaries(st.sampled_from(["label", "name", "x"]), JSON, max_size=3), max_size=4)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=3), ENTRIES)
def test_nothing_is_ever_lost(others: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    document = {**others, "tasks": entries}
    result = merge(json.dumps(document))
    after = json.loads(result.text) if result.text else document
    assert after["tasks"][: len(entries)] == entries
    assert all(after[key] == value for key, value in document.items() if key != "tasks")


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_file_is_merged_or_refused(data: bytes | str) -> None:
    try:
        merge(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    except N6Error as error:
        assert error.id in ("N6-EDITOR-001", "N6-EDITOR-002")


def test_a_task_that_a_configuration_waits_for_exists() -> None:
    servers = [Server("openocd", "openocd", {"configFiles": ["a.cfg"]})]
    launch = json.loads(fresh(LAUNCH_VERSION, launch_lists(APPLICATION, servers)))
    tasks = json.loads(fresh(TASKS_VERSION, task_lists(APPLICATION)))
    labels = {task["label"] for task in tasks["tasks"]}
    virtual, real = launch["configurations"]
    assert {virtual["preLaunchTask"], real["preLaunchTask"]} <= labels
    assert (virtual["servertype"], virtual["gdbTarget"]) == ("external", "localhost:1234")
    assert (real["servertype"], real["configFiles"]) == ("openocd", ["a.cfg"])
    assert real["symbolFiles"] == [{"file": "${workspaceFolder}/fsbl.elf"}, {"file": "/x/appli.elf"}]
    assert "svdFile" not in real
    assert "inputs" not in launch


def test_the_virtual_board_is_asked_for_once() -> None:
    tasks = task_lists(Application(**{**vars(APPLICATION), "options": ("model=a", "probe=0041")}))[0].entries
    waiting = next(task for task in tasks if task.get("isBackground"))
    assert waiting["args"] == ["flash", "run", "probe=virtual", "gdb=1", "model=a"]


def test_symbols_of_relocatable_models_are_asked_for_by_their_address() -> None:
    with_model = Application(**{**vars(APPLICATION), "models": ("m/network_rel.elf",), "svd": "/x/chip.svd"})
    launch = json.loads(fresh(LAUNCH_VERSION, launch_lists(with_model, [])))
    (virtual,) = launch["configurations"]
    assert virtual["svdFile"] == "/x/chip.svd"
    asked = launch["inputs"][0]["id"]
    wanted = f'add-symbol-file "${{workspaceFolder}}/m/network_rel.elf" -s .flash ${{input:{asked}}}'
    assert virtual["postAttachCommands"] == [wanted]
