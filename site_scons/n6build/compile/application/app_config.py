"""app_config.h: the network in the names of ST's getting-started applications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.compile.application.h7_project import camera_resolution
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.describe.application import Application

TEMPLATE = TEMPLATES / "app_config.h.j2"
# These are the values of ASPECT_RATIO_MODE, and of CAMERA_FLIP as the camera middleware defines them.
_ASPECTS = {"fit": "ASPECT_RATIO_FIT", "crop": "ASPECT_RATIO_CROP", "padding": "ASPECT_RATIO_FIT"}
_FLIPS = {"none": "NOFLIP", "horizontal": "FLIP", "vertical": "MIRROR", "both": "FLIP_MIRROR"}
_COLOURS = {"rgb": ("COLOR_RGB", 3), "bgr": ("COLOR_BGR", 3), "grey": ("COLOR_MODE_GREY", 1)}


@dataclass(frozen=True)
class InProject:
    """A header for a project that has an app_config.h itself.

    Attributes:
        own: Name of the project's header, which the new one includes; empty without one.
        sets_camera: Whether the header also sets the camera and the display.
    """

    own: str = ""
    sets_camera: bool = True


def app_config(
    application: Application, classes: Sequence[str], artifacts: NetworkArtifacts, project: InProject = InProject()
) -> str:
    """Return the header of one network.

    Args:
        application: Key `application` of model.yaml.
        classes: Names of the classes.
        artifacts: The compiled network.
        project: The project that the header is for.

    Raises:
        N6Error: N6-APP-003 if its input is not a picture as described; N6-APP-010 if the picture
            exceeds VGA.
    """
    height, width, channels = _picture(application, artifacts)
    mode, bytes_per_pixel = _COLOURS[application.input.colour]
    if channels != bytes_per_pixel:
        raise N6Error(
            "N6-APP-003",
            f"the network's input has {channels} channels, but colour '{application.input.colour}' has "
            f"{bytes_per_pixel}",
            where="application.input.colour",
            hint="set application.input.colour: grey for 1 channel, rgb or bgr for 3",
        )
    return render(
        TEMPLATE,
        {
            "application": application,
            "guard": "N6_APP_CONFIG_H" if project.own else "APP_CONFIG_H",
            "own": project.own,
            "aspect": _ASPECTS.get(application.aspect, "ASPECT_RATIO_FULLSCREEN"),
            "flip": _FLIPS[application.camera_flip],
            "colour_mode": mode,
            "bytes_per_pixel": bytes_per_pixel,
            "camera": camera_resolution(width, height, application.aspect) if project.sets_camera else None,
            "width": width,
            "height": height,
            "classes": [c_string(name) for name in classes],
            "type": application.post_processing.type,
            "constants": [(name, _constant(value)) for name, value in application.post_processing.constants.items()],
            "outputs": [_output(port) for port in artifacts.outputs],
            "welcome": [c_string(text) for text in (*application.welcome, "", "")[:2]],
        },
    )


def _picture(application: Application, artifacts: NetworkArtifacts) -> tuple[int, int, int]:
    """Return height, width and channels of the first input, channels last."""
    shape = artifacts.inputs[0].shape if artifacts.inputs else ()
    if len(shape) != 4:
        raise N6Error(
            "N6-APP-003",
            f"the network's input has the shape {list(shape)}: it is not a picture (1, height, width, channels)",
            where="application",
            hint="omit the key 'application'",
        )
    _, height, width, channels = shape
    for key, wanted, found in (("height", application.input.height, height), ("width", application.input.width, width)):
        if wanted is not None and wanted != found:
            what = f"the network's input has {key} {found}, {abs(wanted - found)} pixels off the {wanted} declared"
            raise N6Error(
                "N6-APP-003",
                what,
                where=f"application.input.{key}",
                hint="omit the key: n6build takes it from the network",
            )
    return height, width, channels


def c_string(text: str) -> str:
    """Return a C literal: quotes, backslashes and control characters escaped.

    Letters outside ASCII are UTF-8 in octal.
    """
    parts = []
    for byte in text.encode():
        letter = chr(byte)
        # A question mark could begin a trigraph.
        parts.append(letter if 0x20 <= byte < 0x7F and letter not in '"\\?' else f"\\{byte:03o}")
    return '"' + "".join(parts) + '"'


def _constant(value: int | float | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(_number(float(item)) for item in value) + "}"
    return f"({_number(value)})"


def _number(value: int | float) -> str:
    """Return a number in C, floats as the shortest decimal in single precision."""
    return f"{value!r}f" if isinstance(value, float) else str(value)


def _output(port: IoBuffer) -> dict[str, object]:
    return {
        "type": port.type,
        "bytes": port.bytes,
        "scale": _number(port.scale),
        "zero_point": port.zero_point,
        "shape": " x ".join(str(size) for size in port.shape),
    }
