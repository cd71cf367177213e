"""The key network.neural_art of a model.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.yaml_schema import FileName, Range

# Of an epoch: beyond what was seen of ST's compiler.
Allowed = Literal["larger", "unseen"]


@dataclass(frozen=True)
class NpuOptions:
    """calibration: .npy file beside the model.yaml with inputs that decide how large sums may become; by default the test
    vectors. margin: how much larger than on those they may be. allow: grades of epochs that are accepted besides those that were
    seen: `larger` than seen, a kind that is `unseen`. envelope: file beside the model.yaml with what was seen, instead of
    n6build's. guard: bytes before and behind each buffer that no epoch may write, 0 for none; they are inputs and outputs of the
    network, behind those of the model: target ladder fills them before each inference, and looks at them after it."""

    calibration: FileName | None = None
    margin: Annotated[float, Range(1, 64)] = 1.5
    allow: tuple[Allowed, ...] = field(default_factory=tuple)
    envelope: FileName | None = None
    guard: Annotated[int, Range(0, 4096)] = 0
