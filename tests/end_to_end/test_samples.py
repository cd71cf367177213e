"""The networks of the samples, each with the runtime of its release.

Each runs or is refused for a named reason.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from samples import sample

from end_to_end.conftest import Project, st_core

DETECTION = "projects/STM32N6-GettingStarted-ObjectDetection"
CUBE_MX = "projects/STM32N6Example"
DK, NUCLEO = "stm32n6570-dk", "nucleo-n657"


@dataclass(frozen=True)
class Row:
    """A network of the samples.

    Attributes:
        network: Its folder.
        core: A folder that has ST's runtime of its release.
        board: The board that it was compiled for.
        ends: A part of the last lines of `flash run`.
        weights: The file with its weights if it is not beside network.c.
    """

    network: str
    core: str
    board: str
    ends: str
    weights: str = ""


# The samples do not have the model of these networks.
RUNS = "Result 2 inferences, but no expected outputs for a comparison: its model "
# The model is beside the network.
EQUALS = "outputs are as expected of the chip, cosine 0.9"
ROWS = {
    "YAMNet, Core 2.2": Row("npu/yamnet-core-2.2", "core/2.2", DK, f"Result 2 of 2 {EQUALS}"),
    # The images have 96 KiB, so there is only one vector.
    "ReID MobileNetV2, Core 3.0": Row("npu/reid-mobilenetv2-core-3.0", "core/3.0", NUCLEO, f"Result 1 of 1 {EQUALS}"),
    "segmentation, Core 4.0.1, weights as a C array": Row("npu/square-seg-core-4.0.1", "core/4.0.1", DK, RUNS),
    "MobileNetV2 of STM32CubeMX, Core 2.1": Row(
        f"{CUBE_MX}/Appli/X-CUBE-AI/App", CUBE_MX, DK, RUNS, weights=f"{CUBE_MX}/network_atonbuf.xSPI2.raw"
    ),
    # ST's Concat invalidates once for three epochs that write bytes of the same cache lines.
    "YOLO-X of the DK, Core 2.1": Row(f"{DETECTION}/Model/STM32N6570-DK", DETECTION, DK, EQUALS),
    "YOLO of the Nucleo, without weights": Row(
        f"{DETECTION}/Model/NUCLEO-N657X0-Q",
        DETECTION,
        NUCLEO,
        "error N6-NET-025: the weights of pool xSPI2 are missing",
    ),
    # Of noise it makes heat maps that are nearly empty, and that change as much if the noise changes by one step.
    "MoveNet, Core 2.1": Row(
        "npu/pose-movenet-core-2.1", DETECTION, DK, "these inputs tell little of pose-movenet-core-2.1: "
    ),
    # The reference interpreter lacks an operator of the model.
    "SSD, Core 2.1": Row("npu/fallguard-ssd-core-2.1", DETECTION, DK, "but no expected outputs for a comparison: "),
    # The model's file in the samples is only the path of a link.
    "YOLO-X, Core 2.2": Row("npu/yolox-core-2.2", "core/2.2", DK, "but no expected outputs for a comparison: "),
}


def folder_of(row: Row, tmp_path: Path) -> Path:
    """Return the network's folder, with links to weights in other folders.

    `n6build adopt` makes such links.
    """
    if not row.weights:
        return sample(row.network)
    folder = tmp_path / "network"
    folder.mkdir()
    for file in (*sample(row.network).glob("network*"), sample(row.weights)):
        (folder / file.name).symlink_to(file)
    return folder


# In every run: test_real_core.py, with ReID and the runtime of Core 3.0.
@pytest.mark.slow
@pytest.mark.parametrize("row", list(ROWS.values()), ids=list(ROWS))
def test_a_network_of_the_samples(row: Row, project: Project, tmp_path: Path) -> None:
    folder = folder_of(row, tmp_path)
    result = project.scons(
        f"board={row.board}", f"model={folder}", "probe=virtual", "flash", "run", **st_core(sample(row.core))
    )
    assert row.ends in result.output, result.output
    assert (result.status == 0) == ("error" not in row.ends), result.output
    assert "Finding" not in result.output
    assert "Traceback" not in result.output


# In every run: tests/virtual_board/npu/test_saturation.py, tests/npu/test_saturation.py, tests/run/test_saturation.py.
@pytest.mark.slow
def test_values_that_saturate_are_told(project: Project, tmp_path: Path) -> None:
    """A channel of the SSD needs more than 16 bits (ARITH3 in epoch 12)."""
    row = ROWS["SSD, Core 2.1"]
    given = (f"model={folder_of(row, tmp_path)}", f"board={row.board}", "probe=virtual", "flash", "run", "report")
    result = project.done(*given, **st_core(sample(row.core)))
    (line,) = re.findall(r"^ {4}12  .*", result.output.partition("NPU epoch that saturated")[2], re.MULTILINE)
    assert line.split()[-6:-3] == ["ARITH3", "47", "16"]
    assert "N6-CHECK-041" in result.output
    (run,) = project.root.glob("build/**/run.json")
    epochs = json.loads(run.read_text())["networks"][0]["npu_epochs"]
    units = next(epoch["units"] for epoch in epochs if epoch["label"] == 12)
    lost = next(unit["saturation"] for unit in units if unit["unit"] == "ARITH3")
    assert lost["lost"] > 0
    assert lost["channels"][0]["channel"] == 47
    (page,) = project.root.glob("build/**/report.html")
    assert "of channel 47" in page.read_text()
