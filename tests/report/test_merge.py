"""The comment for a merge request: content, base and hostile names."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from n6build.base.errors import N6Error
from n6build.tell.figures import VERSION, Figure, Sizes, SizesFile, read_sizes, sizes_json
from n6build.tell.merge import compare, merge_report, verdict

APPLI = Figure("Appli in RAM", 55_792, 1_047_552)
WEIGHTS = Figure("weights of miniresnet", 129_728)
SIZES = Sizes("nucleo-n657", "miniresnet", "extflash", "linked", (APPLI, WEIGHTS))
FILE = SizesFile("0.5.0", (SIZES,))


def with_figures(*figures: Figure) -> SizesFile:
    return replace(FILE, applications=(replace(SIZES, figures=figures),))


def read(text: str | bytes) -> SizesFile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sizes.json"
        path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        return read_sizes(path)


def test_what_grew_shrank_came_and_went() -> None:
    base = with_figures(replace(APPLI, used=55_000), Figure("bank AXISRAM4", 0, 458_752), WEIGHTS)
    now = with_figures(APPLI, Figure("bank AXISRAM3", 64_512, 458_752), replace(WEIGHTS, used=100_000))
    text = merge_report(now, base)
    assert "4 sizes changed in 1 of 1 application." in text
    assert "| Appli in RAM | 55,792 | 1,047,552 | 5.3% | **+792** (+1.4%) |" in text
    assert "| bank AXISRAM3 | 64,512 | 458,752 | 14.1% | **new** |" in text
    assert "| bank AXISRAM4 | none |  |  | **gone** (was 0) |" in text
    assert "| 100,000 |  |  | **-29,728** (-22.9%) |" in text


def test_another_limit_is_a_change_too() -> None:
    text = merge_report(FILE, with_figures(replace(APPLI, limit=524_288), WEIGHTS))
    assert "| limit was 524,288 |" in text
    assert "1 size changed" in text


def test_the_same_sizes_are_said_to_be_the_same() -> None:
    text = merge_report(FILE, FILE)
    assert "No size has changed." in text
    assert "**" not in text


@pytest.mark.parametrize(
    "differs", [{"board": "stm32n6570-dk"}, {"application": "a"}, {"profile": "noextmem"}, {"loader": "reloc"}]
)
def test_another_board_model_profile_or_loader_is_not_compared(differs: dict[str, str]) -> None:
    base = SizesFile("0.5.0", (replace(SIZES, **differs),))  # type: ignore[arg-type]
    text = merge_report(FILE, base)
    assert "The base has none of these: 1 application new." in text
    assert "| Appli in RAM | 55,792 | 1,047,552 | 5.3% | new |" in text
    assert "Only in the base: " in text


def test_without_a_base_the_numbers_are_there() -> None:
    text = merge_report(FILE, None)
    assert "No comparison" in text
    assert "| Appli in RAM | 55,792 |" in text


def test_a_base_of_another_version_of_n6build_is_named() -> None:
    assert "The base was built by n6build `0.4.9`, this by `0.5.0`." in merge_report(
        FILE, replace(FILE, n6build="0.4.9")
    )


def test_several_applications_begin_with_one_table() -> None:
    other = replace(SIZES, application="keyword", figures=(replace(APPLI, used=40_000),))
    text = merge_report(replace(FILE, applications=(SIZES, other)), with_figures(replace(APPLI, used=55_000), WEIGHTS))
    assert "1 size changed in 1 of 1 application, 1 application new." in text
    assert "| `miniresnet` on `nucleo-n657`, profile `extflash` |  | 55,792 **(+792)** |  |  | 1 |" in text
    assert "| `keyword` on `nucleo-n657`, profile `extflash` |  | 40,000 |  |  | new |" in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_the_order_of_applications_makes_no_difference() -> None:
    other = replace(SIZES, application="keyword")
    one, two = replace(FILE, applications=(SIZES, other)), replace(FILE, applications=(other, SIZES))
    assert merge_report(one, FILE) == merge_report(two, FILE)
    assert sizes_json(one) == sizes_json(two)


# GitHub and GitLab read a comment as CommonMark with tables, bare links and HTML.
MARKDOWN = MarkdownIt("commonmark").enable(["table"])
HOSTILE = st.text(min_size=1, max_size=60) | st.text(alphabet="|`<>[]()!*_~#@&;:/\\\n\r-a", min_size=1, max_size=60)


@given(HOSTILE)
def test_no_name_is_more_than_text(name: str) -> None:
    now = replace(
        FILE, applications=(replace(SIZES, application=name, figures=(APPLI, Figure(f"weights of {name}", 1))),)
    )
    tokens = MARKDOWN.parse(merge_report(now, now))
    assert [token.type for token in tokens if token.type.endswith("_open")] == [
        "heading_open", "paragraph_open", "heading_open", "table_open", "thead_open", "tr_open", *["th_open"] * 5,
        "tbody_open", *["tr_open", *["td_open"] * 5] * 2,
    ]  # fmt: skip
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= {
        "text",
        "text_special",
        "code_inline",
        "html_inline",
        "strong_open",
        "strong_close",
    }
    assert {child.content for child in inline if child.type == "html_inline"} <= {"<code>", "</code>"}


def test_names_are_readable() -> None:
    assert "### `key_word+x` on" in merge_report(
        replace(FILE, applications=(replace(SIZES, application="key_word+x"),)), None
    )


# All that str.isprintable allows.
PRINTABLE = st.characters(exclude_categories=["C", "Z"], include_characters=" ")
names = st.text(PRINTABLE, min_size=1, max_size=20)
figures = st.builds(Figure, names, st.integers(0, 1 << 39), st.none() | st.integers(0, 1 << 39))
applications = st.builds(Sizes, names, names, names, st.sampled_from(["linked", "reloc"]), st.lists(figures).map(tuple))


@given(names, st.lists(applications, max_size=4, unique_by=lambda each: each.identity).map(tuple))
def test_what_was_written_is_read(n6build: str, found: tuple[Sizes, ...]) -> None:
    written = sizes_json(SizesFile(n6build, found))
    assert sizes_json(read(written)) == written


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(st.binary(max_size=200) | JSON.map(json.dumps) | st.text(max_size=100))
def test_anything_else_is_refused(data: bytes | str) -> None:
    with pytest.raises(N6Error, match="error N6-SIZES-001: "):
        read(data)


@given(
    st.sampled_from(
        ["n6build", "applications", "board", "application", "profile", "loader", "figures", "name", "used", "limit"]
    ),
    JSON,
)
def test_a_file_with_one_wrong_value_is_read_or_refused(key: str, value: object) -> None:
    document = json.loads(sizes_json(FILE))
    application = document["applications"][0]
    for each in (document, application, application["figures"][0]):
        if key in each:
            each[key] = value
    try:
        assert isinstance(read(json.dumps(document)), SizesFile)
    except N6Error as error:
        assert error.id == "N6-SIZES-001"


@pytest.mark.parametrize("version", [0, 2, 99])
def test_another_version_of_the_format_is_refused_with_who_wrote_it(version: int) -> None:
    document = {**json.loads(sizes_json(FILE)), "version": version, "n6build": "9.9\n", "applications": "of tomorrow"}
    with pytest.raises(N6Error) as caught:
        read(json.dumps(document))
    assert caught.value.id == "N6-SIZES-002"
    assert caught.value.what == f"version {version} of the format, by n6build 9.9\\n; this one reads {VERSION}"


def test_deep_nesting_a_long_file_and_doubles_are_refused() -> None:
    with pytest.raises(N6Error, match="is not a file of sizes"):
        read("[" * 1_000_000)
    with pytest.raises(N6Error, match="error N6-FILE-003: "):
        read(" " * (5 << 20))
    with pytest.raises(N6Error, match="listed twice"):
        read(sizes_json(replace(FILE, applications=(SIZES, SIZES))))


def test_the_verdict_counts_applications() -> None:
    assert verdict(compare(FILE, FILE), FILE) == "No size has changed"
