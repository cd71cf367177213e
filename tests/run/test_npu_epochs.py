"""The NPU's part of a run: epochs of the first inference and their table."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from n6build.base.files import to_json
from n6build.board.run.npu_epochs import first_inferences, hardware_epochs, npu_table, with_npu_epochs
from n6build.board.run.session import read_outcome
from n6build.board.virtual_board.npu_record import NpuEpoch, SaturatedChannel, Saturation, UnitWork
from n6build.compile.artifacts.description import EpochBlock, EpochInfo

from run.test_table import ARTIFACTS, outcome

NETWORK = replace(
    ARTIFACTS,
    blocks=(EpochBlock(2, 2, "NODE_SW"), EpochBlock(3, 4, "NODE_EC"), EpochBlock(9, 9, "NODE_HW")),
    epochs=(
        EpochInfo(2, "t", "Transpose", 0, 8, "NODE_SW"),
        EpochInfo(3, "a", "Conv Mul Add", 0, 8, "NODE_EC"),
        EpochInfo(4, "b", "", 0, 8, "NODE_EC"),
        EpochInfo(9, "c", "Gemm", 0, 8, "NODE_HW"),
    ),
)
CONVOLUTION = (
    UnitWork("STRENG0", "writes 16x16x8 of 8 bits", elements=2048, writes=2048, first=0x3400_0000, end=0x3400_0800),
    UnitWork("STRENG6", "reads 32x32x3 of 8 bits", elements=3072, reads=3072),
    UnitWork("STRENG8", "reads 216 of 8 bits", elements=216, reads=216),
    UnitWork("CONVACC0", "3x3 stride 2x2, 8 kernels of 3", macs=55296, elements=2048),
    UnitWork("CONVACC2", "3x3 stride 2x2, 8 kernels of 3", macs=55296, elements=2048),
    UnitWork("ARITH1", "a x + c", elements=2048),
)
COPY = (UnitWork("STRENG0", writes=10), UnitWork("STRENG1", reads=10))


def blob(label: int, network: int = 0, units: tuple[UnitWork, ...] = COPY) -> NpuEpoch:
    return NpuEpoch(network, 1, label, True, 0, units)


def registers(place: int | None, network: int | None = 0) -> NpuEpoch:
    return NpuEpoch(network, place, 0, False, 0, COPY)


def test_the_first_inference_ends_where_an_epoch_comes_again() -> None:
    once = [blob(3), blob(4), registers(2)]
    assert first_inferences([*once, *once, *once], 1) == [tuple(once)]
    # This network has one epoch of the NPU.
    assert first_inferences([registers(2), registers(2)], 1) == [(registers(2),)]
    # The last inference may have no end.
    assert first_inferences(once[:2], 1) == [tuple(once[:2])]


def test_networks_are_told_apart_and_strangers_left_out() -> None:
    epochs = [registers(0, 1), registers(2), registers(None, None), registers(0, 7), registers(0, 1)]
    assert first_inferences(epochs, 2) == [(registers(2),), (registers(0, 1),)]


def test_epochs_have_st_s_numbers_and_operators_or_what_the_units_are_set_to() -> None:
    made = hardware_epochs([blob(3), blob(4, units=CONVOLUTION), registers(2), registers(77)], NETWORK)
    assert [(epoch.number, epoch.operators) for epoch in made] == [
        (3, "Conv Mul Add"),
        (4, "3x3 stride 2x2"),
        (9, "Gemm"),
        (77, "copy"),
    ]


def test_the_table_has_macs_bytes_of_each_engine_and_units_and_no_times() -> None:
    lines = npu_table(hardware_epochs([blob(3, units=CONVOLUTION), registers(2)], NETWORK))
    first, second, _, total = lines[2:6]
    assert first.split() == (
        [
            "3",
            "Conv",
            "Mul",
            "Add",
            "110,592",
            "3,288",
            "2,048",
            "CONVACC",
            "0,2",
            "ARITH",
            "1",
            "|",
            "in",
            "6:3,072",
            "8:216",
            "out",
            "0:2,048",
        ]
    )
    assert second.split() == ["9", "Gemm", "0", "10", "10", "in", "1:10", "out", "0:10"]
    assert total.split() == ["2", "epochs", "110,592", "3,298", "2,058"]
    assert not [line for line in lines if " ms" in line or "cycles" in line]
    assert npu_table([]) == []


def test_of_many_epochs_the_table_has_those_with_the_most_work() -> None:
    epochs = [registers(number) for number in range(100, 130)]
    lines = npu_table(hardware_epochs([*epochs, blob(3, units=CONVOLUTION)], NETWORK))
    numbers = [line.split()[0] for line in lines[2:]]
    assert numbers[19:22] == ["3", "11", "-" * 100]
    assert lines[22].split() == ["11", "others,", "in", "run.json", "0", "110", "110"]
    assert lines[24].split() == ["31", "epochs", "110,592", "3,588", "2,348"]


def test_the_record_s_first_inferences_become_part_of_the_outcome(tmp_path: Path) -> None:
    unit = '{"unit": "STRENG0", "what": "writes", "elements": 4, "reads": 0, "writes": 4}'
    line = '{"network": 0, "place": 1, "label": %d, "by": "blob", "instructions": 5, "units": [' + unit + "]}\n"
    record = tmp_path / "npu_record.jsonl"
    # The emulator was ended in the middle of a line.
    record.write_text("".join(line % label for label in (3, 4, 3)) + '{"network": 0, "pl')
    made = with_npu_epochs(outcome(), record)
    (network,) = made.networks
    assert [epoch.label for epoch in network.npu_epochs] == [3, 4]
    assert network.npu_epochs[0].units == (UnitWork("STRENG0", "writes", elements=4, writes=4),)
    assert with_npu_epochs(outcome(), tmp_path / "none") == outcome()
    # The same holds for run.json, with what saturated.
    lost = Saturation(2, 0, 3, 3, 0, 1, (SaturatedChannel(47, 0, 3, 3, 0, 0, 40086),))
    units = (*network.npu_epochs[0].units, UnitWork("ARITH3", saturation=lost))
    epochs = (replace(network.npu_epochs[0], units=units), *network.npu_epochs[1:])
    made = replace(made, networks=(replace(network, npu_epochs=epochs),))
    (tmp_path / "run.json").write_text(to_json(asdict(made)))
    assert read_outcome(tmp_path / "run.json") == made
    old = json.loads((tmp_path / "run.json").read_text())
    del old["networks"][0]["npu_epochs"]
    (tmp_path / "run.json").write_text(json.dumps(old))
    assert read_outcome(tmp_path / "run.json").networks[0].npu_epochs == ()


def test_a_network_for_the_cpu_alone_leaves_no_record() -> None:
    assert NETWORK.uses_npu
    assert not replace(NETWORK, epochs=NETWORK.epochs[:1], blocks=()).uses_npu
