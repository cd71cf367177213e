"""Instructions that the kernels of uint8 and int16 models execute, as test_instruction_budget.py has them for int8."""

from pathlib import Path

import numpy as np

from kernels import cortex_m55, int16_cases, uint8_cases
from kernels.cortex_m55 import Call
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import Case

_RNG = np.random.default_rng(1)
_SAME = {"padding": "SAME"}

# At most so many instructions for each unit of work, a tenth above what was measured.
BUDGETS: list[tuple[float, Case]] = [
    (9, uint8_cases.conv_2d(_RNG, (32, 32, 16), 16, (3, 3), **_SAME)),
    (9, uint8_cases.conv_2d(_RNG, (16, 16, 64), 64, (1, 1), **_SAME)),
    (9, uint8_cases.depthwise_conv_2d(_RNG, (24, 24, 32), 1, (3, 3), **_SAME)),
    (9, uint8_cases.depthwise_conv_2d(_RNG, (6, 6, 128), 1, (3, 3), **_SAME)),
    (9, uint8_cases.fully_connected(_RNG, 1, 640, 128)),
    (9, uint8_cases.average_pool_2d(_RNG, (7, 7, 128), (7, 7), stride=(1, 1), padding="VALID")),
    (9, int16_cases.conv_2d(_RNG, (32, 32, 16), 16, (3, 3), **_SAME)),
    (9, int16_cases.conv_2d(_RNG, (16, 16, 64), 64, (1, 1), **_SAME)),
    (9, int16_cases.depthwise_conv_2d(_RNG, (24, 24, 32), 1, (3, 3), **_SAME)),
    (9, int16_cases.fully_connected(_RNG, 1, 640, 128)),
    (99, int16_cases.sum_(_RNG, (1, 100, 100))),
    (99, int16_cases.mul(_RNG, (1, 100, 100))),
    (99, int16_cases.CASES["max_pool_2d_int16"](_RNG, (34, 27, 64), (3, 3), stride=(2, 2), padding="VALID")),
    (99, int16_cases.CASES["average_pool_2d_int16"](_RNG, (25, 5, 64), (25, 5), stride=(25, 5), padding="VALID")),
    (99, int16_cases.CASES["logistic_int16"](_RNG, 1000)),
    (99, int16_cases.CASES["tanh_int16"](_RNG, 1000)),
    (99, int16_cases.softmax(_RNG, 1, 40)),
    (99, int16_cases.quantize(_RNG, 10_000)),
    (99, int16_cases.dequantize(_RNG, 10_000)),
    (99, int16_cases.requantize(_RNG, 10_000)),
]


def test_kernels_keep_their_instruction_budgets(
    host_kernels: HostKernels, machine: cortex_m55.Machine, runners: dict[str, Path], tmp_path: Path
) -> None:
    exceeded = []
    results = cortex_m55.run(machine, runners["-O2"], [Call(case) for _, case in BUDGETS], tmp_path, repeats=4)
    for (budget, case), result in zip(BUDGETS, results, strict=True):
        each = result.instructions / case.work
        print(f"{result.instructions:9d} {each:8.3f} {case}")
        assert result.output == host_kernels.run(case).tobytes(), str(case)
        if each > budget:
            exceeded.append(f"{case}: {each:.3f}, budget {budget}")
    assert exceeded == []
