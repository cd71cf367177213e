"""Key `application` of a model.yaml: how the application uses inputs and outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Document, Range
from n6build.describe.application_names import PostProcess

Aspect = Literal["crop", "fit", "padding", "fullscreen"]
Colour = Literal["rgb", "bgr", "grey"]
Dimension = Annotated[int, Range(1, 4096)]


@dataclass(frozen=True)
class Input:
    """The picture that the network takes.

    Attributes:
        colour: Order of the channels.
        width: Pixels; if omitted, those of the network's input.
        height: Pixels; if omitted, those of the network's input.
    """

    colour: Colour = "rgb"
    width: Dimension | None = None
    height: Dimension | None = None


@dataclass(frozen=True)
class PostProcessing:
    """Post-processing of the outputs.

    Attributes:
        type: Type of post-processing in ST's getting-started applications, in lower case.
        constants: Names of macros with a number or a list of numbers, in the order of the header.
    """

    type: PostProcess = "none"
    constants: dict[str, int | float | tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Application:
    """The application around a network.

    Attributes:
        input: The picture that the network takes.
        aspect: How the camera's picture becomes the network's.
        camera_flip: Flip of the camera's picture.
        post_processing: Post-processing of the outputs.
        lcd_width: Width of the display in pixels.
        lcd_height: Height of the display in pixels.
        welcome: Up to two lines on the display.
    """

    input: Input = field(default_factory=Input)
    aspect: Aspect = "crop"
    camera_flip: Literal["none", "horizontal", "vertical", "both"] = "none"
    post_processing: PostProcessing = field(default_factory=PostProcessing)
    lcd_width: Dimension = 800
    lcd_height: Dimension = 480
    welcome: tuple[str, ...] = ()


def check_application(application: Application, document: Document) -> None:
    """Check the key `application` of a model.yaml.

    Raises:
        N6Error: N6-APP-001 for a name that is not a valid macro; N6-APP-002 for too many lines.
    """
    for name in application.post_processing.constants:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            where = document.where("application", "post_processing", "constants", name)
            hint = "capital letters, digits and _, such as AI_OD_CONF_THRESHOLD"
            raise N6Error("N6-APP-001", f"'{name}' is not a valid name for a macro", where=where, hint=hint)
    if len(application.welcome) > 2:
        where = document.where("application", "welcome")
        raise N6Error("N6-APP-002", f"{len(application.welcome)} lines, the display has two", where=where)
