"""A YAML file that includes another one contains only the differences.

Every message names the file and line of the value.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.uses import recorded
from n6build.base.yaml_schema import Document, read_merged_document

KEYS = st.sampled_from(["name", "size", "memories", "boot", "1"])
VALUES = st.none() | st.integers(0, 1 << 32) | st.text("abc", min_size=1, max_size=4)
TREES = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=16
)
MAPPINGS = st.dictionaries(KEYS, TREES, min_size=1, max_size=4)


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder / f"{next(iter(files))}.yaml"


def layered(*mappings: dict[str, Any]) -> Document:
    """Return the merged document of these layers, each of which includes the next one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for index, mapping in enumerate(mappings):
            more = {"include": f"layer{index + 1}.yaml"} if index + 1 < len(mappings) else {}
            (folder / f"layer{index}.yaml").write_text(yaml.safe_dump({**more, **mapping}, sort_keys=False))
        return read_merged_document(folder / "layer0.yaml", shown_as="layer0.yaml")


def value_of(document: Document) -> Any:
    return yaml.constructor.SafeConstructor().construct_document(document.root)


def over(base: Any, own: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(own, dict)):
        return own
    kept = {key: value for key, value in base.items() if key not in own}
    both = {key: over(base[key], own[key]) for key in base if key in own and own[key] is not None}
    return {**kept, **both, **{key: value for key, value in own.items() if key not in base}}


@given(MAPPINGS, MAPPINGS)
def test_mappings_are_merged_and_anything_else_is_replaced(own: dict[str, Any], base: dict[str, Any]) -> None:
    assert value_of(layered(own, base)) == over(base, own)


@given(MAPPINGS, MAPPINGS, MAPPINGS)
def test_what_is_included_may_include(own: dict[str, Any], middle: dict[str, Any], base: dict[str, Any]) -> None:
    assert value_of(layered(own, middle, base)) == over(over(base, middle), own)


@given(MAPPINGS)
def test_an_empty_difference_is_the_included_file(base: dict[str, Any]) -> None:
    assert value_of(layered({"other": 1}, base)) == {**base, "other": 1}


@given(MAPPINGS, MAPPINGS)
def test_each_key_has_the_place_of_the_file_that_said_it_last(own: dict[str, Any], base: dict[str, Any]) -> None:
    document = layered(own, base)
    texts = [
        yaml.safe_dump({"include": "layer1.yaml", **own}, sort_keys=False).splitlines(),
        yaml.safe_dump(base, sort_keys=False).splitlines(),
    ]
    for key in value_of(document):
        file, line, _ = document.where(key).split(":", 2)
        assert file == f"layer{0 if key in own else 1}.yaml"
        assert texts[int(file[5])][int(line) - 1].strip("'").startswith(key)


def test_a_value_deep_in_an_included_mapping_keeps_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, chip="include: family.yaml\nboot:\n  size: 2\n", family="boot:\n  size: 1\n  base: x\n")
    document = read_merged_document(path, shown_as="boards/soc/chip.yaml")
    assert document.where("boot", "size") == "boards/soc/chip.yaml:3: boot.size"
    assert document.where("boot", "base") == "boards/soc/family.yaml:3: boot.base"
    assert document.files == (path, tmp_path / "family.yaml")


def test_both_files_count_as_read(tmp_path: Path) -> None:
    path = written(tmp_path, chip="include: family.yaml\n", family="a: 1\n")
    with recorded() as used:
        read_merged_document(path)
    assert {Path(use.path).name for use in used.lines if use.kind == "content"} == {"chip.yaml", "family.yaml"}


REFUSED = [
    (
        "a file that is not there",
        "include: famly.yaml\n",
        "N6-YAML-007: file 'famly.yaml' does not exist\n.*'family.yaml'",
    ),
    ("itself", "include: chip.yaml\n", "N6-YAML-007: 'chip.yaml' includes this file: chip.yaml -> chip.yaml"),
    ("a file elsewhere", "include: ../family.yaml\n", "N6-YAML-007: must name a YAML file in the folder"),
    ("an absolute path", "include: /etc/passwd\n", "N6-YAML-007: must name a YAML file in the folder"),
    ("a list", "include: [family.yaml]\n", "N6-YAML-007: must name a YAML file in the folder"),
    ("nothing", "include:\n", "N6-YAML-007: must name a YAML file in the folder"),
    ("two files", "include: family.yaml\ninclude: family.yaml\n", "include: error N6-YAML-005: key appears twice"),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_includes_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, chip=text, family="a: 1\n")
    with pytest.raises(N6Error, match=rf"^chip\.yaml:\d: include: error {message.removeprefix('include: error ')}"):
        read_merged_document(path, shown_as="chip.yaml")


def test_two_files_that_include_each_other_are_refused_where_the_circle_closes(tmp_path: Path) -> None:
    path = written(tmp_path, chip="include: family.yaml\n", family="a: 1\ninclude: chip.yaml\n")
    with pytest.raises(N6Error, match=r"^family.yaml:2: include: .*chip.yaml -> family.yaml -> chip.yaml"):
        read_merged_document(path, shown_as="chip.yaml")


def test_the_depth_is_bounded(tmp_path: Path) -> None:
    files = {f"a{index}": f"include: a{index + 1}.yaml\n" for index in range(9)} | {"a9": "a: 1\n"}
    with pytest.raises(N6Error, match=r"^a5.yaml:1: include: error N6-YAML-007: a chain of more than 6 included files"):
        read_merged_document(written(tmp_path, **files), shown_as="a0.yaml")


@pytest.mark.parametrize("which", ["chip", "family"])
def test_a_key_that_appears_twice_in_one_of_the_files_is_refused_there(tmp_path: Path, which: str) -> None:
    files = {"chip": "include: family.yaml\nb: {x: 1}\n", "family": "b: {y: 1}\n"}
    files[which] = files[which].replace("1}", "1, z: 2, z: 3}")
    with pytest.raises(N6Error, match=rf"^{which}.yaml:\d: b.z: error N6-YAML-005"):
        read_merged_document(written(tmp_path, **files), shown_as="chip.yaml")


def test_aliases_cannot_make_the_merge_grow_or_go_on_for_ever(tmp_path: Path) -> None:
    laughs = "a0: &a0 {x: 1}\n" + "".join(
        f"a{n}: &a{n} {{l: *a{n - 1}, r: *a{n - 1}, m: *a{n - 1}}}\n" for n in range(1, 31)
    )
    assert read_merged_document(written(tmp_path, chip=f"include: family.yaml\n{laughs}", family=laughs)).root
    endless = "a: &a {b: *a}\n"
    with pytest.raises(N6Error, match="N6-YAML-002: nests mappings more than 32 levels deep"):
        read_merged_document(written(tmp_path, chip=f"include: family.yaml\n{endless}", family=endless))
