"""No file, record, log or board causes a traceback or an endless build.

`make fuzz` tries the same for longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.found import FOUND
from fuzz.mutation import mutated
from fuzz.target import tried
from fuzz.targets import TARGETS


@cache
def seeds_of(name: str) -> Sequence[bytes]:
    return TARGETS[name].seeds()


@pytest.mark.parametrize("name", TARGETS)
def test_each_seed_is_read(name: str, tmp_path: Path) -> None:
    """Damaged copies of an unreadable seed would not reach much code."""
    for seed in seeds_of(name):
        trial = tried(TARGETS[name], seed, tmp_path)
        assert trial.result == "read", trial.said


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found_stays_mended(name: str, data: bytes, tmp_path: Path) -> None:
    trial = tried(TARGETS[name], data, tmp_path)
    assert trial.result in ("read", "refused"), trial.said


@settings(max_examples=250, deadline=None)
@given(name=st.sampled_from(sorted(TARGETS)), random=st.randoms(use_true_random=False))
def test_damaged_input_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, name: str, random: Random) -> None:
    target = TARGETS[name]
    seeds = seeds_of(name)
    folder = tmp_path_factory.getbasetemp() / f"fuzz {name.replace('/', '_')}"
    folder.mkdir(exist_ok=True)
    trial = tried(target, mutated(random.choice(seeds), seeds, target.words, random), folder)
    assert trial.result in ("read", "refused"), trial.said


_WORD = re.compile(rb"[A-Za-z_$.][\w.$]*|\d[\w.]*|[^\s\w]|\s+")
_REPEATED = (b"a", b" ", b"(", b"a=", b"a(", b"a:", b'"', b"/*", b"\\")
_REPEATED_BYTES = 60_000
# A parser of linear time needs a tenth of this on a slow machine; one of quadratic time needs twenty times as long.
_MOST_S = 2.0


def repetitions(data: bytes) -> Iterator[bytes]:
    """Yield the data with one of its words, or another one, repeated many times."""
    words = {found[0]: found.end() for found in reversed([*_WORD.finditer(data[:6000])])}
    ends = sorted(words.values())[:: max(1, len(words) // 5)]
    cases = [*list(words.items())[:: max(1, len(words) // 15)], *((word, end) for word in _REPEATED for end in ends)]
    for word, end in cases:
        yield data[:end] + word * (_REPEATED_BYTES // len(word)) + data[end:]


@pytest.mark.parametrize(
    "name", [each if each == "linker script" else pytest.param(each, marks=pytest.mark.slow) for each in TARGETS]
)
def test_a_word_that_is_repeated_takes_linear_time(name: str, tmp_path: Path) -> None:
    for data in repetitions(seeds_of(name)[0]):
        trial = tried(TARGETS[name], data, tmp_path)
        assert trial.result in ("read", "refused"), trial.said
        assert trial.seconds < _MOST_S, data[:200]
