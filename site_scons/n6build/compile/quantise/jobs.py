"""Jobs and answers of the process that quantises."""

from __future__ import annotations

from dataclasses import dataclass, field

from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise


@dataclass(frozen=True)
class QuantiseJob:
    """A job of the quantiser.

    Attributes:
        model: Float model.
        samples: Files with samples.
        settings: Settings of model.yaml.
        compiles: The reference compiler takes the int8 model, and can refuse operators beforehand.
        preprocess: Pre-processing of pictures, sounds and tables.
    """

    model: str
    samples: tuple[str, ...]
    settings: Quantise
    compiles: bool
    preprocess: Preprocess = field(default_factory=Preprocess)


@dataclass(frozen=True)
class QuantiseAnswer:
    """The answer of the process that quantises, beside the file.

    Attributes:
        lines: Lines about shapes and outputs, and about the samples as the last one.
    """

    lines: tuple[str, ...]
