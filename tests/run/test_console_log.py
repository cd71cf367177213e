"""The console of the firmware, also with lost or damaged lines."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.run.compare import check_appli, check_complete, judge
from n6build.board.run.console_log import ConsoleLog, EpochCycles, Inference, ends_run, read_console
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.model import Tolerance

GOOD = """n6 fsbl start board=nucleo-n657
n6 appli start model=tiny epochs=2 clock=600000000
n6 run 0 begin
n6 run 0 epoch 0 start=100 core=5 end=15
n6 run 0 epoch 1 start=10 core=10 end=10
n6 run 0 output 0 000000bf0000803f
n6 run 0 class 1
n6 run 0 cycles=150
n6 run 1 output 0 0000803f00000000
n6 done runs=2
""".splitlines()

SCORES = IoBuffer("scores", None, 8, "float32", (1, 2), 1.0, 0)


def in_order(log: ConsoleLog) -> list[Inference]:
    return [inference for _, inference in sorted(log.inferences.items())]


def verdicts(expected: list[bytes]) -> list[tuple[str, bool | None, int]]:
    judged = judge(
        in_order(read_console(GOOD)),
        expected,
        labels=["b", "a"],
        classes=["a", "b"],
        outputs=[SCORES],
        tolerance=None,
    )
    return [(verdict.answer, verdict.equal, verdict.different_bytes) for verdict in judged]


def test_outputs_are_compared_byte_by_byte() -> None:
    assert verdicts([struct.pack("<2f", -0.5, 1), struct.pack("<2f", 1, 1)]) == [("b", True, 0), ("a", False, 2)]


def test_without_expected_outputs_nothing_is_claimed() -> None:
    assert [equal for _, equal, _ in verdicts([])] == [None, None]


def test_an_output_that_is_too_short_differs() -> None:
    assert verdicts([bytes.fromhex("000000bf0000803f") + b"\0\0", b""])[0][1:] == (False, 2)


def test_cycles_of_epochs_are_those_of_the_first_inference() -> None:
    log = read_console(GOOD)
    assert log.clock_hz == 600_000_000
    assert [log.inferences[run].epoch_cycles for run in (0, 1)] == [
        {0: EpochCycles(100, 5, 15), 1: EpochCycles(10, 10, 10)},
        {},
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [*GOOD[:2], "n6 appli error N6-FW-001 weights slot xSPI2 is erased"],
            "N6-FW-001: the firmware stopped: weights slot xSPI2 is erased",
        ),
        ([*GOOD[:2], "n6 fault HardFault cfsr=0x00008200"], "N6-RUN-001"),
        (GOOD[:-1], "N6-RUN-002: the firmware printed nothing after 2 of 2"),
        (GOOD[:5] + GOOD[-1:], "N6-RUN-003"),
    ],
)
def test_a_run_that_did_not_end_well_is_an_error(lines: list[str], message: str) -> None:
    with pytest.raises(N6Error) as error:
        check_complete(read_console(lines), 2)
    assert message in str(error.value)


REFUSED = "n6 fsbl appli slot={} refused N6-FW-080 started on trial and was not confirmed"
LOADED = "n6 fsbl appli bytes=20864 entry=0x34004581 slot={} revision=1"


def test_an_older_appli_that_runs_is_an_error_and_a_newer_one_as_the_last_resort_is_none() -> None:
    newest = [REFUSED.format("b"), REFUSED.format("a"), "n6 trial appli last-resort", LOADED.format("b")]
    check_appli(read_console(newest))
    check_appli(read_console([LOADED.format("b")]))
    for older in ([REFUSED.format("b"), LOADED.format("a")], [*newest[:3], LOADED.format("a")]):
        with pytest.raises(N6Error, match="N6-RUN-013: the board rejects the Appli in slot b.*slot a runs"):
            check_appli(read_console(older))


def test_the_end_of_a_run_is_recognised() -> None:
    assert [
        ends_run(line) for line in ("n6 done runs=1", "n6 fault HardFault", "n6 fsbl error N6-FW-1 x", "n6 run 0 begin")
    ] == [True, True, True, False]


@given(st.lists(st.text(alphabet="n6 runoutpdefabc=0123456789\x00ÿ", max_size=40)))
def test_garbage_is_survived(lines: list[str]) -> None:
    judge(in_order(read_console(lines)), [b"x"], labels=[], classes=["a"], outputs=[SCORES], tolerance=Tolerance())
