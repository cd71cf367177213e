"""The cable is pulled at any transfer, and the next flash repairs the board."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from build_grid import free_port
from n6build.base.errors import N6Error
from patience import NET_S

from probe.real_tools import Server, openocd, probe_server, pyocd
from probe.test_programmers import BOARD, KINDS, Bench, flash, images, programmer_of

OLD, NEW = images(1), images(2)
FEW, MORE = range(3), range(3, 23)


@dataclass(frozen=True)
class Flashed:
    """A board with the old programs, and how it gets the new ones.

    Attributes:
        folder: Folder with the board's NOR and the record of its probe.
        port: TCP port of the server, which names the record.
        transfers: Number of transfers of the flash.
        nor: Content of the NOR behind it.
    """

    kind: str
    folder: Path
    port: int
    transfers: int
    nor: bytes


@contextmanager
def plugged_in(kind: str, folder: Path, port: int, dies_at: int | None = None) -> Iterator[Bench]:
    """Yield a board, with the record of the probe in the same folder."""
    tool = {"pyocd": pyocd, "openocd": openocd}[kind]()
    script = [] if dies_at is None else [sys.executable, str(Path(__file__).with_name("dying_server.py")), str(dies_at)]
    with (
        pytest.MonkeyPatch.context() as patch,
        probe_server(folder / "server", BOARD.name, "--port", str(port), script=script) as server,
    ):
        patch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield Bench(server, programmer_of(kind, server, folder))


def transfers_of(server: Server) -> int:
    return sum(int(each) for each in re.findall(r"Debugger gone, (\d+) transfers", "\n".join(server.lines)))


@pytest.fixture(scope="module", params=KINDS)
def flashed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Flashed:
    kind = request.param
    folder, port = tmp_path_factory.mktemp(kind), free_port()
    with plugged_in(kind, folder / "old", port) as at:
        flash(at, OLD)
    shutil.copytree(folder / "old", folder / "new")
    with plugged_in(kind, folder / "new", port) as at:
        assert len(flash(at, NEW).lacking) == 1
        nor = at.server.nor
    transfers = transfers_of(at.server)
    assert transfers > 1000
    return Flashed(kind, folder / "old", port, transfers, nor)


def cut(flashed: Flashed, share: float, home: Path) -> tuple[Path, N6Error]:
    """End a flash behind a share of its transfers; return the folder and the error.

    A flash polls, so that it takes fewer transfers than the one before if the computer is busy. Then it is done again, and
    ends earlier.
    """
    transfers = flashed.transfers
    while True:
        folder = home / str(transfers)
        shutil.copytree(flashed.folder, folder)
        with plugged_in(flashed.kind, folder, flashed.port, int(share * transfers)) as at:
            try:
                flash(at, NEW)
            except N6Error as error:
                assert at.server.process.wait(NET_S) < 0
                return folder, error
        assert transfers_of(at.server) < transfers
        transfers = transfers_of(at.server)


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MORE)])
def test_a_flash_that_ends_at_a_transfer_is_repaired_by_the_next(flashed: Flashed, seed: int, tmp_path: Path) -> None:
    folder, error = cut(flashed, Random(f"{flashed.kind} {seed}").random(), tmp_path)
    assert re.fullmatch(r"N6-FLASH-0\d\d", error.id)
    with plugged_in(flashed.kind, folder, flashed.port) as at:
        flash(at, NEW)
        at.programmer.verify(NEW)
        assert at.server.nor == flashed.nor
