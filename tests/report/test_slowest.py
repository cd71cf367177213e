"""The epochs that take longest come first in a report, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from n6build.board.run.instructions import Cycles, Meaning
from n6build.engine.perform import DoneStep
from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.expected import NetworkTime, expected_time
from n6build.judge.timing.model import Bound, read_model
from n6build.judge.timing.of_network import EpochWork, NetworkWork
from n6build.tell.content import EpochRow, Report
from n6build.tell.html import report_html
from n6build.tell.slowest import SHOWN, SlowNetwork, slowest
from n6build.tell.text import report_text

from report.report_samples import KIB, REPORT, with_network

DK = Conditions("dk", 800_000_000, 1_000_000_000, 200_000_000)
ON_NPU = EpochWork(1, "Conv", "NPU", 1_000_000, 0, (0, 0), 0, None)
FROM_FLASH = EpochWork(2, "Gemm", "NPU", 1_000, 0, (800_000, 800_000), 0, None)
MEANINGS = {"scalar": Meaning("scalar code", "model", "No stalls.", Cycles(1.0, 2.0))}


def report_of(epochs: Sequence[EpochRow], time: NetworkTime | None = None, *, virtual: bool = False) -> Report:
    return replace(with_network(epochs=tuple(epochs), time=time), meanings=MEANINGS if virtual else {})


def slow(epochs: Sequence[EpochRow], time: NetworkTime | None = None, *, virtual: bool = False) -> SlowNetwork:
    (network,) = slowest(report_of(epochs, time, virtual=virtual))
    return network


def time_of(*work: EpochWork) -> NetworkTime:
    return expected_time(NetworkWork(work, "", 0, 0), read_model(), DK)


def rows(*cycles: int | None) -> list[EpochRow]:
    return [EpochRow(number, "Conv2D", "CPU", 1000, 64, each) for number, each in enumerate(cycles, 1)]


def test_the_cycles_of_a_board_decide() -> None:
    network = slow(rows(100, 700, 200), time_of(ON_NPU, FROM_FLASH))
    assert [each.row.index for each in network.epochs] == [2, 3, 1]
    assert [each.share for each in network.epochs] == [0.7, 0.2, 0.1]
    assert network.epochs[0].takes == "700 cycles"
    assert network.sentence == "keyword: the slowest 3 of 3 epochs take 100.0% of the cycles of the board"


def test_the_expected_time_decides_where_instructions_were_counted() -> None:
    network = slow(rows(1000, 10), time_of(ON_NPU, FROM_FLASH), virtual=True)
    assert [each.row.index for each in network.epochs] == [2, 1]
    assert network.measure == "expected time on the chip"
    assert network.epochs[0].takes.endswith(" ms")


def test_instructions_decide_where_no_time_is_known() -> None:
    network = slow(rows(10, 30), virtual=True)
    assert (network.epochs[0].row.index, network.measure) == (2, "instructions of the virtual board")


def test_what_was_neither_run_nor_expected_is_not_ranked() -> None:
    report = replace(report_of(rows(None, None)), actions=())
    assert slowest(report) == ()
    assert "What is slow" not in report_html(report)


@pytest.mark.parametrize(
    ("bound", "why"),
    [
        ("stream", "NPU: 4,096 elements on its widest stream"),
        ("MACs", "NPU: 1,000 MACs"),
        ("flash", "flash: 2.0 KiB to read"),
        ("PSRAM", "PSRAM: activations are in it"),
        ("overhead", "start and end: longer than its work"),
    ],
)
def test_every_bound_is_a_reason(bound: Bound, why: str) -> None:
    time = time_of(ON_NPU)
    epoch = replace(time.epochs[0], bound=bound, elements=4096, flash_bytes=2 * KIB)
    row = EpochRow(1, "Conv", "NPU", 1000, 64, None)
    assert slow([row], replace(time, epochs=(epoch,))).epochs[0].why == why


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (EpochRow(1, "Conv2D", "CPU", 1000, 64, 250), "CPU: 1,000 MACs, 0.25 cycles each"),
        (EpochRow(1, "Softmax", "CPU", 0, 64, 250), "CPU: 64 B of tensors"),
        (EpochRow(1, "Custom", "CPU", None, 0, 250), "CPU: all of it"),
        (EpochRow(1, "Conv", "NPU", 1000, 64, 250), "NPU: 1,000 MACs"),
        (EpochRow(1, "Resize", "both", 1000, 64, 250), "NPU and CPU share it"),
    ],
)
def test_without_an_expected_time_the_unit_is_the_reason(row: EpochRow, why: str) -> None:
    assert slow([row]).epochs[0].why == why


def test_a_blob_has_the_reason_of_its_longest_epoch() -> None:
    row = EpochRow(1, "Conv Gemm", "NPU", None, 64, None, last=2, count=2)
    (epoch,) = slow([row], time_of(ON_NPU, FROM_FLASH)).epochs
    assert (epoch.row.number, epoch.share) == ("1-2", 1.0)
    assert epoch.why.startswith("flash: ")
    assert epoch.why.endswith(", in epoch 2")


def test_page_and_text_begin_with_the_slowest() -> None:
    report = report_of(rows(*range(1, 30)))
    page, text = report_html(report), report_text(report)
    said = f"keyword: the slowest {SHOWN} of 29 epochs take 31.0% of the cycles of the board"
    for form, later in ((page, "<h2>Checks"), (text, "Network keyword")):
        assert form.index(said) < form.index("CPU: 1,000 MACs, 0.03 cycles each") < form.index(later)


def test_the_page_begins_with_the_slowest_steps_too() -> None:
    actions = tuple(DoneStep("compile", f"build/{n}.o", float(n)) for n in range(1, 9))
    page = report_html(replace(REPORT, actions=actions))
    top = page[: page.index("<h2>Checks")]
    assert top.index("build/8.o") < top.index("build/7.o")
    assert "build/3.o" not in top
    assert "22.2%" in top
