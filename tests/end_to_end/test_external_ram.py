"""Networks in external RAM.

The Appli maps the PSRAM for a network that uses it, copies weights there, and reports its faults.
"""

from __future__ import annotations

import itertools

import pytest
from n6build.board.run.console_log import ends_run
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.describe.hardware.boards import load_board

from end_to_end.conftest import EQUAL, Project

RUN = ("probe=virtual", "flash", "run")
MAPPED = {"stm32n6570-dk": "n6 psram id=0x00000d07 mapped", "openmv-n6": "n6 psram id=0x00000d06 mapped"}
NO_RAM_INSIDE = "  pools: {npuRAM3: 0, npuRAM4: 0, npuRAM5: 0, npuRAM6: 0, cpuRAM2: 0}\n"
_ALWAYS = (("stm32n6570-dk", "extram", "keyword"),)
ALL = list(itertools.product(MAPPED, ("extram", "allmems"), ("keyword", "miniresnet", "anomaly")))


def put_activations_outside(project: Project) -> None:
    project.replace("models/keyword/model.yaml", "  input_type: int8", NO_RAM_INSIDE + "  input_type: int8")


@pytest.mark.parametrize(
    ("board", "profile", "model"),
    [case if case in _ALWAYS else pytest.param(*case, marks=pytest.mark.slow) for case in ALL],
)
def test_every_model_runs_with_external_ram(project: Project, board: str, profile: str, model: str) -> None:
    result = project.done(f"board={board}", f"profile={profile}", f"model={model}", *RUN)
    assert EQUAL in result.output
    # With allmems, the weights of these models stay in flash, and their activations fit into the chip.
    assert (MAPPED[board] in result.output) == (profile == "extram")
    assert ("n6 image xSPI1 copied" in result.output) == (profile == "extram")
    # The pads of this board may run fast, because their fuse is blown in the factory.
    assert ("mode=opi-dtr clock=100000000\n" in result.output) == (board == "stm32n6570-dk")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("board=openmv-n6", "profile=allmems"),
        pytest.param(("board=stm32n6570-dk", "profile=extram"), marks=pytest.mark.slow),
        ("board=stm32n6570-dk", "profile=extram", "loader=reloc"),
        pytest.param(("board=openmv-n6", "profile=allmems", "loader=reloc", "load=xip"), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_activations_in_external_ram(project: Project, options: tuple[str, ...]) -> None:
    put_activations_outside(project)
    result = project.done(*options, "model=keyword", *RUN)
    assert EQUAL in result.output
    assert "N6-CHECK-003" in result.output
    assert MAPPED[options[0].removeprefix("board=")] in result.output


@pytest.mark.slow
def test_two_installed_models_have_a_part_of_the_external_ram_each(project: Project) -> None:
    put_activations_outside(project)
    project.replace("models/anomaly/model.yaml", "network:\n", "network:\n" + NO_RAM_INSIDE)
    result = project.done("board=stm32n6570-dk", "profile=allmems", "model=keyword,anomaly", "loader=reloc", *RUN)
    assert "20 of 20 outputs equal the reference interpreter bit for bit" in result.output
    # Only the first model maps the RAM. Its data there must stay.
    assert result.output.count(MAPPED["stm32n6570-dk"]) == 1


@pytest.mark.slow
@pytest.mark.built("board=stm32n6570-dk", "profile=extram", "model=keyword", "probe=virtual", "flash")
def test_a_forgotten_mapping_is_found_on_the_virtual_board(project: Project) -> None:
    project.replace("firmware/appli/n6_memory.c", "result = map_external_ram(observer);", "(void)map_external_ram;")
    result = project.scons("board=stm32n6570-dk", "profile=extram", "model=keyword", *RUN).refused()
    assert "Write to the PSRAM at 0x90000000 faults: XSPI1 is not in memory-mapped mode" in result.output
    assert "firmware/appli/n6_memory.c:" in result.output


@pytest.mark.slow
@pytest.mark.built("board=stm32n6570-dk", "profile=extram", "model=keyword", "probe=virtual", "flash")
def test_weights_in_external_ram_leave_the_cache_as_those_inside_the_chip_do(project: Project) -> None:
    board = load_board("stm32n6570-dk")
    nor = project.root / f"build/virtual_board/{board.name}/nor.bin"
    result = run_nor(find_emulator(board.soc), NorBoot(nor, board), programs=[], stop=ends_run)
    assert result.findings == ()
    weights = -(-29072 // 32) * 32
    outside = [span for span in result.cleaned if span[0] >= 0x9000_0000]
    # The RAM's test wrote its last word.
    assert outside == [(0x9000_0000, 0x9000_0000 + weights), (0x91FF_FFE0, 0x9200_0000)]


@pytest.mark.slow
def test_too_many_activations_lead_to_a_profile_that_the_board_has(project: Project) -> None:
    small = NO_RAM_INSIDE.replace("npuRAM3: 0", "npuRAM3: 8K")
    project.replace("models/keyword/model.yaml", "  input_type: int8", small + "  input_type: int8")
    result = project.scons("board=stm32n6570-dk", "model=keyword", "network")
    assert "N6-NET-013" in result.output
    assert "hint: use profile=extram or allmems, which has more RAM" in result.output
    result = project.scons("board=nucleo-n657", "model=keyword", "network")
    assert "N6-NET-013" in result.output
    assert "hint: use a smaller input, fewer channels, or a board with external RAM" in result.output
