"""Questions of OpenMV users from the forum and openmv/openmv, from start to end.

The tests reproduce the users' observations.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from n6build.place.reloc.openmv import DEFAULT, VERSION_HEADER
from n6build.place.reloc.reader import parse_reloc_file
from network.network_models import chain
from one_op_models import Quantisation, conv_2d, pool_2d
from reference_interpreter import outputs
from romfs_images import read_romfs

from end_to_end.conftest import Project

Q = Quantisation(0.05)
# Two buffers of 64 x 64 x 3453 bytes need 9,674,752 bytes more than 16 MiB of external RAM and the NPU's RAM.
SIZE, CHANNELS, CLASSES = 64, 3453, 5
CAMERA = ("board=openmv-n6", "profile=allmems", "model=models/segmentation")
AS_THE_CAMERA = ("loader=reloc", "load=xip", "probe=virtual", "flash", "run")


def segmentation(project: Project, output_scale: float = 0.05) -> None:
    """Write a network whose activations do not fit, instead of the forum's DeepLab.

    The folder also has a picture and the expected outputs.
    """
    random = np.random.default_rng(512)
    wide = random.integers(-9, 9, (CHANNELS, 1, 1, 1), dtype=np.int8)
    deep = random.integers(-9, 9, (CLASSES, 1, 1, CHANNELS), dtype=np.int8)
    parts = (
        conv_2d((SIZE, SIZE, 1), wide, np.zeros(CHANNELS, np.int32), [0.1], Q, Q),
        pool_2d("MAX", (SIZE, SIZE, CHANNELS), (1, 1), (1, 1), Q),
        conv_2d((SIZE, SIZE, CHANNELS), deep, np.zeros(CLASSES, np.int32), [0.001], Q, Quantisation(output_scale)),
    )
    model = chain(*parts)
    folder = project.root / "models/segmentation"
    folder.mkdir(exist_ok=True)
    (folder / "segmentation.tflite").write_bytes(model)
    picture = random.integers(-128, 127, (1, SIZE, SIZE, 1), dtype=np.int8)
    np.save(folder / "inputs.npy", picture)
    np.save(folder / "expected.npy", outputs(model, picture)[0])
    describe(project, "")


def describe(project: Project, more: str) -> None:
    text = "name: segmentation\nfile: segmentation.tflite\nvectors: {inputs: inputs.npy, expected: expected.npy}\n"
    (project.root / "models/segmentation/model.yaml").write_text(text + more)


# In every run: the parts are in tests/network (pools, regions), tests/checks and tests/reloc/test_openmv.py.
@pytest.mark.slow
def test_the_conversation_about_the_memory_pool(project: Project) -> None:
    segmentation(project)

    # "total bytes left unallocated=9674752": networks have 16 MiB of the PSRAM's 64 MiB.
    refused = project.scons(*CAMERA, "network").refused()
    assert "N6-NET-013: the activations need at least 28286976 bytes; 9674752 bytes do not fit" in refused.output
    assert "or change the size of a pool with network.pools in model.yaml" in refused.output

    # "Note that the MP heap is not stable at 32MB. Do not set it to that."
    describe(project, "network: {pools: {hyperRAM: 32M}}\n")
    unstable = project.scons(*CAMERA, "network")
    assert "N6-POOL-003: pool hyperRAM needs 32.0 MiB of region 'heap', 4.0 MiB more than its limit" in unstable.output

    # "increase ... to 28MB or so", and "Any model whose activations overflow into hyperRAM causes a hard
    # fault": here it runs, installed as on the camera, with the reference interpreter's outputs.
    describe(project, "network: {pools: {hyperRAM: 28M}}\n")
    run = project.done(*CAMERA, *AS_THE_CAMERA)
    assert "1 of 1 outputs equal the reference interpreter bit for bit" in run.output
    assert "n6 psram id=0x00000d06 mapped" in run.output

    # "The NPU performance is very bad once it needs external RAM."
    assert "pool hyperRAM: 27.0 MiB of activations, 100% of all, are in external RAM" in run.output
    assert "5 to 20 times slower" in run.output

    # "Do the FB/FB_ALLOC and the NPU activations overlap in DRAM?" The heap grows by 4 MiB, and the regions
    # behind it move.
    plan = json.loads((project.root / "build/openmv-n6/segmentation-allmems-reloc/memory_plan.json").read_text())
    regions = {each["name"]: (each["address"], each["size"]) for each in plan["external_regions"]}
    assert regions["heap"] == (0x9000_0000, 28 << 20)
    assert regions["uma"] == (0x91C0_0000, 31 << 20)
    assert regions["stream"] == (0x93B0_0000, 1 << 20)

    # "without a post-processor ... 512x512x5 * float32 bytes of output space": the output has 80 KiB here,
    # for which the heap has room.
    assert "N6-CHECK-015" not in run.output


@pytest.mark.slow
def test_what_was_wrong_with_the_outputs(project: Project) -> None:
    # "The output scale is insane. So, probably the conversion didn't go well."
    segmentation(project, output_scale=2956686.0)
    refused = project.scons(*CAMERA, "network").refused()
    assert "N6-NET-006" in refused.output
    assert "2.95669e+06" in refused.output or "2956686" in refused.output

    # "output_dtype=‘b’ but actual float output": model.yaml declares the application's type, and a check
    # compares it.
    segmentation(project)
    describe(project, "network: {pools: {hyperRAM: 28M}, output_type: float32}\n")
    checked = project.scons(*CAMERA, "check").refused()
    assert "N6-CHECK-014" in checked.output
    assert "int8" in checked.output


def camera_tree(folder: Path, *entries: dict[str, object]) -> Path:
    """Write sources of firmware 5.0.0 with a description of its file system."""
    header = folder / VERSION_HEADER
    header.parent.mkdir(parents=True)
    numbers = zip(("MAJOR", "MINOR", "MICRO", "DEV"), DEFAULT.ll_aton, strict=True)
    header.write_text("".join(f"#define LL_ATON_VERSION_{name} ({number})\n" for name, number in numbers))
    file = folder / "boards/OPENMV_N6/romfs_config.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"0": {"size": "0x1800000", "entries": entries}}))
    return file


def test_models_are_for_the_firmware_in_whose_tree_they_go(project: Project, tmp_path: Path) -> None:
    """openmv/openmv has had ll_aton 1.1.3-262 since May 2026.

    Its loader accepts models of 1.1.3-8.
    """
    tree = tmp_path / "openmv"
    models = tree / "lib/models"
    models.mkdir(parents=True)
    (models / "anomaly.tflite").write_bytes((project.root / "models/anomaly/anomaly.tflite").read_bytes())
    entry = {"type": "tflite", "path": "{TOP}/lib/models/anomaly.tflite", "alignment": 32, "profile": "default"}
    romfs = ("board=openmv-n6", f"romfs={camera_tree(tree, entry)}", "romfs")
    made = project.done(*romfs)
    assert "Romfs the OpenMV tree openmv, 1 models for its ll_aton 1.1.3-262" in made.output
    assert "Note 1 models, load from /rom only: the camera reads files of less than 1.0 MiB" in made.output
    image = (project.root / "build/openmv-n6/romfs/romfs0.img").read_bytes()
    (file,) = read_romfs(image)
    assert parse_reloc_file(image[file.offset : file.offset + file.size], file.name).version == DEFAULT.ll_aton

    # A model for another firmware is put there by hand.
    (models / "anomaly.tflite").write_bytes(image[file.offset : file.offset + file.size])
    refused = project.scons(*romfs, "firmware=openmv-4.8.1").refused()
    assert (
        "anomaly.tflite: error N6-ROMFS-010: is for ll_aton 1.1.3-262, but OpenMV v4.8.1 has 1.1.0-31" in refused.output
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("firmware=openmv-6.0.0", "romfs=none.json", "romfs"),
            "N6-ROMFS-009: OpenMV 6.0.0 is newer than 5.0.0",
        ),
        (
            ("firmware=openmv-5.0.0", "flash", "probe=virtual"),
            "N6-OPTION-020: 'firmware=openmv-5.0.0' has no effect on flash",
        ),
        (("firmware=openmv-5.0.0", "reloc"), "N6-ROMFS-011"),
    ],
)
def test_a_firmware_that_has_no_effect_or_is_unknown(
    arguments: tuple[str, ...], expected: str, project: Project
) -> None:
    assert expected in project.scons("board=openmv-n6", *arguments).refused().output
