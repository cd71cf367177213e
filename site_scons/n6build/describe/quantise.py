"""Settings of stage 0: the key `quantise` in model.yaml.

Stage 0 makes an int8 model of a float one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.yaml_schema import FileName, Range

# Fewer samples show too little of the range of an activation.
LEAST_SAMPLES = 8
MOST = 200
Method = Literal["minmax", "percentile", "entropy"]
Count = Annotated[int, Range(LEAST_SAMPLES, 1_000_000)]
Decibels = Annotated[float, Range(0, 200)]
Points = Annotated[float, Range(0, 100)]
Dimension = Annotated[int, Range(1, 1 << 20)]


@dataclass(frozen=True)
class Least:
    """Limits of the int8 model's quality; a build that misses one fails.

    Attributes:
        sqnr_db: Least signal-to-quantisation-noise ratio of each output, in decibels, against the float model.
        accuracy_drop: Largest loss of accuracy or mean IoU against the float model, in percentage points. Without labels,
            of the agreement of classes.
    """

    sqnr_db: Decibels | None = None
    accuracy_drop: Points | None = None


@dataclass(frozen=True)
class Quantise:
    """The way from a float model to an int8 one.

    Attributes:
        samples: Inputs for the calibration: a .npy file with a row for each, a .npz file with an array for each input, or a
            folder of arrays, pictures (PNG, JPEG), sounds (WAV) or tables (CSV).
        dataset: Other inputs, in the same formats, on which the accuracy is measured.
        labels: Right class of each input of the dataset, else of each sample: a .npy file of numbers, a text file with a
            name or number in each line, or a .csv file with the name of an input before it. For segmentation, a folder of
            pictures with the class of each pixel. Without it, the names of the folders of pictures and sounds.
        method: Range of an activation: minmax takes all values, percentile leaves out rare ones, entropy keeps the
            distribution.
        per_channel: One scale for each output channel of the weights, instead of one for all.
        activations: Type of activations.
        exclude: Nodes, by name or operator, that stay float32.
        outputs: Tensors that become the outputs, in place of the model's; heads behind them are removed.
        shape: Sizes of open dimensions by name, such as batch or height; batch is 1 by default.
        most: Number of samples that are used, spread evenly; also of the dataset.
        sha256: SHA-256 of the float file in hex; `sha256` beside `file` is that of the int8 file.
        least: Limits that make a build fail.
    """

    samples: FileName | None = None
    dataset: FileName | None = None
    labels: FileName | None = None
    method: Method = "minmax"
    per_channel: bool = True
    activations: Literal["int8", "uint8", "int16"] = "int8"
    exclude: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    shape: dict[str, Dimension] = field(default_factory=dict)
    most: Count = MOST
    sha256: str | None = None
    least: Least = field(default_factory=Least)
