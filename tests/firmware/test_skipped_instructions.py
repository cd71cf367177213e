"""A verifying FSBL without one of its instructions starts no wrong Appli."""

from __future__ import annotations

import pytest
from glitched_boots import WRONG, Fsbl, verifying_fsbl


@pytest.fixture(scope="module")
def fsbl(tmp_path_factory: pytest.TempPathFactory) -> Fsbl:
    return verifying_fsbl(tmp_path_factory.mktemp("skipped"))


# tools/bench.py glitches skips every instruction.
@pytest.mark.parametrize(
    ("stride", "arithmetic"), [(149, 5000), pytest.param(20, 200, marks=pytest.mark.slow)], ids=["few", "more"]
)
def test_no_skipped_instruction_starts_a_wrong_appli(fsbl: Fsbl, stride: int, arithmetic: int) -> None:
    tries = list(fsbl.tries(stride, arithmetic))
    assert {each.wrong for each in tries} == set(WRONG)
    assert [each for each in tries if each.end == "started"] == []
    # Most instructions decide nothing, or are not executed with this Appli.
    assert sum(each.end == "refused" for each in tries) > len(tries) / 2


def test_a_start_is_seen(fsbl: Fsbl) -> None:
    assert fsbl.end_of_good() == "started"
    assert {wrong: fsbl.end_of(wrong, None) for wrong in WRONG} == dict.fromkeys(WRONG, "refused")
