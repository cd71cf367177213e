"""JSON and YAML from outside are bounded before their parsers see them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from n6build.base.bounded import (
    MAX_LEVELS,
    MAX_YAML_ALIASES,
    MAX_YAML_BYTES,
    check_yaml,
    decode_json,
    most_yaml_levels,
    parse_json,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\a\n\u00e9'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='[]{}"\\'), inner, max_size=3),
    max_leaves=40,
)


@dataclass(frozen=True)
class Pair:
    a: int
    b: tuple[str, ...] = ()


@given(VALUES)
def test_json_is_what_the_library_reads(value: object) -> None:
    text = json.dumps(value)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_json_may_nest_as_deep_as_the_limit_and_no_deeper(bracket: str) -> None:
    closing = "]" if bracket == "[" else "}"
    parse_json(bracket * MAX_LEVELS + "1" + closing * MAX_LEVELS)
    for deeper in (MAX_LEVELS + 1, 100_000):
        with pytest.raises(ValueError, match="nests more than 64 levels deep"):
            parse_json(bracket * deeper + "1" + closing * deeper)


def test_brackets_in_texts_are_no_levels() -> None:
    text = json.dumps({"a": "[{" * 100 + '\\"[' * 100, "b": ["]"] * 100})
    assert parse_json(text) == json.loads(text)


def test_json_has_a_limit_of_size_and_is_utf_8() -> None:
    with pytest.raises(ValueError, match="has 12 bytes, 2 more than the limit"):
        parse_json(b'"0123456789"', 10)
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        parse_json("[1]".encode("utf-16"))


def test_a_number_that_python_does_not_convert_is_no_json() -> None:
    with pytest.raises(ValueError, match="4300 digits"):
        parse_json("9" * 4301)


def test_json_is_decoded_as_a_type() -> None:
    assert decode_json(b'{"a": 1, "b": ["x"]}', Pair) == Pair(1, ("x",))
    for wrong in (b'{"a": "1"}', b"{}", b"[", b'{"a": 1, "c": ' + b"[" * 5000, b'{"a": 1, "b": [1]}'):
        with pytest.raises(ValueError):
            decode_json(wrong, Pair)


@pytest.mark.parametrize("text", ["[" * 40_000, "- " * 40_000, "{a: " * 40_000, "? " * 40_000])
def test_yaml_that_would_overflow_the_stack_of_its_parser_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="nests more than 64 levels deep"):
        check_yaml(text)


def test_yaml_has_limits_of_size_and_aliases() -> None:
    check_yaml("a: &x [1]\n" + "".join(f"b{number}: *x\n" for number in range(MAX_YAML_ALIASES)))
    with pytest.raises(ValueError, match="more than 100 aliases"):
        check_yaml("a: &x [1]\n" + "".join(f"b{number}: *x\n" for number in range(MAX_YAML_ALIASES + 1)))
    with pytest.raises(ValueError, match="more than the limit"):
        check_yaml("#" * (MAX_YAML_BYTES + 1))


def test_what_is_no_yaml_is_left_to_its_parser() -> None:
    check_yaml("a: [1\nb: 2\n")


# These pieces open, close or hide levels.
_PIECES = (
    *("- ", "? ", ": ", "a: ", "a", "[", "]", "{", "}", ", ", "'", '"', "#", " #", "|\n", ">"),
    *("!t ", "&x ", "---", "--- ", "\n", "\n  ", "\t", "\u2028", "\r", "\ufeff", "\n- "),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
@example("a]]]]: [[[[\n[[")
@example("- - - - ? - : - a: b")
@example("a:\n- b:\n  - c:\n    - d")
@example("--- - - a")
def test_no_text_nests_deeper_than_counting_its_characters_says(text: str) -> None:
    level = deepest = 0
    with suppress(yaml.YAMLError):
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            deepest = max(deepest, level)
    assert deepest <= most_yaml_levels(text)
