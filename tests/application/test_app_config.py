"""app_config.h: its values for a network, and its compilation as C."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import one_op_models as ops
import pytest
from n6build.base.errors import N6Error
from n6build.compile.application.app_config import app_config, c_string
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.board_pools import pools_of
from n6build.compile.reference.compile_model import compile_network
from n6build.describe.application import Application, Input, PostProcessing
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model

MODEL_YAML = """\
name: finder
file: finder.tflite
classes: [person, "a \\"dog\\"", Mädchen??/]
application:
  input: {colour: rgb, width: 320, height: 240}
  aspect: padding
  camera_flip: both
  post_processing:
    type: od_yolo_v8_uf
    constants: {AI_OD_CONF_THRESHOLD: 0.4, AI_OD_MAX_BOXES: 10, AI_OD_ANCHORS: [0.5, 1.25]}
  welcome: ["Object detection", "n6build"]
"""


@pytest.fixture
def artifacts(tmp_path: Path) -> NetworkArtifacts:
    model = tmp_path / "softmax.tflite"
    model.write_bytes(ops.softmax(1, 10, 0.1))
    compile_network(model, pools_of(load_board("nucleo-n657"), "extflash"), tmp_path / "network")
    made = read_artifacts(tmp_path / "network", "network")
    return replace(made, inputs=(IoBuffer("in", 0, 230400, "uint8", (1, 240, 320, 3), 0.0078125, -1),))


def described(folder: Path, text: str = MODEL_YAML) -> tuple[Application, tuple[str, ...]]:
    (folder / "model.yaml").write_text(text)
    (folder / "finder.tflite").write_bytes(b"")
    model = load_model(str(folder))
    assert model.application is not None
    return model.application, model.classes


def test_the_header_says_what_the_application_needs(tmp_path: Path, artifacts: NetworkArtifacts) -> None:
    text = app_config(*described(tmp_path), artifacts)
    macros = dict(re.findall(r"#define (\w+) +([^\n\\]+)", text))
    expected = {
        "NN_WIDTH": "(320)",
        "NN_HEIGHT": "(240)",
        "NN_BPP": "(3)",
        "COLOR_MODE": "COLOR_RGB",
        "ASPECT_RATIO_MODE": "ASPECT_RATIO_FIT",
        "CAMERA_FLIP": "CMW_MIRRORFLIP_FLIP_MIRROR",
        "CAMERA_RESOLUTION": "(CAMERA_R320x240)",
        "CAM_RES_WIDTH": "(320)",
        "NB_CLASSES": "(3)",
        "POSTPROCESS_TYPE": "POSTPROCESS_OD_YOLO_V8_UF",
        "AI_OD_CONF_THRESHOLD": "(0.4f)",
        "AI_OD_MAX_BOXES": "(10)",
        "AI_OD_ANCHORS": "n6_ai_od_anchors",
        "NN_OUT0_SCALE": "(0.00390625f)",
        "NN_OUT0_ZERO_POINT": "(-128)",
        "LCD_FG_WIDTH": "(800)",
        "WELCOME_MSG_1": '"Object detection"',
    }
    assert expected.items() <= macros.items()


def test_a_c_compiler_takes_it_and_the_classes_come_out_as_they_went_in(
    tmp_path: Path, artifacts: NetworkArtifacts
) -> None:
    application, classes = described(tmp_path)
    (tmp_path / "app_config.h").write_text(app_config(application, classes, artifacts))
    (tmp_path / "main.c").write_text(
        '#include "app_config.h"\n#include <stdio.h>\nCLASSES_TABLE;\n'
        "int main(void) { for (int i = 0; i < NB_CLASSES; i++) puts(classes_table[i]);\n"
        '  printf("%g %d\\n", (double)NN_OUT0_SCALE, NN_OUT0_ZERO_POINT); return 0; }\n'
    )
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-trigraphs"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed == [*classes, "0.00390625 -128"]


def test_the_same_input_gives_the_same_header(tmp_path: Path, artifacts: NetworkArtifacts) -> None:
    application, classes = described(tmp_path)
    assert app_config(application, classes, artifacts) == app_config(application, classes, artifacts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Input("rgb", width=321), "N6-APP-003: the network's input has width 320, 1 pixels off the 321 declared"),
        (Input("grey"), "N6-APP-003: the network's input has 3 channels, but colour 'grey' has 1"),
    ],
)
def test_an_input_that_is_not_as_described(artifacts: NetworkArtifacts, change: Input, message: str) -> None:
    with pytest.raises(N6Error, match=message):
        app_config(Application(input=change), (), artifacts)


def test_an_input_that_is_no_picture(artifacts: NetworkArtifacts) -> None:
    vector = replace(artifacts, inputs=(IoBuffer("in", 0, 10, "int8", (1, 10), 1.0, 0),))
    with pytest.raises(N6Error, match=r"shape \[1, 10\]: it is not a picture"):
        app_config(Application(), (), vector)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("od_yolo_v8_uf", "od_yolo_v2_fu", "did you mean 'od_yolo_v2_uf'"),
        (
            "AI_OD_MAX_BOXES",
            "max_boxes",
            "model.yaml:10: application.post_processing.constants.max_boxes: error N6-APP-001",
        ),
        ('"n6build"]', '"n6build", more]', "N6-APP-002: 3 lines, the display has two"),
        ("width: 320", "width: 0", "0 is outside 1..4096"),
        ("camera_flip", "camera_flop", "did you mean 'camera_flip'"),
    ],
)
def test_a_mistake_in_the_description_has_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(N6Error) as caught:
        described(tmp_path, MODEL_YAML.replace(old, new, 1))
    assert message in str(caught.value)


def test_post_processing_without_constants(artifacts: NetworkArtifacts) -> None:
    text = app_config(Application(post_processing=PostProcessing("none")), (), artifacts)
    assert "POSTPROCESS_NONE" in text
    assert "CLASSES_TABLE" not in text


def test_texts_cannot_leave_their_literal() -> None:
    assert c_string('a"\\\n??/ü') == '"a\\042\\134\\012\\077\\077/\\303\\274"'
