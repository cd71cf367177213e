"""Each attack of the threat model names the test that tries it, or is marked."""

from __future__ import annotations

import re

from this_tree import ROOT

PAGE = ROOT / "docs" / "threat-model.md"
UNTRIED = "**no test**"


def attacks() -> list[tuple[str, str]]:
    """Return attack and test of each row of the tables with a column 'test'."""
    found, is_of_attacks = [], False
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" |")]
        if not line.startswith("|"):
            is_of_attacks = False
        elif cells[-1] == "test":
            is_of_attacks = True
        elif is_of_attacks and set(line) != {"|", "-"}:
            found.append((cells[0], cells[-1]))
    return found


def test_every_attack_names_a_test_that_exists_or_is_marked() -> None:
    rows = attacks()
    assert len(rows) >= 25
    assert [attack for attack, test in rows if not _exists(test)] == []


def _exists(test: str) -> bool:
    if test == UNTRIED:
        return True
    found = re.fullmatch(r"`([\w/]+\.py)::(test_\w+)`", test)
    if found is None:
        return False
    path = ROOT / "tests" / found[1]
    return path.is_file() and f"\ndef {found[2]}(" in path.read_text()
