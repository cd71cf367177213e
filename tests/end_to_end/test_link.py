"""Inputs and outputs over the virtual board's console, as on a real board."""

from __future__ import annotations

import json
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.board.run.link import Restarted
from n6build.board.run.linked_session import LinkedNetwork, run_over_link, virtual_link
from n6build.board.run.session import RunModel
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import LIMIT_STATUS, Limits, NorBoot, nor_command
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model
from n6build.place.memory_plan.vectors import read_vectors

from end_to_end.conftest import Project, make_project

BOARD = load_board("nucleo-n657")


@pytest.fixture(
    scope="module",
    params=[
        ("model=keyword,anomaly",),
        pytest.param(("model=keyword,anomaly", "loader=reloc"), marks=pytest.mark.slow),
    ],
)
def flashed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    project = make_project(tmp_path_factory.mktemp("link"))
    project.done(*request.param, "probe=virtual", "flash")
    suffix = "-reloc" if len(request.param) > 1 else ""
    return project, project.root / f"build/nucleo-n657/keyword+anomaly{suffix}"


def boot_of(project: Project) -> NorBoot:
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    return NorBoot(nor, BOARD)


def networks_of(folder: Path, runs: int = 10) -> list[LinkedNetwork]:
    networks = []
    for name in ("keyword", "anomaly"):
        model = load_model(name)
        assert model.inputs
        assert model.expected
        run_model = RunModel(model.name, model.inputs, model.expected, model.labels, model.classes)
        artifacts = read_artifacts(folder / name, name)
        inputs = read_vectors(model.inputs)
        expected = read_vectors(model.expected)
        networks.append(LinkedNetwork(run_model, artifacts, inputs, expected, model.labels, runs))
    return networks


def test_outputs_over_the_link_equal_the_reference(flashed: tuple[Project, Path], tmp_path: Path) -> None:
    project, folder = flashed
    texts: list[str] = []
    with virtual_link(find_emulator(BOARD.soc), boot_of(project), tmp_path / "findings", texts.append) as link:
        clock_hz, outcomes = run_over_link(link, networks_of(folder), 60.0)
    assert clock_hz == BOARD.clock.cpu_hz
    assert [[verdict.equal for verdict in network.verdicts] for network in outcomes] == [[True] * 10] * 2
    assert [len(network.epoch_cycles) for network in outcomes] == [12, 10]
    assert all(cycles.total > 40 for network in outcomes for cycles in network.epoch_cycles.values())
    assert "n6 done runs=20" in texts


@pytest.mark.slow
def test_another_application_on_the_board_is_named(flashed: tuple[Project, Path], tmp_path: Path) -> None:
    project, folder = flashed
    keyword, anomaly = networks_of(folder)
    with virtual_link(find_emulator(BOARD.soc), boot_of(project), tmp_path / "findings", lambda _: None) as link:
        with pytest.raises(N6Error, match="N6-LINK-004: the board has 2 networks, but this application has 1"):
            run_over_link(link, [keyword], 60.0)
        with pytest.raises(N6Error, match="N6-LINK-004: the board runs keyword"):
            run_over_link(link, [anomaly, keyword], 60.0)


@pytest.mark.slow
def test_noise_in_front_of_requests_does_no_harm(flashed: tuple[Project, Path], tmp_path: Path) -> None:
    project, folder = flashed
    with virtual_link(find_emulator(BOARD.soc), boot_of(project), tmp_path / "findings", lambda _: None) as link:
        link.hello(60.0)
        for noise in (b"\x00\xff\x13", b"garbage" * 100, bytes(range(256))):
            link.stream.write(noise)
            try:
                assert link.network(0).name == "keyword"
            except Restarted:
                pytest.fail("the board has restarted")
        assert run_over_link(link, networks_of(folder, runs=1), 60.0)[1][0].verdicts[0].equal


