"""Instructions per element of moving and resizing.

`pytest -rP` prints the measurement.
"""

import movement_models as ops
import numpy as np
import pytest

from kernels import movement_cases
from kernels.helium import Helium

# Each budget is the highest number of instructions per element, a tenth above the measurement.
BUDGETS = [
    (0.70, movement_cases.transpose((1, 24, 24, 32), (0, 3, 1, 2))),
    (3.1, movement_cases.transpose((1, 32, 24, 24), (0, 2, 3, 1))),
    (0.51, movement_cases.transpose((1, 24, 24, 32), (0, 2, 1, 3))),
    (1.8, movement_cases.transpose((1, 24, 24, 32), (0, 3, 1, 2), np.int16)),
    (0.46, movement_cases.model_case(ops.strided_slice((1, 24, 24, 64), (0, 0, 0, 32), (1, 24, 24, 64)))),
    (1.9, movement_cases.model_case(ops.strided_slice((1, 24, 24, 8), (0, 0, 0, 1), (1, 24, 24, 7)))),
    (2.2, movement_cases.model_case(ops.space_to_depth((1, 48, 48, 3), 2))),
    (0.51, movement_cases.model_case(ops.depth_to_space((1, 24, 24, 64), 2))),
    (0.36, movement_cases.resize("ResizeNearestNeighbor", (12, 12), (24, 24), 64)),
    (2.9, movement_cases.resize("ResizeBilinear", (12, 12), (24, 24), 64, half_pixel_centers=True)),
    (5.0, movement_cases.resize("ResizeBilinear", (33, 33), (65, 65), 21, align_corners=True)),
    (7.2, movement_cases.resize("ResizeBilinear", (33, 33), (57, 57), 21, half_pixel_centers=True)),
    (13.2, movement_cases.resize("ResizeBilinear", (33, 33), (66, 66), 1, half_pixel_centers=True)),
    (66, movement_cases.model_case(ops.cast((1, 2000), np.int32, np.float32))),
]


# In every run: test_instruction_budget.py, test_type_budgets.py.
@pytest.mark.slow
@pytest.mark.parametrize("optimisation", ["-O2", "-O3"])
def test_kernels_keep_their_instruction_budgets(helium: Helium, optimisation: str) -> None:
    helium.assert_within(BUDGETS, optimisation)
