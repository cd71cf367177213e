"""Random values of kernel cases."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def int8(rng: np.random.Generator, shape: Sequence[int]) -> NDArray[np.int8]:
    return rng.integers(-128, 128, shape, dtype=np.int8)


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]
