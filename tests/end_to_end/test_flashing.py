"""Dry runs, flashing and repairs, in real scons on the virtual board."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from n6build.board.virtual_board.provision import blows_of, changes_of, write_fuses
from n6build.describe.hardware.boards import load_board
from n6build.place.image.rom_keys import read_rom_keys
from signing_stand_in import stand_in
from trust.rom_signer import private_key, rom_keys

from end_to_end.conftest import Project

ARGUMENTS = ("model=keyword", "probe=virtual")


@pytest.mark.slow
def test_a_dry_run_prints_the_plan_and_touches_nothing(project: Project) -> None:
    first = project.done(*ARGUMENTS, "flash", "dry=1")
    assert "Would flash 0x70000000..0x70010000, 1 sector, 64.0 KiB" in first.output
    assert "Would flash 4 of 4 sectors, 256.0 KiB, about 0 s" in first.output
    assert not (project.root / "build/virtual_board/nucleo-n657/nor.bin").exists()
    assert project.scons(*ARGUMENTS, "flash").flashed == "4 of 4 sectors programmed and verified (256.0 KiB)"
    project.replace("firmware/appli/main.c", "rejects its", "REJECTS its")
    again = project.scons(*ARGUMENTS, "flash", "dry=1")
    assert "Would flash 0x70100000..0x70110000, 1 sector, 64.0 KiB" in again.output
    assert "Would flash 1 of 4 sectors, 64.0 KiB" in again.output
    assert project.scons(*ARGUMENTS, "flash").flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"
    # A dry run keeps the receipt, so nothing is programmed after it.
    assert "Would flash 0 of 4 sectors" in project.scons(*ARGUMENTS, "flash", "dry=1").output
    assert project.scons(*ARGUMENTS, "flash").actions == []
    assert "N6-OPTION-006" in project.scons(*ARGUMENTS, "flash", "run", "dry=1").output


@pytest.mark.slow
@pytest.mark.built(*ARGUMENTS, "flash")
def test_flash_all_programs_what_the_board_is_believed_to_hold(project: Project) -> None:
    assert project.scons(*ARGUMENTS, "flash").actions == []
    assert project.scons(*ARGUMENTS, "flash-all").flashed == "4 of 4 sectors programmed and verified (256.0 KiB)"
    assert project.scons(*ARGUMENTS, "flash").flashed == "already up to date"


# In every run: test_boot.py (a damaged weight), tests/flash/test_verify.py, test_change_table.py (one weight).
@pytest.mark.slow
def test_one_wrong_byte_of_weights_is_found_named_and_repaired(project: Project) -> None:
    assert "Verified nucleo-n657 (virtual), 4 sectors, " in project.done(*ARGUMENTS, "flash", "verify").output
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"

    def damaged() -> bytes:
        with nor.open("r+b") as file:
            file.seek(0x100_0123)
            byte = file.read(1)[0]
            file.seek(0x100_0123)
            file.write(bytes([byte ^ 4]))
        return nor.read_bytes()

    # Without repair: the board reports the damage itself, verify reports the place, and neither changes a
    # byte.
    before = damaged()
    run = project.scons(*ARGUMENTS, "mode=no-flash", "run").refused()
    assert "N6-FW-023" in run.output
    assert "run scons flash to program it again" in run.output
    verify = project.scons(*ARGUMENTS, "verify").refused()
    assert "Differs 0x71000000 in slot weights: 1 byte, 0x71000123 is 0x" in verify.output
    assert "N6-FLASH-024: 1 of 4 sectors differ from the flash manifest, 1 byte, slot weights" in verify.output
    assert nor.read_bytes() == before
    assert project.scons(*ARGUMENTS, "flash").flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"
    # The repair also works without a report of the board.
    damaged()
    repaired = project.scons(*ARGUMENTS, "flash", "run")
    assert repaired.flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"
    assert "10 of 10 outputs equal" in repaired.output
    again = project.scons(*ARGUMENTS, "flash", "verify")
    assert (again.status, again.actions) == (0, ["Verify virtual-nucleo-n657-verified.json"])


@pytest.mark.slow
def test_every_build_says_how_much_of_it_is_not_on_the_board(project: Project) -> None:
    first = "To flash 4 sectors (256.0 KiB), all of it: n6build has no record of such a board"
    assert first in project.scons(*ARGUMENTS, "build").output
    assert project.scons(*ARGUMENTS, "flash").status == 0
    project.replace("firmware/appli/main.c", "rejects its", "REJECTS its")
    assert "To flash 1 sector (64.0 KiB) that differ on board virtual" in project.scons(*ARGUMENTS, "build").output
    project.replace("firmware/appli/main.c", "REJECTS its", "rejects its")
    assert "To flash nothing: board virtual is up to date" in project.scons(*ARGUMENTS, "build").output
    project.replace("firmware/appli/main.c", "rejects its", "REJECTS its")
    project.change_one_weight("keyword")
    assert "To flash 2 sectors (128.0 KiB)" in project.scons(*ARGUMENTS, "build").output


@pytest.mark.slow
@pytest.mark.built(*ARGUMENTS, "flash")
def test_edits_and_flashes_that_follow_each_other_at_once(project: Project) -> None:
    """A script makes several edits within one second, the resolution of SCons's times."""
    for number in range(4):
        project.replace("firmware/appli/main.c", "rejects its", "Rejects its")
        assert project.scons(*ARGUMENTS, "build").status == 0
        assert project.scons(*ARGUMENTS, "flash").flashed.startswith("1 of 4 sectors"), number
        project.replace("firmware/appli/main.c", "Rejects its", "rejects its")
        assert project.scons(*ARGUMENTS, "flash").flashed.startswith("1 of 4 sectors"), number


@pytest.mark.slow
def test_a_board_is_closed_in_a_rehearsal(project: Project, tmp_path: Path) -> None:
    keys, fuses = rom_keys(tmp_path / "keys"), tmp_path / "product.fuses"
    private_key(keys, 0)
    nucleo = load_board("nucleo-n657")
    blows = blows_of(nucleo, 0, (), b"", read_rom_keys(keys), closes=True)
    write_fuses(fuses, nucleo, changes_of(fuses, nucleo, blows))
    board = (*ARGUMENTS, f"fuses={fuses}")
    assert "the fuses close this chip, and the image is not signed" in project.scons(*board, "flash", "run").output
    signed = (*board, f"sign=n6build:{keys}", "fsbl_version=2", "flash", "run")
    result = project.scons(*signed)
    assert "Sign fsbl_image.bin" in result.actions
    assert "10 of 10 outputs equal" in result.output, result.output
    assert "Sign" not in project.scons(*signed).output
    older = project.scons(*board, f"sign=n6build:{keys}", "fsbl_version=1", "flash", "run")
    assert "its version is 1, but the fuses demand 2" in older.output


@pytest.mark.slow
def test_images_by_st_s_signing_tool(project: Project, tmp_path: Path) -> None:
    stand_in(tmp_path / "tools", "2.21.0")
    path = {"PATH": f"{tmp_path / 'tools'}:{os.environ['PATH']}"}
    result = project.scons(*ARGUMENTS, "sign=tool", "flash", "run", **path)
    assert "Sign fsbl_image.bin" in result.actions
    assert "10 of 10 outputs equal" in result.output, result.output
    assert project.scons(*ARGUMENTS, "sign=tool", "flash", **path).actions == []
    assert "N6-SIGN-001" in project.scons(*ARGUMENTS, "sign=tool", "flash").output
    assert "N6-SIGN-003" in project.scons(*ARGUMENTS, f"sign={tmp_path}", "flash", **path).output
