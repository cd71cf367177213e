"""Sources of an STM32H747 application that a compiled network changes.

They are main.h, main.c and ai_interface.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.compile.application.activation_buffers import (
    activation_block,
    input_macros,
    picture_bytes,
    place_pictures,
)
from n6build.compile.application.camera import camera_resolution
from n6build.compile.application.generated_block import replace_block, replace_defines, replace_section
from n6build.compile.artifacts.c_info_pools import ActivationPools
from n6build.compile.model_facts import read_model_facts
from n6build.describe.application import Application

# ST's applications have grey pictures, and RGB565 for a network with three channels.
_CHANNELS = (1, 3)
Picture = tuple[int, int, int]


@dataclass(frozen=True)
class ProjectFiles:
    """The sources to change; interface_h is ai_interface.h."""

    main_h: Path
    main_c: Path
    interface_h: Path


def patched_files(
    files: ProjectFiles, network: ActivationPools, picture: Picture, application: Application | None, axiram_bytes: int
) -> dict[Path, bytes]:
    """Return the new content of those files that change.

    Args:
        files: Sources of the project.
        network: Pools from the network's c_info.
        picture: Height, width and channels of the network's input.
        application: Key `application` of the model.yaml, for the aspect.
        axiram_bytes: AXI RAM for activations and pictures together.

    Raises:
        N6Error: N6-APP-010 if the picture exceeds VGA; N6-APP-02x if a file lacks a part to
            replace.
    """
    height, width, channels = picture
    camera = camera_resolution(width, height, (application or Application()).aspect)
    pictures = place_pictures(
        network.pools,
        axiram_bytes,
        captured_bytes=picture_bytes(*camera.buffer, channels),
        rescaled_bytes=picture_bytes(width, height, channels),
    )
    macros = {"CAMERA_RESOLUTION": camera.mode, "CAM_RES_WIDTH": camera.width, "CAM_RES_HEIGHT": camera.height}
    main_c = replace_block(read_bytes(files.main_c), activation_block(network.pools) + "\n", files.main_c.name)
    main_c = replace_section(main_c, "CapturedImage_Buffer", pictures.captured, files.main_c.name)
    main_c = replace_section(main_c, "RescaledImage_Buffer", pictures.rescaled, files.main_c.name)
    wanted = {
        files.main_h: replace_defines(read_bytes(files.main_h), macros, files.main_h.name),
        files.main_c: main_c,
        files.interface_h: replace_block(
            read_bytes(files.interface_h), input_macros(network.input_index) + "\n", files.interface_h.name
        ),
    }
    return {path: data for path, data in wanted.items() if data != read_bytes(path)}


def picture_of(network: ActivationPools, model: Path | None) -> Picture:
    """Return height, width and channels of the network's input.

    They come from the model file, as in ST's script, or from c_info without one.

    Raises:
        N6Error: N6-APP-011 if the input is not a picture with one or three channels; N6-MODEL-020
            for the file.
    """
    shape, where = (network.picture or network.input_shape), "network_c_info.json"
    if model is not None:
        inputs = read_model_facts(model).inputs
        shape, where = _channels_last(inputs[0].shape if inputs else ()), model.name
    if len(shape) != 3 or shape[2] not in _CHANNELS or min(shape) < 1:
        what = f"the network's input has the shape {list(shape)}: it is not a picture with 1 or 3 channels"
        raise N6Error(
            "N6-APP-011",
            what,
            where=where,
            hint="pass a model whose input is height x width x channels, for example 224 x 224 x 3",
        )
    return shape[0], shape[1], shape[2]


def mismatch(network: ActivationPools, picture: Picture) -> str | None:
    """Return a note if model and c_info disagree on the input's picture, else None."""
    if picture == network.picture:
        return None
    compiled = " x ".join(map(str, network.picture or network.input_shape))
    return (
        f"the model's input is {' x '.join(map(str, picture))}, but that of c_info is {compiled}: the files "
        f"belong to different networks"
    )


def _channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without the batch, channels last; ONNX has channels first."""
    picture = shape[-3:]
    first = len(picture) == 3 and picture[0] in _CHANNELS and picture[2] not in _CHANNELS
    return (picture[1], picture[2], picture[0]) if first else picture
