"""Names of models that only have the name of their file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.paths import MODELS
from n6build.describe.folder_name import RESERVED, folder_name
from n6build.describe.model import load_model

TEXTS = st.text(max_size=12) | st.text(st.sampled_from("ab'./- \\$"), max_size=4) | st.sampled_from(sorted(RESERVED))


@given(TEXTS)
def test_a_name_stays_in_its_folder_and_is_a_text_in_c(text: str) -> None:
    name = folder_name(text)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name)
    assert name not in RESERVED


@given(TEXTS, TEXTS)
def test_two_names_do_not_share_a_folder(one: str, other: str) -> None:
    assert (folder_name(one) == folder_name(other)) == (one == other)


@pytest.mark.parametrize("name", ["net", "net_1.2-int8", "9", "a" * 80])
def test_a_plain_name_is_kept(name: str) -> None:
    assert folder_name(name) == name


@pytest.mark.parametrize(
    "file", ["...tflite", "..tflite", "a'b.tflite", "a b.tflite", "fsbl.tflite", f"{'x' * 200}.tflite"]
)
def test_the_name_of_a_file(tmp_path: Path, file: str) -> None:
    shutil.copy(MODELS / "anomaly/anomaly.tflite", tmp_path / file)
    name = load_model(str(tmp_path / file)).name
    assert re.fullmatch(r"\w[\w.-]*-[0-9a-f]{8}", name)
