"""Profile files of the network compiler, with their comments and continued lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.lossless import from_yaml, strict_text, to_yaml
from n6build.compile.st_edge_ai.compiler_profile import (
    options_in,
    parse_profiles,
    profile_text,
    read_profiles,
)
from samples import sample

FILE = """{
    // profiles of a team
    "Globals": { },
    "Profiles": {
        "default": { /* the usual one */
            "memory_pool": "./my_mpools/http://board.mpool",
            "options": "-O3 --all-buffers-info \\
--Os"
        },
        "old": { "memory_pool": "a.mpool", "options": "", "memory_desc": "stm32n6.mdesc", "unknown": 2.50 }
    }
}
"""


def refused(text: str | bytes, profile: str = "default") -> str:
    with pytest.raises(N6Error) as caught:
        options_in(parse_profiles(text.encode() if isinstance(text, str) else text, "n.json"), profile, "n.json")
    return str(caught.value)


def test_comments_outside_texts_are_left_out_and_lines_continued() -> None:
    document = parse_profiles(FILE.encode(), "n.json")
    assert "./my_mpools/http://board.mpool" in strict_text(document)
    assert options_in(document, "default", "n.json") == "-O3 --all-buffers-info --Os"


def test_yaml_loses_nothing_but_comments() -> None:
    document = parse_profiles(FILE.encode(), "n.json")
    _, back = from_yaml(to_yaml(document, "compiler_profiles"), "n.yaml")
    assert strict_text(back) == strict_text(document)
    assert '"unknown": 2.50' in strict_text(back)


def test_what_is_written_for_the_compiler_is_strict_json() -> None:
    text = profile_text("n6build", Path("/build/network.mpool"), "-O3 --Os")
    assert json.loads(text)["Profiles"]["n6build"] == {"memory_pool": "/build/network.mpool", "options": "-O3 --Os"}
    with pytest.raises(N6Error, match="N6-PROFILE-004"):
        profile_text("n6build", Path("/bücher/network.mpool"), "")


@pytest.mark.parametrize(
    ("text", "profile", "message"),
    [
        (FILE, "defualt", "N6-PROFILE-003: no profile 'defualt'\n  hint: did you mean 'default'?"),
        (FILE.replace('"options": "", ', ""), "old", "n.json: Profiles.old: error N6-PROFILE-002: key 'options' is"),
        (FILE.replace('"a.mpool"', "7"), "old", "n.json: Profiles.old.memory_pool: error N6-PROFILE-002: is not text"),
        (FILE.replace("*/", ""), "old", "n.json:5: error N6-PROFILE-001: a comment has no end"),
        ('{"Globals": {}}', "old", "has no object 'Profiles'"),
        ("{", "old", "n.json:1:2: error N6-PROFILE-001"),
        ("[]", "old", "has no object 'Profiles'"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, profile: str, message: str) -> None:
    assert message in refused(text, profile)


@given(data=st.data())
def test_damage_is_an_error_of_ours_or_none(data: st.DataObject) -> None:
    text = bytearray(FILE.encode())
    position = data.draw(st.integers(0, len(text) - 1))
    text[position : position + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=8))
    try:
        parse_profiles(bytes(text), "n.json")
    except N6Error as error:
        assert error.id.startswith("N6-PROFILE")


@pytest.mark.parametrize(
    "file",
    [
        "mpools/user_neuralart_NUCLEO-N657X0-Q.json",
        "mpools/user_neuralart_STM32N6570-DK.json",
        "mpools/openmv_n6_neuralart.json",
        "npu/yamnet-core-2.2/user_neural_art.json",
    ],
)
def test_real_profiles_are_read_and_survive_the_way_to_yaml_and_back(file: str) -> None:
    path = sample(file)
    document = read_profiles(path)
    assert "--Os" in options_in(document, "default", path.name)
    _, back = from_yaml(to_yaml(document, "profiles"), path.name)
    assert back == document
