"""The epoch controller: blobs that work, and ten thousand damaged ones."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from blob_containers import in_container
from n6build.describe.formats.npu_blob import CONTAINERS, ContainerLayout
from n6build.judge.npu.containers import Relocation

from virtual_board.npu.assembler import Epoch, Frames
from virtual_board.npu.cases_convacc import Accumulation, sums_through_memory
from virtual_board.npu.cases_vector import activation
from virtual_board.npu.damage import EXTREMES, LONGEST, SANITIZERS, build_main, damaged, run_all
from virtual_board.npu.examples import EXAMPLES
from virtual_board.npu.model import (
    END,
    MEMORY_BYTES,
    Npu,
    assembled,
    label,
    offset_of,
    poll,
    unit,
    value_of,
    write_bits,
    write_many,
    write_word,
)
from virtual_board.npu.oracles import Convolution, Function

SOURCE, TARGET = 0x1000, 0x4000
RUNNING = 31
DONE, ERROR = 1 << 28, 1 << 30
SECOND, MOST_MEMORY = 1_000_000, 300 << 20
each_layout = pytest.mark.parametrize("layout", CONTAINERS, ids=lambda each: f"0x{each.magic:08X}")


@pytest.fixture
def npu(npu: Npu) -> Npu:
    npu.put(SOURCE, np.arange(64, dtype=np.uint8))
    return npu


def engine(index: int, address: int, count: int, **control: int) -> list[list[int]]:
    number = unit("STRENG", index)
    return [
        write_many(number, offset_of("STRENG", "ADDR"), [address, count]),
        write_word(number, offset_of("STRENG", "LIMIT"), 1),
        write_word(number, 0, value_of("STRENG", "CTRL", RAW=1, SIZE0=8, **control)),
    ]


def copying() -> list[list[int]]:
    """Return a program with label 7, in which engine 2 reads and engine 5 writes."""
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


@each_layout
def test_a_relocatable_blob_stands_in_a_container(npu: Npu, layout: ContainerLayout) -> None:
    blob = assembled(*copying(), END)
    assert npu.run_blob(in_container(layout, blob, [Relocation("a", (1,))])) is None
    assert npu.get(TARGET, 64, "uint8").tolist() == list(range(64))


DAMAGED = [
    ("another magic", [0xDEADBEEF, 1, 12], "finds no blob at 0x00080000, but 0xdeadbeef"),
    (
        "an unknown container",
        [0xECBF0060, 0, 0, 16, 16],
        "at 0x00080000 is in an unknown container, 0xecbf0060",
    ),
    ("a container in itself", [0xECBF0020, 0, 0, 0], "finds no blob at 0x00080000, but 0xecbf0020"),
    ("no end", assembled(label(1)), "ends after 1 words without an end"),
    ("an unknown instruction", assembled([5], END), "has an unknown instruction 5, word 0"),
    ("a missing unit", assembled(write_word(31, 0, 0), END), "has no access to unit 31, word 0"),
    (
        "words beyond memory",
        [0xCA057A7A, 1 << 21, *label(1) * 8],
        "without an end|cannot read|unknown instruction|writes bits",
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


@dataclass(frozen=True)
class Programs:
    """Two programs that run blobs.

    Attributes:
        sanitized: It finds forbidden accesses.
        plain: Its time and memory are measured.
    """

    sanitized: Path
    plain: Path


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    sanitized, plain = (tmp_path_factory.mktemp(name) for name in ("sanitized_blobs", "plain_blobs"))
    return Programs(build_main(sanitized, SANITIZERS), build_main(plain, ()))


def outcomes_of(programs: Programs, memory: np.ndarray, blobs: Sequence[Sequence[int]]) -> list[str]:
    """Return each blob's outcome, after checks of time, memory and the sentence."""
    outcomes, held = run_all(programs.plain, memory, blobs)
    sentences = [outcome.sentence for outcome in outcomes]
    assert len(sentences) == len(blobs)
    assert max(outcome.microseconds for outcome in outcomes) < SECOND
    assert 0 < held < MOST_MEMORY
    assert all(re.fullmatch(r"[ -~]{3,200}", sentence) for sentence in sentences)
    assert [outcome.sentence for outcome in run_all(programs.sanitized, memory, blobs)[0]] == sentences
    return sentences


