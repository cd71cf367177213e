"""Pre-processing of samples for a network: the key `preprocess`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.yaml_schema import Range

Hertz = Annotated[int, Range(1, 1_000_000)]
Length = Annotated[int, Range(1, 1 << 20)]
Factor = Annotated[float, Range(-1_000_000, 1_000_000)]
_OF_BYTES = 1 / 255


@dataclass(frozen=True)
class Sound:
    """Features of a sound.

    Attributes:
        rate: Samples per second; a file with another rate is refused.
        features: Values that the network takes: the samples from -1 to 1, the logarithm of mel bands, or cepstra of them.
        window: Samples of a frame, which has a Hann window.
        hop: Samples from the start of a frame to the start of the next.
        fft: Length of the Fourier transform; frames are padded to it with zeros.
        bands: Number of mel bands.
        low_hz: Lower edge of the first band.
        high_hz: Upper edge of the last band.
        standardise: The features of a clip get mean 0 and deviation 1.
    """

    rate: Hertz = 16_000
    features: Literal["samples", "log-mel", "mfcc"] = "samples"
    window: Length = 400
    hop: Length = 160
    fft: Length = 512
    bands: Length = 40
    low_hz: Annotated[float, Range(0, 1_000_000)] = 20.0
    high_hz: Annotated[float, Range(0, 1_000_000)] = 7600.0
    standardise: bool = False


@dataclass(frozen=True)
class Part:
    """A part of a picture, which may be larger than the picture.

    Attributes:
        left: Pixels from the left edge of the picture.
        top: Pixels from the upper edge of the picture.
        width: Pixels.
        height: Pixels.
    """

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Preprocess:
    """The way from a picture, a sound or a table to the values of an input.

    Real value = (value of the file * scale - mean) / deviation.

    Attributes:
        resize: Pictures of another size: crop fills the input and cuts the rest, fit shows all with black borders, stretch
            changes the aspect.
        colour: Order of the channels.
        scale: Factor for the pixels 0 to 255; sounds and tables have 1.
        mean: Subtracted from each channel, after the scale; one number, or one for each channel.
        deviation: Divisor of each channel.
        sound: Features of sounds.
    """

    resize: Literal["crop", "fit", "stretch"] = "crop"
    colour: Literal["rgb", "bgr"] = "rgb"
    scale: Factor = _OF_BYTES
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    sound: Sound = field(default_factory=Sound)

    def shown_part(self, picture: tuple[int, int], size: tuple[int, int]) -> Part:
        """Return the part of a picture that fills an input.

        Args:
            picture: Width and height of the picture.
            size: Width and height of the input.
        """
        width, height = picture
        if self.resize == "stretch":
            return Part(0, 0, width, height)
        wanted = size[0] / size[1]
        if (width / height >= wanted) == (self.resize == "crop"):
            shown = wanted * height
            return Part((width - shown) / 2, 0, shown, height)
        shown = width / wanted
        return Part(0, (height - shown) / 2, width, shown)
