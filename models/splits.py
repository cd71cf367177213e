"""The splits of the synthetic tasks, and their clips as arrays.

A task is a module with `SHAPE`, `CLASSES` and `clip(split, index) -> (features, class)`.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TRAIN, TEST, VECTORS = 0, 1, 2


class Task(Protocol):
    """A module with a synthetic task.

    Attributes:
        SHAPE: Shape of a clip's features.
        CLASSES: Names of the classes.
    """

    @property
    def SHAPE(self) -> tuple[int, ...]: ...
    @property
    def CLASSES(self) -> tuple[str, ...]: ...
    def clip(self, split: int, index: int) -> tuple[NDArray[np.float32], int]: ...


def clips(task: Task, split: int, count: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the first clips of a split.

    Returns:
        Features (count, *SHAPE) and classes (count,).
    """
    pairs = [task.clip(split, index) for index in range(count)]
    return np.stack([features for features, _ in pairs]), np.array([label for _, label in pairs])
