"""Instruction budgets of the kernels of uint8 and int16 models.

test_instruction_budget.py has those of int8.
"""

from typing import Any

import numpy as np

from kernels import int16_cases, uint8_cases
from kernels.helium import Budgets, Helium

_RNG = np.random.default_rng(1)
_SAME: dict[str, Any] = {"padding": "SAME"}

# Each budget is the highest number of instructions per unit of work, a tenth above the measurement.
BUDGETS: Budgets = [
    (0.59, uint8_cases.conv_2d(_RNG, (32, 32, 16), 16, (3, 3), **_SAME)),
    (0.61, uint8_cases.conv_2d(_RNG, (16, 16, 64), 64, (1, 1), **_SAME)),
    (3.56, uint8_cases.depthwise_conv_2d(_RNG, (24, 24, 32), 1, (3, 3), **_SAME)),
    (3.65, uint8_cases.depthwise_conv_2d(_RNG, (6, 6, 128), 1, (3, 3), **_SAME)),
    (0.49, uint8_cases.fully_connected(_RNG, 1, 640, 128)),
    (145, uint8_cases.average_pool_2d(_RNG, (7, 7, 128), (7, 7), stride=(1, 1), padding="VALID")),
    (0.90, int16_cases.conv_2d(_RNG, (32, 32, 16), 16, (3, 3), **_SAME)),
    (1.18, int16_cases.conv_2d(_RNG, (16, 16, 64), 64, (1, 1), **_SAME)),
    (3.56, int16_cases.depthwise_conv_2d(_RNG, (24, 24, 32), 1, (3, 3), **_SAME)),
    (0.76, int16_cases.fully_connected(_RNG, 1, 640, 128)),
    (15.2, int16_cases.sum_(_RNG, (1, 100, 100))),
    (6.1, int16_cases.mul(_RNG, (1, 100, 100))),
    (19, int16_cases.pool("MAX")(_RNG, (34, 27, 64), (3, 3), stride=(2, 2), padding="VALID")),
    (382, int16_cases.pool("AVERAGE")(_RNG, (25, 5, 64), (25, 5), stride=(25, 5), padding="VALID")),
    (26, int16_cases.function("LOGISTIC")(_RNG, 1000)),
    (26, int16_cases.function("TANH")(_RNG, 1000)),
    (69, int16_cases.softmax(_RNG, 1, 40)),
    (8.53, int16_cases.quantize(_RNG, 10_000)),
    (3.58, int16_cases.dequantize(_RNG, 10_000)),
    (9.08, int16_cases.requantize(_RNG, 10_000)),
]


def test_kernels_keep_their_instruction_budgets(helium: Helium) -> None:
    helium.assert_within(BUDGETS)
