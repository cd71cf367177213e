"""Jobs of the process that measures an int8 model."""

from __future__ import annotations

from dataclasses import dataclass, field

from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise


@dataclass(frozen=True)
class AccuracyJob:
    """A measurement.

    Attributes:
        float_model: The float model.
        int8_model: The int8 model that was made from it.
        samples: Files with samples.
        labels: File with labels, or pictures that are labels of pixels; empty without any.
        classes: Names of the classes.
        settings: Settings of stage 0.
        preprocess: Pre-processing of pictures, sounds and tables.
        by_folder: Folders of the samples name their classes.
        postprocess: Decoder of the outputs, or None.
    """

    float_model: str
    int8_model: str
    samples: tuple[str, ...]
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    settings: Quantise
    preprocess: Preprocess = field(default_factory=Preprocess)
    by_folder: bool = False
    postprocess: Postprocess | None = None