# Outcomes that must occur among thousands of damaged blobs. All numbers are replaced by 0.
KINDS = {
    "ran",
    "the blob at 0 ends after 0 words without an end",
    "the blob at 0 has 0 words",
    "the blob at 0 has an unknown instruction 0, word 0",
    "the blob at 0 has no access to unit 0, word 0",
    "the blob at 0 waits for ever, word 0: STRENG0 +0 bits 0 to 0 are 0, not 0",
    "the epoch controller finds no blob at 0, but 0",
    "STRENG0 cannot read 0 bytes at 0",
    "STRENG0 cannot write 0 bytes at 0",
    "STRENG0 cannot give frame 0, since it has 0 (LIMIT): its reader waits for ever",
    "destination 0 of the stream switch has no source (STRSWITCH +0)",
    "a stream comes from STRENG0, which is off",
    "no stream engine writes to memory, so the epoch never ends",
    "CONVACC0 waits for its own output: units wait for each other in a circle",
    "the epoch moves more than 0 bytes between units",
    "RECBUF is used, but not modelled",
}


def kinds_of_damage(programs: Programs, seed: int, count: int) -> set[str]:
    rng = random.Random(seed)
    epochs = [make() for make in EXAMPLES.values()]
    blobs = [damaged(rng, epochs) for _ in range(count)]
    sentences = outcomes_of(programs, epochs[0].memory_before(), blobs)
    return {re.sub(r"0x[0-9a-f]+|\d+", "0", sentence, flags=re.IGNORECASE) for sentence in sentences}


@pytest.mark.slow
def test_ten_thousand_damaged_blobs_run_or_are_told(programs: Programs) -> None:
    assert kinds_of_damage(programs, 20261121, 10_000) >= KINDS


def damaged_in_container(rng: random.Random, epochs: Sequence[Epoch], layout: ContainerLayout) -> list[int]:
    """Return a container whose blob, or whose header, is damaged."""
    blob = damaged(rng, epochs)[: LONGEST - 64]
    words = in_container(layout, blob, [Relocation("_user_io_input_0", (1, 2))])
    for _ in range(rng.choice((0, 0, 1, 2))):
        words[rng.randrange(layout.header_words)] = rng.choice((*EXTREMES, rng.randrange(4 * len(words)), layout.magic))
    return words


@each_layout
@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_damaged_containers_run_or_are_told(programs: Programs, layout: ContainerLayout, count: int) -> None:
    rng = random.Random(layout.magic)
    epochs = [make() for make in EXAMPLES.values()]
    blobs = [damaged_in_container(rng, epochs, layout) for _ in range(count)]
    sentences = outcomes_of(programs, epochs[0].memory_before(), blobs)
    assert {"ran", "the epoch controller finds no blob at"} <= {sentence.partition(" 0x")[0] for sentence in sentences}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_more_damaged_blobs(programs: Programs, seed: int) -> None:
    assert kinds_of_damage(programs, seed, 10_000) >= KINDS


@pytest.mark.parametrize(
    ("written", "read", "width"),
    [pytest.param(0xFFFF_FFFF, 1, 1, marks=pytest.mark.slow), (0x7FFF_FFFF, 0x7FFF_FFFF, 1), (0x7FFF_FFFF, 1, 64)],
)
def test_four_thousand_million_frames_are_told_at_once(programs: Programs, written: int, read: int, width: int) -> None:
    epoch = Epoch()
    source = epoch.reader(2, Frames(epoch.place(np.zeros(64, np.uint8)), width, count=read), CONT=1)
    epoch.writer(5, source, Frames(epoch.room(64), width, count=written))
    (sentence,) = outcomes_of(programs, epoch.memory_before(), [epoch.blob()])
    assert re.match("the epoch (moves|takes) more than", sentence)


def far_sums(in_shift: int, out_shift: int) -> list[int]:
    return sums_through_memory(Convolution(in_shift=in_shift, out_shift=out_shift), Accumulation(3)).blob()


def far_function(parabola: tuple[int, int, int], out_shift: int) -> list[int]:
    epoch = activation(Function(((0, 0), (1, 0)), (parabola, parabola)))
    epoch.set("ACTIV", 1, "FUNC", OUTSHIFT=out_shift, BSHIFT=31, CSHIFT=63, SIGNEDOP=1, BWIDTH=1)
    return epoch.blob()


FURTHEST = [
    *[far_sums(in_shift, out_shift) for in_shift in (47, 48, 63) for out_shift in (0, 61, 63)],
    *[far_function((-32768, 32767, c), out_shift) for c in (1, -1, 32767) for out_shift in (0, 61, 62)],
    *[far_function((32767, -32768, c), out_shift) for c in (1, -1, 32767) for out_shift in (0, 61, 62)],
]


@pytest.mark.parametrize("words", FURTHEST)
def test_the_furthest_shifts_overflow_as_the_host_defines_it(programs: Programs, words: list[int]) -> None:
    memory = np.random.default_rng(1).integers(0, 256, MEMORY_BYTES).astype(np.uint8)
    outcomes, _ = run_all(programs.sanitized, memory, [words])
    assert [outcome.sentence for outcome in outcomes] == ["ran"]
