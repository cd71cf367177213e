"""Programmers of this project, through real pyOCD and OpenOCD."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from called import call, shared_caches
from n6build.base.errors import N6Error
from n6build.base.paths import ROOT
from n6build.base.span import Span
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import choose_programmer
from n6build.board.flash.program import FlashPlan, carry_out, plan_delta
from n6build.board.flash.programmer import RamProgram
from n6build.board.flash.sectors import Sector, sectors_of
from n6build.board.flash.survey import checked_identity, held_record
from n6build.board.run.first_cable import cable_steps
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from patience import wait_until

from probe.boards import assembled, nor_that_says_hello
from probe.debugger import PC, Debugger
from probe.real_tools import Server, openocd, probe_server, pyocd, remote_port

_BOARD = load_board("nucleo-n657")
# Small sectors keep OpenOCD short, which needs 0.2 ms for each word.
BOARD = replace(_BOARD, nor=replace(_BOARD.nor, sector=4096))
APPLI, WEIGHTS = BOARD.nor.base + 0x0010_0000, BOARD.nor.base + 0x0100_0000
KINDS = ("pyocd", "openocd")
RAM = 0x3418_0400
SHCSR, HARDFAULTACT = 0xE000_ED24, 1 << 2


@dataclass(frozen=True)
class Bench:
    """A server, and this project's programmer at it."""

    server: Server
    programmer: ProbeProgrammer


@contextmanager
def bench(kind: str, folder: Path, *more: str, board: str = BOARD.name) -> Iterator[Bench]:
    """Yield a board at a programmer, which is installed in PATH."""
    tool = {"pyocd": pyocd, "openocd": openocd}[kind]()
    with pytest.MonkeyPatch.context() as patch, probe_server(folder / "server", board, *more) as server:
        patch.setenv("PATH", str(tool.parent), prepend=":")
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield Bench(server, programmer_of(kind, server, folder))


def programmer_of(kind: str, server: Server, folder: Path, board: Board = BOARD) -> ProbeProgrammer:
    port = {"pyocd": server.pyocd_port, "openocd": server.openocd_port}[kind]
    found = choose_programmer(f"{kind}:tcp-{port}", board, folder)
    assert isinstance(found, ProbeProgrammer)
    return found


@pytest.fixture(scope="module", params=KINDS)
def at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(request.param, tmp_path_factory.mktemp(request.param)) as found:
        yield found


def images(version: int) -> list[Sector]:
    """Return an Appli that changes with its version, and weights that never do."""
    parts = {APPLI: Random(version).randbytes(4000), WEIGHTS: Random(0).randbytes(3000)}
    return sectors_of(list(parts.items()), BOARD.nor.sector)


def flash(at: Bench, wanted: list[Sector]) -> FlashPlan:
    identity = checked_identity(at.programmer, BOARD)
    plan = plan_delta(wanted, held_record(wanted, BOARD.name, at.programmer, identity))
    carry_out(plan, at.programmer)
    return plan


def test_doctor_walks_to_an_empty_nor(at: Bench) -> None:
    steps = [*cable_steps(f"{at.programmer.kind.name}:{at.programmer.name}", BOARD)]
    assert [step.name for step in steps] == ["programmer", "probe", "chip", "NOR id", "NOR"]
    assert steps[3].seen == "JEDEC id 0xC2803A, that of MX25UM51245G"
    assert steps[-1].seen == "erased at the place of the FSBL"


def test_an_empty_board_is_programmed_and_a_second_time_only_the_difference(at: Bench) -> None:
    assert len(flash(at, images(1)).lacking) == 2
    assert len(flash(at, images(1)).lacking) == 0
    assert [sector.address for sector in flash(at, images(2)).lacking] == [APPLI]
    nor = at.server.nor
    for sector in images(2):
        assert nor[sector.address - BOARD.nor.base :][: sector.size] == sector.data
    at.programmer.verify(images(2))
    (read,) = at.programmer.read([Span(APPLI, 4000)])
    assert read == Random(2).randbytes(4000)


def test_a_board_that_differs_is_no_success(at: Bench) -> None:
    flash(at, images(3))
    with pytest.raises(N6Error, match="N6-FLASH-004"):
        at.programmer.verify(images(4))


def ram_program(folder: Path, code: str) -> RamProgram:
    """Return a program with a vector table, whose HardFault waits for ever."""
    table = [0x341A_0000, RAM + 17, 0, RAM + 19]
    return RamProgram(RAM, b"".join(word.to_bytes(4, "little") for word in table) + assembled(folder, code, RAM + 16))


