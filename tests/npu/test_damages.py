"""Random damages of constants of real networks are named with the right epoch."""

from __future__ import annotations

import pytest
from benchmarks.damages import NETWORKS, damages
from samples import sample

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("network", "buffers"), [("reid", 52), ("pose", 72)])
def test_good_networks_have_no_alarm_and_damages_no_false_epoch(network: str, buffers: int) -> None:
    """The first figures were 19 of 27 for ReID, and 19 of 25 for MoveNet."""
    for file in NETWORKS[network]:
        sample(file)
    _, row = damages(count=12, runs=1, networks=network)
    _, compared, alarms, count, named, silent, _, others = row
    assert (int(compared), int(alarms), int(others)) == (buffers, 0, 0)
    assert int(named) >= 0.5 * (int(count) - int(silent))
