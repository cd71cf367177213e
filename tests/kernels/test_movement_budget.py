"""Instructions per element of moving and resizing.

`pytest -rP` prints the measurement.
"""

from pathlib import Path

import movement_models as ops
import numpy as np
import pytest

from kernels import cortex_m55, movement_cases
from kernels.cortex_m55 import Call
from kernels.host_kernels import HostKernels

REPEATS = 4
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
def test_kernels_keep_their_instruction_budgets(
    host_kernels: HostKernels, machine: cortex_m55.Machine, runners: dict[str, Path], tmp_path: Path
) -> None:
    exceeded = []
    for level in ("-O2", "-O3"):
        results = cortex_m55.run(machine, runners[level], [Call(case) for _, case in BUDGETS], tmp_path, REPEATS)
        for (budget, case), result in zip(BUDGETS, results, strict=True):
            assert result.output == host_kernels.run(case).tobytes(), str(case)
            each = result.instructions / case.work
            print(f"{level} {result.instructions:9d} {each:8.3f} {case}")
            if each > budget:
                exceeded.append(f"{level} {case}: {each:.3f}, budget {budget}")
    assert exceeded == []
