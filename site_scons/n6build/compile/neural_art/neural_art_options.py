"""The key network.neural_art of a model.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.yaml_schema import FileName, Range

# Grades of epochs beyond those that were seen of ST's compiler.
Allowed = Literal["larger", "unseen"]


@dataclass(frozen=True)
class NpuOptions:
    """Options of backend neural_art in a model.yaml.

    Attributes:
        calibration: Name of an .npy file beside the model.yaml with inputs that decide how large
            sums may become. By default these are the test vectors.
        margin: Factor by which sums may be larger than on those inputs.
        allow: Grades of epochs that are accepted besides those that were seen. `larger` accepts
            sizes beyond those seen, `unseen` accepts further kinds.
        envelope: Name of a file beside the model.yaml with the kinds and sizes that were seen,
            instead of n6build's.
        guard: Bytes before and behind each buffer that no epoch may write, 0 for none. They are
            inputs and outputs of the network, behind those of the model. Target ladder fills them
            before each inference and checks them after it.
    """

    calibration: FileName | None = None
    margin: Annotated[float, Range(1, 64)] = 1.5
    allow: tuple[Allowed, ...] = field(default_factory=tuple)
    envelope: FileName | None = None
    guard: Annotated[int, Range(0, 4096)] = 0