def test_a_program_starts_in_ram_as_after_a_reset_and_a_reset_ends_it(at: Bench, tmp_path: Path) -> None:
    """An active HardFault would mask all other exceptions of the next program."""
    at.programmer.start(ram_program(tmp_path, "udf #0\nb ."))
    with remote_port(at.server) as port:
        debugger = Debugger(port)
        assert seen(debugger, SHCSR, HARDFAULTACT) & HARDFAULTACT
    at.programmer.start(ram_program(tmp_path, "ldr r0, =0x34008000\nldr r1, =0x600dcafe\nstr r1, [r0]\nb ."))
    with remote_port(at.server) as port:
        debugger = Debugger(port)
        assert seen(debugger, 0x3400_8000, 0x600D_CAFE) == 0x600D_CAFE, at.server.lines[-5:]
        assert not debugger.word(SHCSR) & HARDFAULTACT
    at.programmer.reset()
    with remote_port(at.server) as port:
        debugger = Debugger(port)
        debugger.halt()
        assert debugger.register(PC) == BOARD.soc.boot.development_loop


def seen(debugger: Debugger, address: int, wanted: int) -> int:
    """Return a word that a program writes with its first instructions.

    Each look gives it some of them.
    """
    words = (debugger.word(address) for _ in range(2000))
    return next((word for word in words if word == wanted), debugger.word(address))


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_not_there_is_a_named_error(kind: str, tmp_path: Path) -> None:
    with bench(kind, tmp_path) as at:
        programmer = replace(at.programmer, name="tcp-1")
        with pytest.raises(N6Error, match="N6-FLASH-016") as caught:
            programmer.identify()
    assert caught.value.hint == "start n6build probe-server, which prints its port"


@pytest.mark.parametrize("kind", KINDS)
def test_flash_boot_keeps_a_programmer_out_but_the_reset_pin_works(kind: str, tmp_path: Path) -> None:
    nor = nor_that_says_hello(tmp_path)
    with bench(kind, tmp_path, "--boot", "flash", "--nor", str(nor)) as at:
        with pytest.raises(N6Error, match="N6-FLASH-016") as caught:
            at.programmer.identify()
        assert caught.value.hint and "boot selectors" in caught.value.hint
        wait_until(lambda: _hellos(at) == 1, at.server.process)
        at.programmer.reset()
        wait_until(lambda: _hellos(at) == 2, at.server.process)


def _hellos(at: Bench) -> int:
    return sum("hello" in line for line in at.server.lines)


@pytest.mark.parametrize("kind", KINDS)
def test_doctor_ends_at_the_nor_of_another_board(kind: str, tmp_path: Path) -> None:
    with bench(kind, tmp_path, board="stm32n6570-dk") as at:
        steps = cable_steps(f"{kind}:{at.programmer.name}", BOARD)
        with pytest.raises(N6Error, match="N6-FLASH-032") as caught:
            for step in steps:
                assert step.name in ("programmer", "probe", "chip")
    assert f"0x{load_board('stm32n6570-dk').nor.jedec_id:06X}" in caught.value.what


@pytest.mark.parametrize("kind", KINDS)
def test_two_boards_are_told_apart_by_their_ports(kind: str, tmp_path: Path) -> None:
    with bench(kind, tmp_path / "a") as first, probe_server(tmp_path / "b" / "server", BOARD.name) as other:
        second = Bench(other, programmer_of(kind, other, tmp_path))
        flash(second, images(6))
        assert first.server.nor.count(0xFF) == len(first.server.nor)
        assert first.programmer.record != second.programmer.record


def test_a_project_is_flashed_and_verified_by_the_command(tmp_path: Path) -> None:
    """The scripts and the algorithm of a programmer are no sources of a step."""
    tool = pyocd()
    with probe_server(tmp_path / "server", BOARD.name) as server:
        environment = {
            **shared_caches(),
            "PATH": f"{tool.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "site_scons"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "HOME": str(tmp_path),
        }
        options = [f"board={BOARD.name}", "model=miniresnet", f"probe=pyocd:tcp-{server.pyocd_port}"]
        for target, said in (("flash", "5 of 5 sectors"), ("flash", "already up to date"), ("verify", "equal")):
            command = [sys.executable, "-m", "n6build", target, *options, "--build", str(tmp_path / "build")]
            result = call(*command, cwd=ROOT, **environment)
            assert result.returncode == 0, result.stderr
            assert said in result.stdout
