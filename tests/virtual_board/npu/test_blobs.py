"""The epoch controller: blobs that work, and ten thousand that are damaged."""

from __future__ import annotations

import ctypes
import random
import re
from collections.abc import Iterator

import numpy as np
import pytest

from virtual_board.npu.model import (
    END,
    Npu,
    assembled,
    build_model,
    label,
    offset_of,
    poll,
    unit,
    value_of,
    write_bits,
    write_many,
    write_word,
)

SOURCE, TARGET = 0x1000, 0x4000
RUNNING = 31
DONE, ERROR = 1 << 28, 1 << 30
SANITIZERS = ("-g", "-fsanitize=undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Undefined behaviour ends the test run."""
    return build_model(tmp_path_factory.mktemp("npu_blobs"), SANITIZERS)


@pytest.fixture
def npu(library: ctypes.CDLL) -> Iterator[Npu]:
    npu = Npu(library)
    npu.put(SOURCE, np.arange(64, dtype=np.uint8))
    yield npu
    npu.close()


def engine(index: int, address: int, count: int, **control: int) -> list[list[int]]:
    number = unit("STRENG", index)
    return [
        write_many(number, offset_of("STRENG", "ADDR"), [address, count]),
        write_word(number, offset_of("STRENG", "LIMIT"), 1),
        write_word(number, 0, value_of("STRENG", "CTRL", RAW=1, SIZE0=8, **control)),
    ]


def copying() -> list[list[int]]:
    """Label 7: engine 2 reads, engine 5 writes."""
    return [
        label(7),
        write_word(unit("STRSWITCH"), 8 + 4 * 5, 1 | 2 << 1),
        *engine(5, TARGET, 64, DIR=1),
        *engine(2, SOURCE, 64),
        write_bits(unit("STRENG", 5), 0, 0, 1, 1),
        write_bits(unit("STRENG", 2), 0, 0, 1, 1),
        poll(unit("STRENG", 5), 0, RUNNING, RUNNING, 0),
        write_bits(unit("STRENG", 5), 0, 0, 1, 0),
        write_bits(unit("STRENG", 2), 0, 0, 1, 0),
    ]


def pending(npu: Npu) -> int:
    return npu.read(unit("INTCTRL"), offset_of("INTCTRL", "INTREG"))


def test_a_blob_runs_its_epochs_and_says_only_that_it_is_done(npu: Npu) -> None:
    assert npu.run_blob(assembled(*copying(), END)) is None
    assert npu.get(TARGET, 64, "uint8").tolist() == list(range(64))
    assert npu.read(unit("EPOCHCTRL"), offset_of("EPOCHCTRL", "LABEL")) == 7
    assert npu.read(unit("EPOCHCTRL"), offset_of("EPOCHCTRL", "IRQ")) == 1
    assert pending(npu) == DONE


def test_a_relocatable_blob_stands_in_a_container(npu: Npu) -> None:
    blob = assembled(*copying(), END)
    assert npu.run_blob([0xECBF0050, 0, 0, 0, 64, *[0] * 11, *blob]) is None
    assert npu.get(TARGET, 64, "uint8").tolist() == list(range(64))


DAMAGED = [
    ("another magic", [0xDEADBEEF, 1, 12], "finds no blob at 0x00080000: 0xdeadbeef"),
    ("no end", assembled(label(1)), "ends after 1 words without an end"),
    ("an unknown instruction", assembled([5], END), "has an instruction 5, word 0"),
    ("a missing unit", assembled(write_word(31, 0, 0), END), "asks for unit 31, word 0"),
    (
        "words beyond memory",
        [0xCA057A7A, 1 << 21, *label(1) * 8],
        "without an end|where it cannot|is not known|writes bits",
    ),
    ("more words than any blob has", [0xCA057A7A, 1 << 30, 12], "has 1073741824 words"),
    (
        "waits for what never comes",
        assembled(poll(unit("STRENG", 1), 0, 0, 0, 1), END),
        "waits for ever, word 0: STRENG1 \\+0x00 bits 0 to 0 are 0, not 1",
    ),
]


@pytest.mark.parametrize(("words", "reason"), [case[1:] for case in DAMAGED], ids=[case[0] for case in DAMAGED])
def test_a_damaged_blob_is_told_and_raises_the_error_interrupt(npu: Npu, words: list[int], reason: str) -> None:
    found = npu.run_blob(words)
    assert found
    assert re.search(reason, found)
    assert pending(npu) == ERROR


def test_ten_thousand_mutated_blobs_neither_crash_nor_hang(library: ctypes.CDLL) -> None:
    rng = random.Random(20261121)
    sound = assembled(*copying(), *copying(), END)
    npu = Npu(library)
    reasons = set()
    for _ in range(10_000):
        words = list(sound)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(words))
            words[at] ^= rng.choice((1 << rng.randrange(32), rng.getrandbits(32)))
        npu.write(unit("EPOCHCTRL"), 0, 1 << 30)
        reason = npu.run_blob(words)
        reasons.add(reason and reason[:20])
    npu.close()
    assert None in reasons
    assert len(reasons) > 5
