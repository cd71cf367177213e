"""Judgement of epochs by the errors that their arithmetic may cause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from n6build.judge.compare.epoch_bound import ExpectedError, judge_epoch

CHANNELS, PIXELS = 8, 1000
ERROR = ExpectedError(expected=0.02, furthest=0.1, relative=0.0, zero_point=-128)
RANDOM = np.random.default_rng(35)
EXACT = RANDOM.uniform(-100, 100, (PIXELS, CHANNELS))
WHICH = np.broadcast_to(np.arange(CHANNELS), EXACT.shape)
WANTED = np.rint(EXACT)


def made(moved: np.ndarray | float = 0.0) -> np.ndarray:
    """Return results with the largest errors that the bound explains."""
    return np.rint(EXACT + RANDOM.uniform(-0.07, 0.07, EXACT.shape) + moved).clip(-128, 127).astype(np.int8)


def why(results: np.ndarray, error: ExpectedError = ERROR) -> str:
    return judge_epoch(results, WANTED, error, EXACT, WHICH).why


def test_results_within_the_bound_are_good() -> None:
    verdict = judge_epoch(made(), WANTED, ERROR, EXACT, WHICH)
    assert (verdict.outside, verdict.furthest, verdict.why) == (0, 0.1, "")


def test_results_of_a_moved_channel_are_further_off_than_roundings() -> None:
    moved = np.zeros(EXACT.shape)
    moved[:, 3] = 0.4
    assert "of 8000 elements are further off than its roundings explain (0.10 steps)" in why(made(moved))


def test_a_small_move_of_one_channel_shows_by_its_direction() -> None:
    """All elements are within the bound, and few of them differ."""
    moved = np.zeros(EXACT.shape)
    moved[:, 5] = 0.07
    text = why(made(moved), replace(ERROR, furthest=0.2))
    assert "elements of channel 5 differ, nearly all in one direction" in text
    # Half steps that are always rounded up explain such a move.
    assert why(made(moved), replace(ERROR, furthest=0.2, tilt=0.1)) == ""


def test_a_rounded_factor_explains_a_move_by_a_share() -> None:
    scaled = np.rint((EXACT + 128) * 1.001 - 128)
    assert why(scaled, replace(ERROR, expected=0.1, furthest=0.0))
    assert why(scaled, replace(ERROR, expected=0.1, furthest=0.0, relative=0.001)) == ""


def test_more_different_elements_than_expected_are_wrong() -> None:
    error = replace(ERROR, expected=0.005, furthest=0.5)
    text = why(np.rint(EXACT + RANDOM.uniform(-0.4, 0.4, EXACT.shape)), error)
    assert "% of its elements differ where its roundings explain 1.05 %" in text


def test_equal_numbers_count_once() -> None:
    """A black border is the same number everywhere.

    Near a half step all of it differs.
    """
    exact = EXACT.copy()
    exact[:500, 2] = 7.48
    results = np.rint(exact)
    results[:500, 2] = 8
    assert judge_epoch(results, np.rint(exact), ERROR, exact, WHICH).why == ""


def test_without_the_unrounded_number_whole_steps_are_compared() -> None:
    results = WANTED.copy()
    results.flat[:100] += 1
    assert judge_epoch(results, WANTED, ERROR).why == ""
    results.flat[:100] += 1
    assert judge_epoch(results, WANTED, ERROR).outside == 100
    assert judge_epoch(WANTED, WANTED, replace(ERROR, expected=0, furthest=0)).why == ""


def test_one_wrong_element_of_a_small_tensor_is_found() -> None:
    exact = EXACT[0]
    results = np.rint(exact)
    results[4] += 1
    assert judge_epoch(results, np.rint(exact), ERROR, exact, np.arange(CHANNELS)).outside == 1


def test_a_result_equal_to_the_reference_is_good_whatever_the_unrounded_number_is() -> None:
    """An epoch may copy a tensor that the reference has rounded already."""
    wanted = np.arange(100)
    exact = wanted + 0.6
    error = ExpectedError(0.0, 0.0, 0.0, 0)
    assert judge_epoch(wanted, wanted, error, exact).why == ""
    assert judge_epoch(wanted - 1, wanted, error, exact).outside == 100
