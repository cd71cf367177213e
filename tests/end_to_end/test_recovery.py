"""Target recover on the virtual board, from a board that has only its FSBL."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.describe.hardware.boards import load_board
from trust.host_verifier import key_file

from end_to_end.conftest import EQUAL, Project

BOARD = load_board("nucleo-n657")


def erase_behind_fsbl(nor: Path) -> None:
    content = nor.read_bytes()
    kept = BOARD.slots.fsbl.size
    nor.write_bytes(content[:kept] + b"\xff" * (len(content) - kept))


@pytest.mark.parametrize(
    "more",
    [
        (),
        pytest.param(("loader=reloc", "slots=2", "trial=on"), marks=pytest.mark.slow),
        pytest.param(("loader=reloc", "slots=2", "trial=on", "trust=full"), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_a_board_that_lost_everything_is_recovered_and_runs(more: tuple[str, ...], project: Project) -> None:
    options = ["recovery=on", "probe=virtual", "model=keyword", *more]
    options += [f"trust_key={key_file(project.home)}"] if "trust=full" in more else []
    project.done(*options, "flash")
    erase_behind_fsbl(project.root / "build/virtual_board/nucleo-n657/nor.bin")
    result = project.done(*options, "recover", "run")
    assert "written and compared" in result.output
    assert EQUAL in result.output, result.output
    again = project.done(*options, "recover")
    if "trial=on" not in more:
        assert "already holds this release" in again.output
    # An Appli that runs has confirmed itself in the journal, which a recovery empties again.
    assert "n6 fsbl appli bytes=" in again.output
