"""Findings before the checks have the same form and waivers as the checks."""

from __future__ import annotations

import pytest
from n6build.base.errors import N6Error
from n6build.base.findings import Finding, refusal, refuse

FINDING = Finding("keyword: the model", "computes in float", "quantise it")


def test_a_finding_becomes_an_error_that_says_how_to_accept_it() -> None:
    assert str(refusal("N6-CHECK-016", FINDING)) == (
        "keyword: the model: error N6-CHECK-016: computes in float\n"
        "  hint: quantise it; or accept it with a reason: checks.waive.N6-CHECK-016 in model.yaml"
    )
    assert refusal("N6-CHECK-016", FINDING, 2).what == "computes in float (and 2 more)"


def test_only_what_is_found_and_not_waived_is_refused() -> None:
    refuse("N6-CHECK-016", None, ())
    refuse("N6-CHECK-016", FINDING, {"N6-CHECK-016": "it is a test"})
    with pytest.raises(N6Error, match="N6-CHECK-016"):
        refuse("N6-CHECK-016", FINDING, {"N6-CHECK-018": "another one"})
