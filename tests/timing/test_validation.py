"""Errors of the model for measurements that were not used for the fit.

The parameters are those of a fit.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import fit_timing
import numpy as np
import pytest
from fit_timing import DATA_SHEET, HeldOut, Work, epoch_work, expected, families, held_out, unfitted, validations
from n6build.judge.timing.classes import class_span
from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.facts import read_measurements
from n6build.judge.timing.model import MODEL, EpochModel, Span, npu_time, read_model
from timing_classes import checked, class_networks, fit_costs

FACTS = read_measurements()
FIGURES = validations(FACTS)
DOCS = Path(__file__).parents[2] / "docs" / "time.md"


def test_networks_whose_family_was_left_out_are_within_the_goal() -> None:
    held = FIGURES["networks, a family left out"]
    assert held.median < 0.08
    assert held.nine_of_ten < 0.15


def test_networks_are_nearer_than_by_a_data_sheet() -> None:
    sheet = FIGURES["networks, by the data sheet"]
    assert sheet.median > 0.4
    assert FIGURES["networks, a family left out"].median < sheet.median / 5


def test_most_networks_are_in_a_range_that_knows_nothing_of_their_family() -> None:
    """The goals are 8 of 10 networks, and a median error of 10 %."""
    found = checked(FACTS)
    inside = sum(each.inside for each in found)
    assert inside >= 0.8 * len(found)
    assert FIGURES["networks by classes, a family left out"].median < 0.10
    assert FIGURES["networks by classes, those with other operators"].median < 0.10
    text = " ".join(DOCS.read_text().split())
    assert f"{inside} of {len(found)} networks of {len({each.family for each in found})} families" in text
    for family in {each.family for each in found if not each.inside}:
        assert re.search(rf"outside: .*{family}", text, re.IGNORECASE)


def test_a_family_that_is_left_out_does_not_change_its_own_expectation() -> None:
    """Its times grow tenfold, its expected times and ranges stay."""
    slow = tuple(replace(row, ms=10 * row.ms) if row.family == "movenet" else row for row in FACTS.networks)
    now, then = ({each.id: each for each in checked(facts)} for facts in (FACTS, replace(FACTS, networks=slow)))
    for id, each in now.items():
        if each.family == "movenet":
            assert (then[id].ms, then[id].low, then[id].high) == pytest.approx((each.ms, each.low, each.high))
            assert not then[id].inside


def test_the_library_computes_the_ranges_of_the_fit() -> None:
    """Its network is checked by the model of all families."""
    row = next(each for each in FACTS.networks if each.id == "A27")
    assert row.work is not None
    at = Conditions("dk", 800_000_000, 1_000_000_000, 200_000_000)
    found = class_span(row.work, (row.weights_kib or 0) * 1024, read_model().classes, at)
    networks = class_networks(FACTS)
    layers, others = networks.parts(fit_costs(networks, np.ones(len(networks.ids), dtype=bool)))
    index = networks.ids.index("A27")
    assert found.value == pytest.approx(layers[index] + others[index], rel=0.01)
    assert found.low < row.ms < found.high


def test_half_of_the_epochs_tell_the_other_half() -> None:
    """The goal of 12 % for nine of ten is missed by less than a percent.

    docs/time.md reports this.
    """
    held = FIGURES["epochs, half against half, ten random halvings"]
    assert held.median < 0.05
    assert held.nine_of_ten < 0.13


def test_a_goal_that_is_missed_is_said_to_be_missed() -> None:
    missed = FIGURES["epochs, half against half, ten random halvings"].nine_of_ten > 0.12
    assert ("is not met" in DOCS.read_text()) == missed


def test_the_documentation_has_the_figures_that_the_command_prints() -> None:
    text = DOCS.read_text()
    for name, held in FIGURES.items():
        row = re.search(rf"^\| {re.escape(name)} \| ([\d.]+) % \| ([\d.]+) % \| (\d+) \|$", text, re.MULTILINE)
        assert row, name
        assert float(row[1]) == pytest.approx(100 * held.median, abs=0.1)
        assert float(row[2]) == pytest.approx(100 * held.nine_of_ten, abs=0.1)
        assert int(row[3]) == len(held.ratios)


def test_the_parameters_are_what_a_fit_makes() -> None:
    """The difference is at most that of another order of additions."""
    number = re.compile(r"(?<=: )[\d.]+")
    made = fit_timing.model_text(FACTS, FIGURES)
    written = MODEL.read_text()
    assert number.sub("", made) == number.sub("", written)
    pairs = zip(number.findall(made), number.findall(written), strict=True)
    assert all(float(a) == pytest.approx(float(b), rel=0.02) for a, b in pairs)


def test_what_is_left_out_was_not_fitted_to() -> None:
    """A family that is made ten times as slow is missed by about that factor."""
    work = epoch_work(FACTS)
    odd = work.groups[0]
    slow = np.array([10.0 if group == odd else 1.0 for group in work.groups])
    changed = Work(**{**vars(work), "measured": work.measured * slow})
    held = held_out(changed, families(changed), lambda _: (1.0, 110.0, 1.0, 0.0, 6000.0))
    assert max(held.ratios) > 8


def test_figures_are_of_expected_over_measured() -> None:
    held = HeldOut(np.array([2.0, 1.0, 0.5]), ("a", "b", "c"), (), ())
    assert held.median == 0.5
    assert held.nine_of_ten == pytest.approx(0.9)


def test_the_library_computes_what_was_fitted() -> None:
    work = epoch_work(FACTS)
    parameters = (0.9, 100.0, 0.95, 0.25, 7000.0)
    whole = expected(work, parameters)
    model = EpochModel(*(Span(each, each, each) for each in parameters))
    for index in range(0, len(work), 7):
        ghz, rate = work.ghz[index], work.rate[index]
        at = Conditions("c", 800_000_000, round(ghz * 1e9), round(rate / 2 * 1e9))
        found = npu_time(model, work.elements[index], work.macs[index], work.flash[index], at)
        assert found.ns == pytest.approx(whole[index])


def test_errors_are_as_wide_as_what_was_left_out() -> None:
    ratios = FIGURES["networks, a family left out"].ratios
    span = read_model().errors.network
    inside = np.mean((ratios >= span.low) & (ratios <= span.high))
    assert 0.85 < inside < 1


def test_a_data_sheet_is_always_too_fast() -> None:
    assert min(unfitted(epoch_work(FACTS), DATA_SHEET).ratios) > 1
