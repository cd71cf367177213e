"""Small models of popular families have the reference's bits in every tensor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from model_families import FAMILIES
from slow_rows import slow_rows

from network.equality import assert_exact
from network.host_network import Build, extflash, noextmem


@pytest.mark.parametrize("profile", [extflash, *slow_rows(noextmem)])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_of_this_family(host_network: Build, family: str, profile: Callable[[], object]) -> None:
    model = FAMILIES[family]()
    assert_exact(host_network(model, profile()), model, range(3))
