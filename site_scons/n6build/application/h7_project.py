"""The sources of an STM32H747 application that a compiled network changes: main.h, main.c and ai_interface.h."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.application.activation_buffers import (
    activation_block,
    input_macros,
    picture_bytes,
    place_pictures,
)
from n6build.application.camera import camera_resolution
from n6build.application.description import Application
from n6build.application.generated_block import replace_block, replace_defines, replace_section
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.network.artifacts.c_info_reader import CInfo


@dataclass(frozen=True)
class ProjectFiles:
    """interface_h: ai_interface.h."""

    main_h: Path
    main_c: Path
    interface_h: Path


def patched_files(
    files: ProjectFiles, network: CInfo, application: Application | None, axiram_bytes: int
) -> dict[Path, bytes]:
    """The new content of those files that change. axiram_bytes: AXI RAM for activations and pictures together.

    Raises N6-APP-011 where the network's input is not a picture, N6-APP-010 where it exceeds VGA, N6-APP-02x where a file lacks
    what is to be replaced.
    """
    described = application or Application()
    height, width, channels = _picture(network)
    camera = camera_resolution(width, height, described.aspect)
    pictures = place_pictures(
        network.pools,
        axiram_bytes,
        captured_bytes=picture_bytes(*camera.pixels, channels),
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
            read_bytes(files.interface_h), input_macros(network.pools, network.inputs) + "\n", files.interface_h.name
        ),
    }
    return {path: data for path, data in wanted.items() if data != read_bytes(path)}


def _picture(network: CInfo) -> tuple[int, int, int]:
    shape = network.inputs[0].shape if network.inputs else ()
    if len(shape) != 4:
        what = f"the network's input has the shape {list(shape)}: it is not a picture (1, height, width, channels)"
        raise N6Error("N6-APP-011", what, where="network_c_info.json")
    return shape[1], shape[2], shape[3]
