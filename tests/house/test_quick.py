"""`make quick` chooses the tests that a change reaches, the nearest first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quick import Followed, read_followed
from reach import Tree, distances, is_build, read_tree

FILES = {
    "site_scons/n6build/base/text.py": "",
    "site_scons/n6build/engine/step.py": "from n6build.base.text import lines",
    "site_scons/n6build/compile/reference/operators/add.py": "KERNEL = 1",
    "site_scons/n6build/compile/reference/kinds.py": 'KINDS = members("n6build.compile.reference.operators.*", "KERNEL", int)',
    "tests/helper.py": "from n6build.engine import step",
    "tests/base/test_text.py": "import n6build.base.text",
    "tests/plan/test_step.py": "from n6build.engine.step import Step",
    "tests/run/test_far.py": "import helper",
    "tests/network/conftest.py": "from n6build.compile.reference import kinds",
    "tests/network/test_kinds.py": "",
    "tests/models/test_models.py": 'FILE = "models/keyword/keyword.tflite"',
    "tests/house/test_tree.py": 'FILES = Path().rglob("*.py")',
    "tests/end_to_end/test_scons.py": "from n6build.base import text",
    "tools/npu_blob.py": "",
    "tests/npu/test_tool.py": 'TOOL = "tools/npu_blob.py"',
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.startswith("site_scons"):
            (path.parent / "__init__.py").touch()
    return read_tree(tmp_path)


def test_imports_lead_to_tests_the_nearest_first(tree: Tree) -> None:
    found = distances(tree, ["site_scons/n6build/base/text.py"])
    assert found == {
        "tests/base/test_text.py": 0.5,
        "tests/plan/test_step.py": 2,
        "tests/house/test_tree.py": 2,
        "tests/run/test_far.py": 3,
        "tests/end_to_end/test_scons.py": 1,
    }
    # A whole build comes last, even if the change reaches it directly.
    assert next(iter(found)) == "tests/base/test_text.py"
    assert [*found][-1] == "tests/end_to_end/test_scons.py"
    assert is_build([*found][-1])


def test_a_member_of_a_family_is_imported_by_its_pattern_and_fixtures_reach_their_folder(tree: Tree) -> None:
    found = distances(tree, ["site_scons/n6build/compile/reference/operators/add.py"])
    assert found == {"tests/network/test_kinds.py": 3, "tests/house/test_tree.py": 2}


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("tests/plan/test_step.py", "tests/plan/test_step.py"),
        ("models/keyword/keyword.tflite", "tests/models/test_models.py"),
        ("models/keyword/model.yaml", "tests/models/test_models.py"),
        ("tools/npu_blob.py", "tests/npu/test_tool.py"),
    ],
)
def test_a_file_reaches_itself_and_those_that_name_it_or_its_folder(tree: Tree, changed: str, reached: str) -> None:
    assert {*distances(tree, [changed])} == {reached, "tests/house/test_tree.py"}


def test_a_list_that_ends_in_the_middle_of_a_line_is_read_up_to_there(tmp_path: Path) -> None:
    lines = [["found", ["a", "b"]], ["ended", ["a"]], ["failed", ["b"]], ["ended", ["b"]]]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "log").write_text(text[:-3])
    assert read_followed(tmp_path / "log") == Followed(("a", "b"), frozenset({"a"}), ("b",))
