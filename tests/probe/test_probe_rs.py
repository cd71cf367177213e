"""This project's programmer for probe-rs, with a replay of probe-rs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from flash.test_programmers import flash
from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import PROGRAMMERS
from n6build.board.flash.sectors import Sector, sectors_of
from n6build.board.probe.board import ProbedBoard
from n6build.describe.hardware.boards import board_names, load_board

from probe.boards import switched_on
from probe.debugger import Debugger
from probe.probe_rs import ProbeRs
from probe.test_programmers import ram_program, seen

RESULT = 0x3400_8000
# Far above the time of a transfer, and below the 500 ms that probe-rs waits.
OPENS_US = 100_000


@dataclass(frozen=True)
class Bench:
    """A virtual board with probe-rs, and this project's programmer."""

    folder: Path
    on: ProbedBoard
    probe_rs: ProbeRs
    programmer: ProbeProgrammer


@contextmanager
def bench(folder: Path, name: str = "nucleo-n657", *, development: bool = True) -> Iterator[Bench]:
    """Switch a board on at probe-rs."""
    found = load_board(name)
    board = replace(found, nor=replace(found.nor, sector=4096))
    with (
        switched_on(folder, board, development=development, opens_us=OPENS_US) as on,
        pytest.MonkeyPatch.context() as patch,
    ):
        probe_rs = ProbeRs(on.port)
        for module in ("probe_programmer", "programmers.probe_rs"):
            patch.setattr(f"n6build.board.flash.{module}.run_command", probe_rs.run)
        kind = PROGRAMMERS["probe-rs"]
        yield Bench(folder, on, probe_rs, ProbeProgrammer(kind, Path("probe-rs"), "0041", board, folder / "record"))


def images(at: Bench, version: int) -> list[Sector]:
    base = at.programmer.board.nor.base
    parts = {base + 0x0010_0000: Random(version).randbytes(5000), base + 0x0020_0000: Random(0).randbytes(3000)}
    return sectors_of(list(parts.items()), 4096)


@pytest.mark.parametrize(
    "name",
    [
        "nucleo-n657",
        # The first one proves the same.
        *(pytest.param(name, marks=pytest.mark.slow) for name in board_names() if name != "nucleo-n657"),
    ],
)
def test_the_exported_chip_programs_each_board_and_then_only_the_difference(name: str, tmp_path: Path) -> None:
    with bench(tmp_path, name) as at:
        assert at.programmer.nor_id() == at.programmer.board.nor.jedec_id
        assert len(flash(at.programmer, images(at, 1)).lacking) == 3
        assert flash(at.programmer, images(at, 1)).lacking == ()
        assert len(flash(at.programmer, images(at, 2)).lacking) == 2
        assert min(at.probe_rs.polls) > 1, "AP1 was closed behind each reset"
        at.programmer.verify(images(at, 2))
        (read,) = at.programmer.read([Span(at.programmer.board.nor.base + 0x0010_0000, 5000)])
        assert read == Random(2).randbytes(5000)
        with pytest.raises(N6Error, match="N6-FLASH-004"):
            at.programmer.verify(images(at, 3))
    nor = (tmp_path / "nor.bin").read_bytes()
    for sector in images(at, 2):
        assert nor[sector.address - at.programmer.board.nor.base :][: sector.size] == sector.data


def test_a_program_starts_in_ram_and_a_reset_ends_it(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        code = f"ldr r0, ={RESULT:#x}\nldr r1, =0x600dcafe\nstr r1, [r0]\nb ."
        at.programmer.start(ram_program(tmp_path, code))
        assert seen(Debugger(at.on.port), RESULT, 0x600D_CAFE) == 0x600D_CAFE
        at.programmer.reset()
        debugger = Debugger(at.on.port)
        debugger.halt()
        assert debugger.register(15) == at.programmer.board.soc.boot.development_loop
