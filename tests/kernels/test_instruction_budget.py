"""Instructions of the Helium paths on layers of usual networks.

The unit is instructions per multiply-accumulate or per element. `pytest -rP
tests/kernels/test_instruction_budget.py` prints the measured table. An instruction is not a cycle:
a vector instruction takes two beats, and loads overlap with multiplications.
"""

import numpy as np
import pytest
from one_op_models import Quantisation

from kernels import elementwise_cases, kernel_cases, sequence_cases
from kernels.helium import Budgets, Helium

_RNG = np.random.default_rng(1)

# Each budget is the highest number of instructions per unit of work, a tenth above the measurement.
BUDGETS: Budgets = [
    (0.27, kernel_cases.conv_2d(_RNG, (32, 32, 16), 16, (3, 3))),
    (0.16, kernel_cases.conv_2d(_RNG, (16, 16, 64), 64, (3, 3))),
    (0.39, kernel_cases.conv_2d(_RNG, (70, 56, 1), 64, (7, 7), (2, 2), padding="VALID")),
    (0.28, kernel_cases.conv_2d(_RNG, (16, 16, 64), 64, (1, 1))),
    (0.27, kernel_cases.conv_2d(_RNG, (16, 14, 64), 128, (1, 1), (2, 2))),
    (0.78, kernel_cases.conv_2d(_RNG, (48, 48, 3), 16, (3, 3), (2, 2))),
    (1.48, kernel_cases.depthwise_conv_2d(_RNG, (24, 24, 32))),
    (2.95, kernel_cases.depthwise_conv_2d(_RNG, (48, 48, 8))),
    (1.52, kernel_cases.depthwise_conv_2d(_RNG, (12, 12, 64))),
    (1.61, kernel_cases.depthwise_conv_2d(_RNG, (25, 5, 64))),
    (1.67, kernel_cases.depthwise_conv_2d(_RNG, (6, 6, 128))),
    (2.06, kernel_cases.depthwise_conv_2d(_RNG, (3, 3, 256))),
    (1.14, kernel_cases.depthwise_conv_2d(_RNG, (14, 14, 96), 1, (5, 5))),
    (2.3, kernel_cases.depthwise_conv_2d(_RNG, (24, 24, 32), weight_min=-128, extreme=True)),
    (0.65, kernel_cases.conv_2d(_RNG, (49, 10, 1), 64, (10, 4), (2, 2))),
    (0.19, kernel_cases.fully_connected(_RNG, 1, 3584, 10)),
    (0.175, kernel_cases.fully_connected(_RNG, 1, 640, 128, "RELU")),
    (0.23, kernel_cases.fully_connected(_RNG, 1, 128, 128)),
    (0.25, kernel_cases.fully_connected(_RNG, 1, 128, 128, per_channel=True)),
    (1.38, kernel_cases.fully_connected(_RNG, 1, 8, 128)),
    (7.5, kernel_cases.add(_RNG, (1, 18432))),
    (0.48, kernel_cases.pool_2d(_RNG, "MAX", (34, 27, 64), (3, 3), (2, 2), "VALID")),
    (0.54, kernel_cases.pool_2d(_RNG, "MAX", (32, 32, 64))),
    (0.6, kernel_cases.pool_2d(_RNG, "AVERAGE", (25, 5, 64), (25, 5), (25, 5), "VALID")),
    (0.64, kernel_cases.pool_2d(_RNG, "AVERAGE", (8, 8, 64), (8, 8), (8, 8), "VALID")),
    (1.45, sequence_cases.mean(_RNG, (1, 25, 5, 64), (1, 2))),
    (1.45, sequence_cases.mean(_RNG, (1, 25, 5, 64), (3,))),
    (0.44, sequence_cases.extreme("REDUCE_MAX", _RNG, (1, 25, 5, 64), (1, 2))),
    (4.3, sequence_cases.search("Max", _RNG, (1, 16, 16, 21), -1)),
    (0.95, sequence_cases.lstm(_RNG, 10, 40, 64)),
    (0.36, sequence_cases.svdf(_RNG, 400, 64, 2, 10)),
    (0.86, sequence_cases.batch_matmul(_RNG, (1, 64, 32), (1, 64, 32), adj_y=True)),
    (1.45, sequence_cases.transpose_conv(_RNG, (32, 32, 32), 32, (2, 2))),
    (12.5, sequence_cases.by_rows("L2_NORMALIZATION", _RNG, (1, 4, 128), Quantisation(0.05, 3))),
    (135, sequence_cases.by_rows("LOG_SOFTMAX", np.random.default_rng(2), (1, 12), Quantisation(0.1, 3))),
    (0.22, kernel_cases.pad(_RNG, (32, 25, 64), [(1, 1), (1, 1), (0, 0)])),
    (350, kernel_cases.softmax(_RNG, 1, 10, 0.1)),
    (7.5, kernel_cases.requantize(_RNG, 10000, True, False)),
    (9.2, kernel_cases.quantize(_RNG, 10000, False)),
    (5.6, kernel_cases.dequantize(_RNG, 10000, False)),
    (0.22, kernel_cases.copy(_RNG, 10000)),
    (0.3, elementwise_cases.lookup(_RNG, 10000)),
]


@pytest.mark.parametrize("optimisation", ["-O2", "-O3"])
def test_kernels_keep_their_instruction_budgets(helium: Helium, optimisation: str) -> None:
    helium.assert_within(BUDGETS, optimisation)
