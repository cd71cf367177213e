"""The record of target ladder: the first failing rung and its meaning.

A field report contains a part of it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.board.run.compare import ComparedOutput, Verdict
from n6build.board.run.ladder import NETWORKS, START, VERSIONS, epoch_counts, first_failed, ladder_lines, results_of
from n6build.board.run.session import NetworkOutcome
from n6build.describe.choices import Choices
from n6build.engine.closure import library_code
from n6build.engine.ledger import read_ledger
from n6build.engine.perform import Site
from n6build.judge.own_blobs.board_record import Ladder, RungEpoch, read_epochs, read_ladder
from n6build.steps.goal_checks import check_ladder
from n6build.steps.job import rungs
from n6build.steps.planning import planned
from n6build.steps.run_field_report import ladder_of

EPOCHS = [[RungEpoch("sum", "seen"), RungEpoch("+128", "smaller")] for _ in NETWORKS]


def outcome(place: int, different: int = 0, *, passes: bool | None = None) -> NetworkOutcome:
    equal = different == 0
    verdict = Verdict(0, "", "", None, equal, different, 100, equal if passes is None else passes)
    return NetworkOutcome(NETWORKS[place].name, (verdict,), {})


def ladder(climbed: list[NetworkOutcome], error: str = "", *, served: bool = True, virtual: bool = False) -> Ladder:
    rungs = results_of(climbed, EPOCHS, N6Error(error, "why") if error else None, served=served)
    return Ladder("0.5", "nucleo-n657", virtual, "" if virtual else "abc", rungs, error, "why")


def results(of: Ladder) -> dict[str, str]:
    return {each.name: each.result for each in of.rungs}


def test_a_board_that_climbs_all_rungs() -> None:
    last = len(NETWORKS) - 1
    whole = ladder([*(outcome(place) for place in range(last)), outcome(last, 7, passes=True)])
    assert first_failed(whole) is None
    assert list(results(whole).values()) == ["equal"] * (2 + last) + ["near"]
    # A near result confirms nothing.
    assert epoch_counts(whole) == (f"seen: {last} confirmed, 1 near", f"smaller: {last} confirmed, 1 near")


def test_a_rung_with_other_bytes_is_the_last_that_is_run() -> None:
    found = ladder([outcome(0), outcome(1, 3)], "N6-RUN-005")
    assert first_failed(found) == NETWORKS[1]
    assert list(results(found).values())[:5] == ["equal", "equal", "equal", "differs", "not reached"]
    assert found.rungs[3].different_bytes == 3
    text = "\n".join(ladder_lines(found))
    assert f"It ended with N6-RUN-005: {NETWORKS[1].tells}." in text
    assert f"| {NETWORKS[1].name} | **differs** | 3 | sum (seen); +128 (smaller) |" in text


def test_a_board_that_stops_in_a_rung_has_climbed_those_before() -> None:
    found = ladder([outcome(0)], "N6-FW-064")
    assert first_failed(found) == NETWORKS[1]
    assert list(results(found).values())[:5] == ["equal", "equal", "equal", "stopped", "not reached"]


@pytest.mark.parametrize(
    ("error", "result"),
    [
        ("N6-FW-063", "stopped"),
        ("N6-FW-064", "stopped"),
        ("N6-LINK-001", "stopped"),
        ("N6-LINK-005", "stopped"),
        ("N6-LADDER-004", "stopped"),
        # The cable was pulled, which is no result of an epoch.
        ("N6-LINK-009", "not reached"),
    ],
)
def test_epochs_are_to_blame_for_a_stop_that_a_blob_may_cause(error: str, result: str) -> None:
    found = ladder([outcome(0)], error)
    assert found.rungs[3].result == "stopped"
    assert {each.result for each in found.rungs[3].epochs} == {result}
    assert {each.result for each in found.rungs[2].epochs} == {"equal"}


def test_outputs_tell_which_epoch_is_the_first_that_differs() -> None:
    nodes = ("Input_unsigned", "Conv2D_0_part_1", "Conv2D_0", "Conv2D_1_part_1", "Conv2D_1", "Conv2D_2")
    epochs = [tuple(RungEpoch("any", "seen", node, node) for node in nodes)]
    outputs = [ComparedOutput(f"Conv2D_{place}_out_0", "int8", 9, 9 - place, 9, place, 1.0, None) for place in range(3)]
    verdict = replace(outcome(0, 3).verdicts[0], outputs=tuple(outputs))
    differs = replace(outcome(0, 3), verdicts=(verdict,))
    (rung,) = (
        each
        for each in results_of([differs], [*epochs, *EPOCHS[1:]], N6Error("N6-RUN-005", "why"), served=True)
        if each.result == "differs"
    )
    # If Conv2D_0 is right, its inputs are right, too. The epochs after Conv2D_1 have read wrong numbers.
    assert [each.result for each in rung.epochs] == ["equal"] * 3 + ["differs"] * 2 + ["not reached"]
    # If the only output is wrong, the epochs before it have no known result.
    assert {each.result for each in ladder([outcome(0, 3)], "N6-RUN-005").rungs[2].epochs} == {"differs"}


@pytest.mark.parametrize("error", ["N6-FW-060", "N6-FW-061"])
def test_an_npu_of_another_kind_stops_before_the_first_network(error: str) -> None:
    found = ladder([], error)
    assert first_failed(found) == VERSIONS
    assert list(results(found).values())[:3] == ["equal", "stopped", "not reached"]


def test_a_first_network_that_does_not_end_is_not_a_matter_of_versions() -> None:
    found = ladder([], "N6-FW-064")
    assert first_failed(found) == NETWORKS[0]
    assert list(results(found).values())[:3] == ["equal", "equal", "stopped"]


def test_a_board_that_says_nothing_tells_nothing_of_the_npu() -> None:
    found = ladder([], "N6-LINK-001", served=False)
    assert first_failed(found) == START
    assert set(results(found).values()) == {"stopped", "not reached"}


def test_a_record_is_read_again_and_anything_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ladder.json"
    assert read_ladder(file) is None
    written = ladder([outcome(0)], "N6-FW-063")
    file.write_text(to_json(asdict(written)))
    assert read_ladder(file) == written
    file.write_text("{}")
    with pytest.raises(N6Error, match="error N6-LADDER-002: "):
        read_ladder(file)


def test_grades_come_from_what_the_backend_wrote(tmp_path: Path) -> None:
    figures = tmp_path / "network_npu.json"
    figures.write_text('{"epochs": [{"epoch": 3, "kind": "sum", "grade": "seen", "form": "f0", "node": "Add_0"}]}')
    assert read_epochs(figures) == {3: RungEpoch("sum", "seen", "f0", "Add_0")}
    figures.write_text('{"epochs": [{"kind": "sum"}]}')
    with pytest.raises(N6Error, match="error N6-LADDER-002: "):
        read_epochs(figures)


def test_a_field_report_takes_the_record_of_its_own_board_alone(tmp_path: Path) -> None:
    file = tmp_path / "ladder.json"
    written = ladder([outcome(0)], "N6-FW-063")
    file.write_text(to_json(asdict(written)))
    assert ladder_of(file, "nucleo-n657", "abc", is_virtual=False) == written
    assert ladder_of(file, "nucleo-n657", "abd", is_virtual=False) is None
    assert ladder_of(file, "nucleo-n657", "", is_virtual=True) is None
    assert ladder_of(file, "stm32n6570-dk", "abc", is_virtual=False) is None
    file.write_text("no record")
    assert ladder_of(file, "nucleo-n657", "abc", is_virtual=False) is None


def test_the_networks_are_those_of_the_rungs() -> None:
    assert [model.name for model in rungs()] == [rung.name for rung in NETWORKS]


@pytest.mark.parametrize(
    ("choices", "goals"),
    [
        (Choices(), ()),
        (Choices(backend="neural_art"), ("run",)),
        (Choices(backend="neural_art", loader="reloc"), ()),
        (Choices(backend="neural_art", appli="mine.elf"), ()),
        (Choices(backend="neural_art", runs=3), ()),
        (Choices(backend="neural_art", dry=True), ("flash",)),
        (Choices(backend="neural_art", trace="npu"), ()),
        (Choices(backend="neural_art", modes=("no-flash",)), ()),
    ],
)
def test_what_does_not_go_with_the_ladder_is_refused(choices: Choices, goals: tuple[str, ...]) -> None:
    with pytest.raises(N6Error, match="error N6-LADDER-003: "):
        check_ladder(choices, ("ladder", *goals))


def test_what_does_not_go_with_the_ladder_is_told_before_a_programmer_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    site = Site(tmp_path, tmp_path / "build", library_code(), read_ledger(tmp_path), {})
    right = Choices(backend="neural_art")
    for choices, error in ((replace(right, loader="reloc"), "N6-LADDER-003"), (right, "N6-FLASH-010")):
        with pytest.raises(N6Error, match=error):
            planned(choices, ("ladder",), site)


def test_the_ladder_goes_with_a_board_and_a_probe() -> None:
    check_ladder(Choices(backend="neural_art", board="stm32n6570-dk", probe="virtual"), ("ladder", "flash"))
