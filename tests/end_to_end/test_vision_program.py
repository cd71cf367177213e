"""A project of ST is built with another network: appli=PROJECT model=FILE."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from application.vision_trees import APPLICATION, make_vision_project, network_of_boxes
from n6build.judge.compare.interpret import reference_rows
from PIL import ImageOps
from samples import sample

from end_to_end.conftest import Project
from end_to_end.test_camera import FROM, SHOWN, drawn, overlap

DK = "board=stm32n6570-dk"
ELF = "build/stm32n6570-dk/boxes-foreign/project.elf"
CONFIG = "build/stm32n6570-dk/boxes-foreign/network_app/app_config.h"


@pytest.fixture
def given(project: Project) -> Project:
    make_vision_project(project.root / "camera")
    (project.root / "boxes.tflite").write_bytes(network_of_boxes())
    return project


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_project_is_built_with_another_network_and_stays_as_it_was(given: Project) -> None:
    before = contents(given.root / "camera")
    words = (DK, "appli=camera", "model=boxes.tflite", "application=od_yolo_v8")
    assert "Make build/stm32n6570-dk/boxes-foreign/project.elf" in given.done(*words).output
    assert contents(given.root / "camera") == before
    config = (given.root / CONFIG).read_text()
    assert "#define POSTPROCESS_TYPE POSTPROCESS_OD_YOLO_V8_UF\n" in config
    assert "#define AI_OD_YOLOV8_PP_TOTAL_BOXES (48)\n" in config
    # The camera of the project stays as it is.
    assert "CAMERA_FLIP" not in config
    elf = (given.root / ELF).read_bytes()
    for symbol in (b"n6k_requantize", b"n6_give_up_input", b"LL_ATON_EpochBlockItems_Default"):
        assert symbol in elf
    assert str(given.root).encode() not in elf
    assert "Nothing to do" in given.done(*words).output or not given.done(*words).actions
    # A file of the project, one of its headers, and the threshold reach the program; a text does not.
    (given.root / "camera/README.md").write_text("# Another text\n")
    assert "Make" not in given.done(*words).output
    given.replace(f"camera/{APPLICATION}/Src/app_logo.c", "logo = 1", "logo = 2")
    assert "Make build" in given.done(*words).output
    assert (given.root / ELF).read_bytes() != elf
    given.replace(
        f"camera/{APPLICATION}/Inc/app_config.h", "MIRRORFLIP_NONE", 'MIRRORFLIP_FLIP\nstatic const char added[] = "x";'
    )
    given.replace(f"camera/{APPLICATION}/Src/main.c", "CLASSES_TABLE;", "CLASSES_TABLE;\nconst char *use = added;")
    assert "Make build" in given.done(*words).output
    # A file that is gone is gone from the copy as well.
    (given.root / f"camera/{APPLICATION}/Src/app_logo.c").unlink()
    given.done(*words)
    assert b"app_logo" not in (given.root / ELF).read_bytes()


@pytest.mark.parametrize(
    ("words", "id", "text"),
    [
        (["application=od_st_ssd"], "N6-CHECK-042", "decoder ssd needs 3 or 4 outputs, not 1"),
        (["application=od_yolo_v8_ui"], "N6-APP-012", "is for uint8 input and int8 output, but the network has"),
        (["application=od_yolo_v5"], "N6-APP-012", "takes uint8 input and uint8 output, but"),
        (["application=spe_movenet"], "N6-APP-014", "camera has no post-processing spe_movenet_uf; it has od_yolo"),
        (["application=od_yolo_v9"], "N6-OPTION-002", "did you mean 'od_yolo_v8'"),
        ([], "N6-APP-013", "nothing tells which post-processing of camera fits the network"),
        (["application=od_yolo_v8", "loader=reloc"], "N6-APP-035", "needs one model to put into it, linked"),
        (["application=od_yolo_v8", "appli=models"], "N6-APP-030", "it lacks a Makefile that links a program"),
    ],
)
def test_a_misfit_is_an_error_with_its_names(given: Project, words: list[str], id: str, text: str) -> None:
    result = given.scons(DK, "appli=camera", "model=boxes.tflite", *words).refused()
    assert f"error {id}: " in result.output
    assert text in result.output


def test_a_project_that_make_cannot_build_has_the_compiler_s_words(given: Project) -> None:
    words = (DK, "appli=camera", "model=boxes.tflite", "application=od_yolo_v8")
    given.replace(f"camera/{APPLICATION}/Src/main.c", "NN_WIDTH,", "NN_WIDHT,")
    result = given.scons(*words)
    assert "Makefile: error N6-APP-033: make fails in a copy of the project:" in result.output
    assert "error: 'NN_WIDHT' undeclared" in result.output
    given.replace(f"camera/{APPLICATION}/Src/main.c", "NN_WIDHT,", "NN_WIDTH,")
    given.replace(f"camera/{APPLICATION}/Makefile", "all: $(BUILD_DIR)/$(TARGET).elf", "all:\n\t@true")
    assert "N6-APP-033: make has to link one program; it linked none" in given.scons(*words).output


def test_a_network_of_another_name_is_refused(given: Project) -> None:
    folder = given.root / "compiled"
    given.done(DK, "model=boxes.tflite", "network")
    (made,) = given.root.glob("build/*/boxes/network")
    made.rename(folder)
    result = given.scons(DK, "appli=camera", f"model={folder}", "application=od_yolo_v8")
    assert "N6-CHECK-018" in result.output or "N6-APP-034: has the name 'network', but" in result.output


# In every run: the tests above, with a small project.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "application"),
    [
        ("models/yolo11n_256_quant_pc_uf_od_coco-person-st.tflite", "od_yolo_v8"),
        ("models/ssd_mobilenet_v2_fpnlite_035_256_int8.tflite", "od_st_ssd"),
    ],
)
def test_object_detection_finds_persons_with_another_network(project: Project, network: str, application: str) -> None:
    detection = sample("projects/STM32N6-GettingStarted-ObjectDetection")
    picture = drawn()
    picture.save(project.root / "faces.png")
    words = (DK, f"appli={detection}", f"model={sample(network)}", f"application={application}", "probe=virtual")
    result = project.done(*words, "camera=faces.png", "display=out", "until=frames:3", "flash", "run")
    assert "Ended reached 3 pictures on the panel" in result.output
    assert "Finding" not in result.output
    boxes = json.loads((project.root / "out/boxes.json").read_text())[-1]
    assert boxes
    seen = np.asarray(ImageOps.fit(picture, (256, 256)))[np.newaxis]
    (made,) = reference_rows(Path(sample(network)), [[seen]])
    if application == "od_yolo_v8":
        x, y, width, height, score = made[0][0][:, np.argmax(made[0][0][4])]
        assert score > 0.8
        wanted = tuple(SHOWN * edge for edge in (x - width / 2, y - height / 2, x + width / 2, y + height / 2))
        places = [
            (box["x"] - FROM, box["y"], box["x"] - FROM + box["width"], box["y"] + box["height"]) for box in boxes
        ]
        assert max(overlap(place, wanted) for place in places) > 0.8
