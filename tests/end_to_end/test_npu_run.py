"""A network that ST's compiler put on the NPU, run on the virtual board.

The tests check the report of its epochs, the trace, and refusals.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from n6build.board.run.console_log import ends_run
from n6build.board.run.npu_epochs import SHOWN
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.compile.artifacts.network_c import read_network_c
from n6build.describe.hardware.boards import load_board
from n6build.judge.npu.blobs import read_blobs
from n6build.judge.npu.disassemble import Write, WriteSeries, instructions
from n6build.judge.npu.names import UNIT_BYTES, names_of
from n6build.judge.npu.settings import Registers, UnitSettings
from n6build.judge.npu.source_settings import epochs_of_source
from samples import sample

from end_to_end.conftest import Project, make_project, st_core

NETWORK = "reid-mobilenetv2-core-3.0"
BUILT = f"build/nucleo-n657/{NETWORK}"
BOARD = load_board("nucleo-n657")
NPU = BOARD.soc.npu


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("npu_run"))
    shutil.copytree(sample(f"npu/{NETWORK}"), project.root / NETWORK)
    return project


# In every run: tests/run/test_npu_epochs.py, tests/npu/test_trace.py, test_neural_art.py (blobs of our own,
# run).
@pytest.mark.slow
def test_a_run_tells_what_each_epoch_did_and_traces_it(project: Project) -> None:
    result = project.done(
        f"model={NETWORK}", "probe=virtual", "trace=npu", "flash", "run", "report", **st_core(sample("core/3.0"))
    )
    # The console's table has the busiest epochs, in their order:
    rows = [int(row) for row in re.findall(r"^ {2} {1,3}(\d+)  .*\d  .*\| in ", result.output, re.MULTILINE)]
    assert rows == sorted(rows)
    assert (len(rows), rows[0], rows[-1]) == (SHOWN, 3, 53)
    assert "223,623,168" in result.output
    # run.json has 52 epochs, whose MACs are those of the table.
    run = json.loads((project.root / BUILT / "run.json").read_text())
    epochs = run["networks"][0]["npu_epochs"]
    assert [epoch["label"] for epoch in epochs] == list(range(2, 54))
    assert sum(unit["macs"] for epoch in epochs for unit in epoch["units"]) == 223_623_168
    # The bytes are those of the pixels, without the gaps between them.
    engine = next(unit for unit in epochs[4]["units"] if unit["unit"] == "STRENG4")
    assert engine["reads"] == 786_432
    # The trace:
    trace = (project.root / BUILT / "npu_trace.txt").read_text().splitlines()
    assert f"begin {NETWORK}, epochs 1 to 54" in trace
    assert [line for line in trace if line.startswith("computed ")] == [f"computed epoch {n}" for n in range(2, 54)]
    assert "  STRSWITCH.DST28      = 0x0000000D  ARITH0.x <- STRENG6.out" in trace
    # The report's page:
    page = (project.root / BUILT / "report.html").read_text()
    assert "Features of the NPU that this network uses" in page
    assert 'class="n6-npu"' in page
    # A second run gives the same trace.
    project.done(f"model={NETWORK}", "probe=virtual", "trace=npu", "run", **st_core(sample("core/3.0")))
    assert (project.root / BUILT / "npu_trace.txt").read_text().splitlines() == trace


def test_what_is_not_modelled_is_told_before_anything_boots(project: Project) -> None:
    header = project.root / NETWORK / "reid_ecblobs.h"
    before = header.read_text()
    (blob,) = read_blobs(header)
    number = NPU.units["POOL"].first
    (pool,) = [
        each
        for each in instructions(blob)
        if isinstance(each, Write | WriteSeries) and each.unit == number and each.offset == 0 and _type(each) == 10
    ]
    # In the first value of the instruction, the pooling's type becomes 12 (with index).
    place = blob.at + pool.at + 1
    header.write_text(_with_word(before, place, lambda word: word & ~(15 << 2) | 12 << 2))
    try:
        result = project.scons(f"model={NETWORK}", "probe=virtual", "flash", "run", **st_core(sample("core/3.0")))
    finally:
        header.write_text(before)
    assert result.status == 2
    assert f"{NETWORK}: epoch 53: error N6-NPU-004" in result.output
    assert "POOL0 CTRL TYPE is 12; modelled: 0, 1, 2, 8, 9, 10" in result.output
    assert "n6 fsbl start" not in result.output


def _type(write: Write | WriteSeries) -> int:
    value = write.value if isinstance(write, Write) else write.values[0]
    return value >> 2 & 15


def _with_word(text: str, place: int, change: object) -> str:
    """Return the text of a header with one of its words replaced."""
    items = list(re.finditer(r"0x([0-9a-f]{16})UL", text))
    item = items[place // 2]
    value, shift = int(item[1], 16), 32 * (place % 2)
    word = change(value >> shift & 0xFFFF_FFFF)  # type: ignore[operator]
    value = value & ~(0xFFFF_FFFF << shift) | word << shift
    return f"{text[: item.start()]}0x{value:016x}UL{text[item.end() :]}"


@pytest.mark.slow
def test_what_structures_in_network_c_tell_is_what_st_s_runtime_writes(tmp_path: Path) -> None:
    """YAMNet has no blob: ST's runtime writes each field of network.c to a register.

    The register has this value when its epoch is computed.
    """
    project = make_project(tmp_path)
    folder = sample("npu/yamnet-core-2.2")
    project.done(f"model={folder}", "probe=virtual", "flash", **st_core(sample("core/2.2")))
    trace = tmp_path / "trace"
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    run_nor(find_emulator(BOARD.soc), NorBoot(nor, BOARD, npu=NpuFiles(trace=trace)), programs=[], stop=ends_run)
    numbers = [epoch.index for epoch in read_network_c(folder / "network.c").epochs]
    written = written_settings(trace.read_text().splitlines(), numbers)
    told = list(epochs_of_source((folder / "network.c").read_text(), names_of(NPU)))
    assert len(told) == 36
    compared = 0
    for epoch in told:
        units = {unit.name: unit for unit in written[epoch.number]}
        assert units.keys() >= {unit.name for unit in epoch.units}
        for unit in epoch.units:
            for field, value in unit.fields.items():
                assert units[unit.name].fields[field] == value, f"epoch {epoch.number}, {unit.name} {' '.join(field)}"
                compared += 1
    assert compared > 3000


def written_settings(trace: list[str], numbers: list[int]) -> dict[int, tuple[UnitSettings, ...]]:
    """Return the settings of the active units by ST's number of the epoch.

    Args:
        numbers: ST's numbers, by place in the table of blocks.
    """
    registers = Registers(names_of(NPU))
    settings: dict[int, tuple[UnitSettings, ...]] = {}
    place = 0
    for word, *values in (line.split() for line in trace):
        if word == "w":
            address, value = (int(each, 16) for each in values)
            registers.write(address // UNIT_BYTES, address % UNIT_BYTES, value)
        elif word == "epoch":
            place = int(values[1])
        elif word == "run":
            settings.setdefault(numbers[place], registers.settings())
    return settings


@pytest.mark.slow
def test_a_program_of_somebody_else_is_traced_too(project: Project, tmp_path: Path) -> None:
    """The Appli is n6build's under another name, so its networks are unknown."""
    # It reads its test vectors from the board.
    project.done(f"model={NETWORK}", "probe=virtual", "flash", **st_core(sample("core/3.0")))
    shutil.copy(project.root / BUILT / "appli/appli.elf", tmp_path / "appli.elf")
    (weights,) = (project.root / BUILT).rglob("weights_xSPI2.bin")
    project.done(
        f"appli={tmp_path / 'appli.elf'}",
        f"data={weights}@0x72000000",
        "probe=virtual",
        "trace=npu",
        "until=text:n6 done",
        "flash",
        "run",
        **st_core(sample("core/3.0")),
    )
    (trace,) = (project.root / "build").rglob("*foreign*/npu_trace.txt")
    lines = trace.read_text().splitlines()
    assert "begin block 0 of network 0" in lines
    assert "computed epoch 53" in lines
