"""Inputs over the console of the virtual board, outputs back: what a run on a real board does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from n6build.boards import load_board
from n6build.errors import N6Error
from n6build.memory_plan.vectors import read_vectors
from n6build.models import load_model
from n6build.network.read_artifacts import read_artifacts
from n6build.run.link import Restarted
from n6build.run.linked_session import run_over_link, virtual_link
from n6build.virtual_board.build import find_emulator
from n6build.virtual_board.run import NorBoot

from end_to_end.conftest import Project, make_project

BOARD = load_board("nucleo-n657")


@pytest.fixture(scope="module", params=[("model=keyword,anomaly",), ("model=keyword,anomaly", "loader=reloc")])
def flashed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    project = make_project(tmp_path_factory.mktemp("link"))
    result = project.scons(*request.param, "probe=virtual", "flash")
    assert result.status == 0, result.output
    suffix = "-reloc" if len(request.param) > 1 else ""
    return project, project.root / f"build/nucleo-n657/keyword+anomaly{suffix}"


def boot_of(project: Project) -> NorBoot:
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    return NorBoot(nor, BOARD.nor.jedec_id, BOARD.slots.appli.address)


def networks_of(folder: Path) -> list:
    networks = []
    for name in ("keyword", "anomaly"):
        model = load_model(name)
        assert model.inputs
        assert model.expected
        artifacts = read_artifacts(folder / name, name)
        networks.append((model, artifacts, read_vectors(model.inputs), read_vectors(model.expected)))
    return networks


def test_outputs_over_the_link_equal_the_reference(flashed: tuple[Project, Path]) -> None:
    project, folder = flashed
    texts: list[str] = []
    with virtual_link(find_emulator(), boot_of(project), texts.append) as link:
        outcome = run_over_link(link, BOARD, networks_of(folder))
    assert [[verdict.equal for verdict in network.verdicts] for network in outcome.networks] == [[True] * 10] * 2
    assert [len(network.epoch_cycles) for network in outcome.networks] == [12, 10]
    assert all(cycles for network in outcome.networks for cycles in network.epoch_cycles.values())
    assert "n6 done runs=20" in texts


def test_another_application_on_the_board_is_named(flashed: tuple[Project, Path]) -> None:
    project, folder = flashed
    keyword, anomaly = networks_of(folder)
    with virtual_link(find_emulator(), boot_of(project), lambda _: None) as link:
        with pytest.raises(N6Error, match="N6-LINK-004: the board has 2 networks, this application 1"):
            run_over_link(link, BOARD, [keyword])
        with pytest.raises(N6Error, match="N6-LINK-004: the board runs keyword"):
            run_over_link(link, BOARD, [anomaly, keyword])


def test_noise_in_front_of_requests_does_no_harm(flashed: tuple[Project, Path]) -> None:
    project, folder = flashed
    with virtual_link(find_emulator(), boot_of(project), lambda _: None) as link:
        link.hello(60.0)
        for noise in (b"\x00\xff\x13", b"garbage" * 100, bytes(range(256))):
            link.stream.write(noise)
            try:
                assert link.network(0).name == "keyword"
            except Restarted:
                pytest.fail("the board has restarted")
        assert run_over_link(link, BOARD, networks_of(folder)).networks[0].verdicts[0].equal


def test_inputs_of_a_file(project: Project, tmp_path: Path) -> None:
    rows = np.load(project.root / "models/keyword/inputs.npy")[[3, 1]]
    np.save(tmp_path / "mine.npy", rows)
    arguments = ("model=keyword", "probe=virtual", "flash", "run", f"inputs={tmp_path / 'mine.npy'}")
    result = project.scons(*arguments)
    assert result.status == 0, result.output
    assert "Result 2 inferences, no expected outputs to compare with" in result.output
    assert "Vector 0  no " in result.output
    np.save(tmp_path / "mine.npy", rows[:, :10])
    assert "N6-VEC-002" in project.scons(*arguments).output
