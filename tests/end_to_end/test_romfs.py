"""The romfs image of an OpenMV description.

Every input of every model in it is an input of the image.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.reader import parse_reloc_file
from n6build.place.reloc.verify import ram_of, verify
from romfs_images import read_romfs

from end_to_end.conftest import Project

ARGUMENTS = ("board=openmv-n6", "romfs=rom/romfs_config.json", "romfs")
IMAGE = "build/openmv-n6/romfs/romfs0.img"


@pytest.fixture
def described(project: Project) -> Project:
    write(project)
    return project


def write(project: Project, size: str = "0x1800000") -> None:
    entries = [
        {"type": "tflite", "path": "{TOP}/models/keyword/keyword.tflite", "alignment": 32, "profile": "default"},
        {"type": "tflite", "path": "{TOP}/models/anomaly/anomaly.tflite", "alignment": 64, "profile": "noextmem"},
        {"type": "haar", "path": "{TOP}/lib/haar/eye.xml", "stages": 0, "enabled": False},
        {"type": "txt", "path": "notes.txt"},
    ]
    folder = project.root / "rom"
    folder.mkdir(exist_ok=True)
    (folder / "notes.txt").write_text("two models\n")
    (project.root / "models/keyword/keyword.txt").write_text("yes\nno\n")
    (folder / "romfs_config.json").write_text(json.dumps({"0": {"size": size, "entries": entries}}, indent=2))


# In every run: tests/image/test_romfs_image.py.
@pytest.mark.slow
def test_models_labels_and_files_are_in_the_image(described: Project) -> None:
    assert "Romfs partition 0, 4 files, " in described.done(*ARGUMENTS).output
    image = (described.root / IMAGE).read_bytes()
    files = {file.name: file for file in read_romfs(image)}
    assert list(files) == ["keyword.tflite", "keyword.txt", "anomaly.tflite", "notes.txt"]
    for name, alignment in (("keyword.tflite", 32), ("anomaly.tflite", 64)):
        file = files[name]
        assert file.offset % alignment == 0
        model = parse_reloc_file(image[file.offset : file.offset + file.size], name)
        assert verify(model, None, ram_of(load_board("openmv-n6"))) == []
    assert "COPY.MIXED.WRITE" in [pool.flags_text for pool in model.pools]
    assert described.scons(*ARGUMENTS).actions == []


@pytest.mark.slow
def test_what_a_change_rebuilds(described: Project) -> None:
    assert described.scons(*ARGUMENTS).status == 0
    before = (described.root / IMAGE).read_bytes()

    described.change_one_weight("keyword")
    actions = described.scons(*ARGUMENTS).actions
    assert "Network romfs/keyword/network/network.c" in actions
    assert f"Romfs {Path(IMAGE).relative_to('build/openmv-n6')}" in actions
    assert not [action for action in actions if "anomaly" in action or action.startswith("Compile")]
    after = (described.root / IMAGE).read_bytes()
    assert after != before

    described.replace(
        "boards/soc/stm32n6.yaml", "freq_ratio: 1.25, read_power: 18.531", "freq_ratio: 1.5, read_power: 18.531"
    )
    actions = described.scons(*ARGUMENTS).actions
    assert {"Network romfs/keyword/network/network.c", "Network romfs/anomaly-noextmem/network/network.c"} <= set(
        actions
    )

    (described.root / "rom/notes.txt").write_text("other notes\n")
    assert described.scons(*ARGUMENTS).actions == ["Romfs romfs/romfs0.img"]
    write(described, size="0x1900000")
    assert described.scons(*ARGUMENTS).actions == ["Romfs romfs/romfs0.img"]


@pytest.mark.slow
def test_an_overflow_is_an_error_that_leaves_the_old_image(described: Project) -> None:
    assert described.scons(*ARGUMENTS).status == 0
    before = (described.root / IMAGE).read_bytes()
    write(described, size="0x10000")
    assert "N6-ROMFS-005: romfs partition 0 overflows by " in described.scons(*ARGUMENTS).refused().output
    assert not (described.root / IMAGE).exists() or (described.root / IMAGE).read_bytes() == before


@pytest.mark.slow
def test_mistakes(described: Project) -> None:
    assert "N6-ROMFS-007" in described.scons("board=openmv-n6", "romfs").output
    described.replace("rom/romfs_config.json", "noextmem", "noextmen")
    result = described.scons(*ARGUMENTS)
    assert "N6-ROMFS-006" in result.output
    assert "did you mean 'noextmem'?" in result.output


@pytest.mark.slow
def test_models_of_the_same_name_and_one_model_in_two_partitions(project: Project) -> None:
    for folder, model in (("one", "keyword"), ("two", "anomaly")):
        (project.root / folder).mkdir()
        (project.root / folder / "model.tflite").write_bytes(
            (project.root / f"models/{model}/{model}.tflite").read_bytes()
        )
    entries = {
        name: {"type": "tflite", "path": f"{{TOP}}/{name}/model.tflite", "alignment": 32, "profile": "default"}
        for name in ("one", "two")
    }
    partitions = {
        "0": {"size": "0x800000", "entries": [entries["one"]]},
        "1": {"size": "0x800000", "entries": [entries["two"]]},
        "2": {"size": "0x800000", "entries": [entries["one"]]},
    }
    (project.root / "rom").mkdir()
    (project.root / "rom/romfs_config.json").write_text(json.dumps(partitions))
    project.done(*ARGUMENTS)
    first, second, third = (
        (project.root / f"build/openmv-n6/romfs/romfs{number}.img").read_bytes() for number in range(3)
    )
    assert first == third != second
