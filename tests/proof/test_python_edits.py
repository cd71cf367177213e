"""An edit of the library makes again what it changes, and the result is that of a build from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.conftest import Builds, differences
from proof.python_edits import EDITS, Edit


def named(edit: Edit) -> str:
    return f"{edit.file}: {edit.new.splitlines()[0][:40]}"


@pytest.mark.parametrize("edit", EDITS, ids=named)
def test_an_edit_comes_to_what_a_clean_build_makes(edit: Edit, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy(edit.kind, tmp_path)
    before = build.made()
    build.project.replace(f"site_scons/n6build/{edit.file}", edit.old, edit.new)
    build.built(*edit.arguments)
    after = build.made()
    assert after[edit.differs] != before[edit.differs], f"{edit.differs} is as it was before the edit"
    clean = build.made_from_nothing(*edit.arguments)
    assert edit.differs in clean
    # What was not asked for is not there after a clean build.
    asked = after if not edit.arguments else {name: after.get(name, "") for name in clean}
    assert differences(asked, clean) == []
    assert build.built(*edit.arguments) == []
    assert build.made() == after