@dataclass
class Resetting:
    """A line on which the board is reset after some requests.

    Attributes:
        stream: The line.
        monitor: The emulator's monitor socket, which answers in JSON.
        after: Number of the request in which the reset happens.
        requests: Requests so far.
    """

    stream: Any
    monitor: Path
    after: int
    requests: int = 0

    @property
    def in_waiting(self) -> int:
        return int(self.stream.in_waiting)

    def read(self, size: int = 1) -> bytes:
        return bytes(self.stream.read(size))

    def write(self, data: bytes) -> int:
        self.requests += 1
        # Stop in the middle of a request.
        self.stream.write(data[: len(data) // 2])
        if self.requests == self.after:
            with socket.socket(socket.AF_UNIX) as monitor, monitor.makefile("rw") as talk:
                monitor.connect(str(self.monitor))
                for command in ("qmp_capabilities", "system_reset"):
                    talk.write(json.dumps({"execute": command}))
                    talk.flush()
                # The reset has only happened when the monitor reports it.
                while json.loads(talk.readline()).get("event") != "RESET":
                    pass
        self.stream.write(data[len(data) // 2 :])
        return len(data)


@pytest.mark.slow
@pytest.mark.parametrize("after", [6, 17, 18])
def test_a_reset_in_the_middle_of_a_transfer(
    flashed: tuple[Project, Path], tmp_path: Path, after: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run begins anew, and ends with the right outputs."""
    project, folder = flashed
    monitor = tmp_path / "monitor"
    more = ["-qmp", f"unix:{monitor},server=on,wait=off"]
    with virtual_link(find_emulator(BOARD.soc), boot_of(project), tmp_path / "findings", lambda _: None, more) as link:
        link.stream = Resetting(link.stream, monitor, after)
        _, outcomes = run_over_link(link, networks_of(folder, runs=2), 60.0)
    assert "Restarted the board, in the middle of a run, attempt 1 of 3" in capsys.readouterr().out
    assert [[verdict.equal for verdict in network.verdicts] for network in outcomes] == [[True] * 2] * 2


def test_a_board_whose_host_is_gone_comes_to_an_end(flashed: tuple[Project, Path], tmp_path: Path) -> None:
    project, _ = flashed
    limits = Limits(None, 20_000_000)
    command = nor_command(find_emulator(BOARD.soc), boot_of(project), tmp_path / "findings", "null", limits)
    assert subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == LIMIT_STATUS
    summary = json.loads((tmp_path / "findings").read_text().splitlines()[-1])
    assert summary["ended"] == "silence"


def test_an_emulator_that_does_not_start(tmp_path: Path) -> None:
    boot = NorBoot(tmp_path / "none.bin", BOARD)
    with (
        pytest.raises(N6Error, match="N6-LINK-006: the virtual board's console cannot be opened"),
        virtual_link(find_emulator(BOARD.soc), boot, tmp_path / "findings", lambda _: None) as link,
    ):
        link.hello()


@pytest.mark.slow
def test_more_runs_than_inputs_at_the_highest_clock(project: Project) -> None:
    arguments = ("model=anomaly", "probe=virtual", "mode=max-speed", "runs=12")
    result = project.scons(*arguments, "flash", "run")
    assert "12 of 12 outputs equal" in result.output, result.output
    assert "ms at 600 MHz" in result.output
    assert "mean of 12" in result.output
    # The programs on the board may run again, and nothing is programmed for it.
    again = project.scons(*arguments[:2], "mode=no-flash", "run")
    assert "10 of 10 outputs equal" in again.output, again.output
    assert "ms at 600 MHz" in again.output
    assert again.flashed == "nothing"
    started = project.scons(*arguments[:2], "clock=hsi", "mode=no-run", "run")
    assert "Ready nucleo-n657 (virtual)" in started.output
    assert started.flashed.startswith("2 of ")  # FSBL and Appli have another clock.
    assert "Run build" not in started.output


@pytest.mark.slow
def test_the_supply_is_raised_for_the_highest_clock_of_the_discovery_kit(project: Project) -> None:
    result = project.scons("board=stm32n6570-dk", "model=anomaly", "probe=virtual", "mode=max-speed", "flash", "run")
    assert "10 of 10 outputs equal" in result.output, result.output
    assert "ms at 800 MHz" in result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("mode=no-flsh",), "N6-OPTION-002: no mode 'no-flsh'\n  hint: did you mean 'no-flash'?"),
        (("mode=copy,xip", "loader=reloc"), "modes 'copy' and 'xip' exclude each other"),
        (("mode=xip",), "N6-OPTION-004: 'mode=xip' is for relocatable models"),
        (("mode=no-flash", "flash"), "N6-OPTION-008"),
        (("mode=no-flash,max-speed",), "modes 'no-flash' and 'max-speed' exclude each other"),
        (("mode=copy", "load=xip", "loader=reloc"), "'load=xip' and 'mode=copy' exclude each other"),
        (("runs=many",), "'runs=many' is not a number of inferences"),
        (("start=ram",), "N6-OPTION-011: 'start=ram' needs a real board"),
        (("gdb=1", "runs=3"), "N6-OPTION-009: 'gdb=1' needs the test vectors"),
    ],
)
def test_modes_that_cannot_be(project: Project, arguments: tuple[str, ...], error: str) -> None:
    assert error in project.scons("model=keyword", "probe=virtual", *arguments, "run").refused().output


@pytest.mark.slow
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_inputs_of_a_file(project: Project, tmp_path: Path) -> None:
    rows = np.load(project.root / "models/keyword/inputs.npy")[[3, 1]]
    np.save(tmp_path / "mine.npy", rows)
    arguments = ("model=keyword", "probe=virtual", "flash", "run", f"inputs={tmp_path / 'mine.npy'}")
    result = project.done(*arguments)
    # The reference interpreter computes the expected outputs.
    assert "Reference build/nucleo-n657/keyword/reference/network.npy" in result.output
    assert "Result 2 of 2 outputs equal the reference interpreter bit for bit" in result.output
    assert "Vector 0  no " in result.output
    outputs = np.load(project.root / "models/keyword/expected.npy")[[3, 1]]
    np.save(tmp_path / "right.npy", outputs)
    assert "2 of 2 outputs equal" in project.done(*arguments, f"expected={tmp_path / 'right.npy'}").output
    np.save(tmp_path / "right.npy", outputs[:1])
    assert "N6-VEC-004" in project.scons(*arguments, f"expected={tmp_path / 'right.npy'}").output
    np.save(tmp_path / "mine.npy", rows[:, :10])
    assert "N6-VEC-002" in project.scons(*arguments).output
