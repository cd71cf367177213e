"""The table of a run: epochs under ST's numbers, with the firmware's cycles.

The firmware counts cycles by the epoch's place in the table.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from n6build.board.run.compare import Verdict
from n6build.board.run.comparison_text import measured_shares, result_lines
from n6build.board.run.console_log import EpochCycles, read_console
from n6build.board.run.session import NetworkOutcome, Outcome, RunModel, outcome_of
from n6build.board.run.st_table import st_table
from n6build.board.run.table import epoch_table, run_junit
from n6build.compile.artifacts.description import EpochBlock, EpochInfo, IoBuffer, NetworkArtifacts
from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.expected import expected_time
from n6build.judge.timing.model import read_model
from n6build.judge.timing.of_network import EpochWork, NetworkWork

ARTIFACTS = NetworkArtifacts(
    name="network",
    suffix="Default",
    source=Path("network.c"),
    pools=(),
    initializers=(),
    inputs=(),
    outputs=(IoBuffer("out", 0x34200000, 1, "int8", (1, 1), 1.0, 0),),
    quantised=(),
    epochs=(
        EpochInfo(2, "t", "Transpose", 0, 8, "NODE_SW"),
        EpochInfo(3, "c", "Conv Add Mul LeakyRelu", 0, 8, "NODE_EC"),
        EpochInfo(4, "p", "MaxPool", 0, 8, "NODE_EC"),
        EpochInfo(118, "s", "Softmax", 0, 8, "NODE_SW_HW"),
    ),
    ll_aton=None,
    library_call=None,
    tools=(),
    described_by="network_c_info.json",
    blocks=(
        EpochBlock(2, 2, "NODE_SW"),
        EpochBlock(3, 117, "NODE_EC"),
        EpochBlock(118, 118, "NODE_SW_HW"),
        EpochBlock(118, 118, "NODE_SW_HW"),
    ),
)
CONSOLE = """n6 run 0 begin
n6 run 0 epoch 1 start=0 core=0 end=200
n6 run 0 epoch 2 start=100 core=1000 end=10
n6 run 0 epoch 3 start=7 core=0 end=0
n6 run 0 epoch 4 start=0 core=0 end=3
n6 run 0 epoch 5 start=1 core=1 end=1
n6 run 0 output 0 00
n6 run 0 cycles=1320
n6 done runs=1
""".splitlines()


def outcome() -> Outcome:
    inferences = list(read_console(CONSOLE).inferences.values())
    network = outcome_of(RunModel("od", Path("inputs.npy"), None, (), ()), ARTIFACTS, inferences, (), ())
    return Outcome("nucleo-n657", 600_000_000, "cycles", (network,), (), {})


def test_cycles_are_under_st_s_numbers() -> None:
    assert outcome().networks[0].epoch_cycles == {
        2: EpochCycles(0, 0, 200),
        3: EpochCycles(100, 1000, 10),
        # The start and the end of this epoch are two blocks. A fifth block is not in the table.
        118: EpochCycles(7, 0, 3),
    }


def test_a_row_for_each_epoch_or_blob_all_in_their_columns() -> None:
    result = outcome()
    work = EpochWork(118, "Softmax", "CPU", 1000, 0, (0, 0), 0, None)
    time = expected_time(NetworkWork((work,), "", 0, 0), read_model(), Conditions("c", 800_000_000, 10**9, 10**8))
    lines = epoch_table(result.networks[0], ARTIFACTS, result, time)
    header, rows = lines[0], lines[2:5]
    assert [row[:26].strip() for row in rows] == ["2  Transpose", "3-117  Conv Add Mul L...", "118  Softmax"]
    assert [int(row[42:56].replace(",", "")) for row in rows] == [200, 1110, 10]
    assert {row.index("[") for row in rows} == {header.index("[")}
    assert "0.041 to 0.164 ms" in rows[2]
    assert not any("MAC" in line for line in lines)


def test_of_many_epochs_the_table_has_those_that_take_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("n6build.board.run.table.SHOWN", 2)
    result = outcome()
    time = expected_time(NetworkWork((), "", 0, 0), read_model(), Conditions("c", 800_000_000, 10**9, 10**8))
    lines = epoch_table(result.networks[0], ARTIFACTS, result, time)
    assert [line.split()[0] for line in lines[2:4]] == ["2", "3-117"]
    assert lines[4].split() == ["1", "others,", "in", "run.json", "0.000", "10", "0.8%"]


def test_counted_epochs_that_the_files_lack_leave_only_the_sums() -> None:
    result = outcome()
    network = replace(result.networks[0], epoch_cycles={7: EpochCycles(1, 2, 3)})
    time = expected_time(NetworkWork((), "", 0, 0), read_model(), Conditions("c", 800_000_000, 10**9, 10**8))
    lines = epoch_table(network, ARTIFACTS, result, time)
    assert set(lines[2]) == {" ", "-"}
    assert lines[3].split()[0] == "total"


# ST's readme has these three lines for an inference of 12.963 ms.
ST_README = [
    "  total                 12.963                   [ 1,997,228  7,881,453    491,939 ]",
    "                   77.14 inf/s                   [     19.3%      76.0%       4.7% ]",
    "  ----------------------------------------------------------------------------------",
]


def test_the_last_lines_of_st_s_report() -> None:
    parts = EpochCycles(1_997_228, 7_881_453, 491_939)
    verdict = Verdict(0, "", "", None, None, 0, parts.total)
    network = NetworkOutcome("network_rel", (verdict,), {1: parts})
    whole = Outcome("stm32n6570-dk", 800_000_000, "cycles", (network,), (), {})
    table = st_table(whole)
    assert table[-3:] == ST_README
    assert table[-4] == ST_README[-1]
    assert table[2] == "  epoch 1               12.963                   [ 1,997,228  7,881,453    491,939 ]"
    assert "instructions, and the times assume one per cycle" in st_table(replace(whole, counts="instructions"))[-1]
    assert st_table(replace(whole, networks=())) == []


SCORES = replace(ARTIFACTS, outputs=(IoBuffer("out", 0x34200000, 8, "int8", (1, 8), 0.5, 0),), epochs=(), blocks=())
# The values of eight classes for each input: the sixth class comes first, and the first one sixth.
RANKED = """n6 run 0 begin
n6 run 0 output 0 0001020304070605
n6 run 0 cycles=10
n6 run 1 begin
n6 run 1 output 0 0301020004070605
n6 run 1 cycles=10
n6 done runs=2
""".splitlines()


def measured(*labels: str) -> NetworkOutcome:
    classes = tuple("abcdefgh")
    model = RunModel("od", Path("inputs.npy"), None, labels, classes, is_measured=True)
    return outcome_of(model, SCORES, list(read_console(RANKED).inferences.values()), (), labels)


def test_the_accuracy_on_a_board() -> None:
    network = measured("f", "a")
    assert [verdict.rank for verdict in network.verdicts] == [0, 4]
    assert measured_shares(network) == {"top-1": 50.0, "top-5": 100.0}
    assert measured_shares(measured("d", "d")) == {"top-1": 0.0, "top-5": 50.0}
    whole = Outcome("nucleo-n657", 600_000_000, "instructions", (network,), (), {})
    assert '<testcase classname="od" name="accuracy on the board" time="0.000">' in run_junit(whole).decode()
    assert "top-1 50.0 %, top-5 100.0 %" in run_junit(whole).decode()
    assert "od has top-1 50.0 %, top-5 100.0 % on the board: 1 of 2 inputs with a label" in result_lines([network])


def test_the_mean_iou_on_a_board() -> None:
    network = replace(measured(), is_measured=False, mean_iou=71.25)
    assert "od has mean IoU 71.2 % on the board: 2 inputs" in result_lines([network])
    assert not measured_shares(replace(network, mean_iou=None))
