"""Verification at a start stays within the cost that docs/security.md promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from trust_build import cost


# In every run: test_trust_boot.py (verification works). The cost is a figure of docs/signed-images.md, which
# make bench prints, too.
@pytest.mark.slow
def test_a_signature_and_a_byte_cost_no_more_than_promised(tmp_path: Path) -> None:
    found = cost(tmp_path)
    assert 20 * 64 < found.signature <= 22_000_000
    assert 10 < found.byte <= 40
    assert 50 < found.decrypted <= 220
    assert 4096 < found.code <= 20_480
