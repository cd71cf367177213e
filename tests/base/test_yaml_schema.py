"""Any YAML file gives a value of the schema's type, or one located error."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Size, parse_document
from n6build.describe.hardware.soc import Soc


@dataclass(frozen=True)
class Inner:
    size: Size
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: dict[str, Inner]
    ratio: float | None = None


@pytest.mark.parametrize(("text", "size"), [("4K", 4096), ("1M", 1 << 20), ("0x100", 256), ("12", 12), ("2G", 1 << 31)])
def test_sizes_have_units_of_1024(text: str, size: int) -> None:
    assert parse_document(f"inner: {{a: {{size: {text}}}}}", "x.yaml").load(Outer).inner["a"].size == size


@pytest.mark.parametrize("text", ["-4K", "4KB", "[]", "1.5", "''", "~"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(N6Error, match="x.yaml:1: inner.a.size"):
        parse_document(f"inner: {{a: {{size: {text}}}}}", "x.yaml").load(Outer)


@pytest.mark.parametrize("text", ["", "a: [", "a: &x [*x]", "\t", "a: !!python/object:os.system {}", "- 1", "? [a]: b"])
def test_what_is_no_mapping_of_ours_is_refused(text: str) -> None:
    with pytest.raises(N6Error, match="x.yaml"):
        parse_document(text, "x.yaml").load(Outer)


@given(st.text(max_size=200))
def test_any_text_gives_a_value_or_an_error_of_ours(text: str) -> None:
    try:
        assert isinstance(parse_document(text, "x.yaml").load(Outer), Outer)
    except N6Error as error:
        assert "x.yaml" in str(error)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("abc:{}[]&*!#-", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "cpu", "boot", "pools"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_VALUES)
def test_any_tree_gives_an_error_of_ours(value: object) -> None:
    import yaml

    with pytest.raises(N6Error, match="x.yaml"):
        parse_document(yaml.safe_dump(value), "x.yaml").load(Soc)
