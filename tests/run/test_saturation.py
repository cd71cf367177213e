"""Values that the NPU lost by saturation, in a run and in a run by epochs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from n6build.base.errors import N6Error
from n6build.board.run.epoch_test import FedEpoch
from n6build.board.run.epoch_test_run import FedOutcome
from n6build.board.run.epoch_test_table import fed_junit, print_fed, raise_if_outside
from n6build.board.run.npu_epochs import HardwareEpoch
from n6build.board.run.saturation import losing_units, saturated_units, saturation_lines, saturation_text
from n6build.board.virtual_board.npu_record import SaturatedChannel, Saturation, UnitWork
from n6build.describe.model import EpochTolerance
from n6build.judge.npu.contradiction import Contradiction

LOST = Saturation(
    2, 0, 150, 141, 0, 2, (SaturatedChannel(47, 0, 141, 141, 0, 0, 40086), SaturatedChannel(3, 0, 9, 0, 0, 0, 33000))
)
CLIPPED = Saturation(1, 500, 20, 0, 0, 1, (SaturatedChannel(5, 500, 20, 0, 0, -300, 140),))
OPEN = Saturation(2, 12, 0, 0, 12, 1, (SaturatedChannel(1, 12, 0, 0, 12, -70000, 0),))
EPOCHS = (
    HardwareEpoch(4, "Conv", (UnitWork("ARITH3", saturation=OPEN), UnitWork("POOL0"))),
    HardwareEpoch(
        12, "Conv Mul", (UnitWork("ARITH3", saturation=LOST), UnitWork("ARITH0", saturation=CLIPPED)), "Conv2D_48"
    ),
)


def test_a_network_that_lost_nothing_has_no_lines() -> None:
    assert (
        saturation_lines(saturated_units((HardwareEpoch(12, "Conv", (UnitWork("ARITH0", saturation=CLIPPED),)),))) == []
    )


def test_the_table_has_layer_unit_channel_and_how_far() -> None:
    lines = saturation_lines(saturated_units(EPOCHS))
    assert lines[2].split() == ["12", "Conv2D_48", "ARITH3", "47", "16", "141", "40,086", "32,767"]
    text = " ".join(lines)
    assert "141 values of 1 channel in 1 epoch saturated, and the outputs of these epochs show it" in text
    assert "calibrate with representative data" in text
    assert lines[-1].startswith(
        "  12 values saturated in results of more than 8 bits that a later epoch reads (epoch 4)"
    )


def test_only_the_worst_channels_are_shown() -> None:
    channels = tuple(SaturatedChannel(place, 1, 0, 1 + place, 0, -40000 - place, 0) for place in range(30))
    many = HardwareEpoch(7, "Conv", (UnitWork("CONVACC1", saturation=replace(LOST, channels=channels)),))
    lines = saturation_lines(saturated_units((many,)))
    assert lines[2].split() == ["7", "Conv", "CONVACC1", "29", "16", "30", "-40,029", "-32,768"]
    assert lines[12].strip() == "and 20 more channels; run.json and the report have all"


def test_the_worst_channel_of_a_unit_in_words() -> None:
    (unit,) = losing_units(EPOCHS)
    assert saturation_text(unit) == "ARITH3 loses 141 values of channel 47, up to 40,086 in 16 bits (32,767)"


def fed(*, reads_from: int | None = None, epoch: int = 12) -> FedOutcome:
    wrong = FedEpoch(epoch, "Conv", "Conv2D_48_out", "t", 1000, 800, 900, 152, False, reads_from)
    return FedOutcome("person", "person.tflite", EpochTolerance(), (wrong,), (), saturated_units(EPOCHS))


@pytest.mark.parametrize(
    ("outcome", "hint"),
    [
        (fed(), "ARITH3 loses 141 values of channel 47, up to 40,086 in 16 bits (32,767): calibrate with"),
        (fed(epoch=4), "check its weights, its quantisation"),
        (fed(reads_from=4), "check epoch 4, too"),
    ],
)
def test_a_wrong_epoch_that_saturates_is_explained(outcome: FedOutcome, hint: str) -> None:
    with pytest.raises(N6Error) as raised:
        raise_if_outside([outcome], ())
    assert raised.value.id == "N6-RUN-011"
    assert hint in (raised.value.hint or "")


def test_constants_that_contradict_the_model_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = replace(fed(), contradictions=(Contradiction(4, "1 kernel value is not"), Contradiction(9, "the factor")))
    with pytest.raises(N6Error) as raised:
        raise_if_outside([outcome], ())
    assert raised.value.id == "N6-RUN-014"
    assert "2 epochs have constants that do not follow from person.tflite, epoch 4 first: 1 kernel" in raised.value.what
    print_fed(outcome)
    assert "   9  not from the model: the factor" in capsys.readouterr().out
    assert b'name="epoch 9 constants"' in fed_junit("board", [outcome], ())


def test_a_run_by_epochs_prints_the_channels(capsys: pytest.CaptureFixture[str]) -> None:
    print_fed(fed())
    assert "ARITH3         47    16         141        40,086     32,767" in capsys.readouterr().out
