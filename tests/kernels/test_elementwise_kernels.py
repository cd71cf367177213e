"""Operators on two elements: every pair of elements, and instruction budgets."""

from pathlib import Path

import numpy as np
import pytest

from kernels import cortex_m55, elementwise_cases
from kernels.cortex_m55 import Call
from kernels.host_kernels import HostKernels
from kernels.test_helium_kernels import assert_equals_twins
from kernels.test_instruction_budget import REPEATS
from kernels.test_plain_kernels import assert_equals_reference

OPERATORS = ("DIV", "MUL", "PRELU", "SQUARED_DIFFERENCE", "SUB")
_RNG = np.random.default_rng(2)
_IMAGE, _PIXEL, _CHANNELS = (1, 24, 24, 32), (1, 24, 24, 1), (1, 1, 1, 32)

# Each budget is the highest number of instructions per element, a tenth above the measurement.
BUDGETS = [
    (0.35, elementwise_cases.broadcast(_RNG, "MAXIMUM", both=(_IMAGE, _IMAGE))),
    (4.4, elementwise_cases.broadcast(_RNG, "MUL", both=(_IMAGE, _IMAGE))),
    (6.6, elementwise_cases.broadcast(_RNG, "MUL", both=(_IMAGE, _CHANNELS))),
    (7.2, elementwise_cases.broadcast(_RNG, "MUL", both=(_IMAGE, _PIXEL))),
    (5.3, elementwise_cases.broadcast(_RNG, "MUL", both=(_IMAGE, (1,)))),
    (7.5, elementwise_cases.broadcast(_RNG, "SUB", both=(_IMAGE, _IMAGE))),
    (8.4, elementwise_cases.broadcast(_RNG, "SUB", both=((1,), _IMAGE))),
    (9.8, elementwise_cases.broadcast(_RNG, "ADD", both=(_IMAGE, _CHANNELS))),
    (8.9, elementwise_cases.broadcast(_RNG, "PRELU", both=(_IMAGE, _CHANNELS))),
    (6.9, elementwise_cases.broadcast(_RNG, "PRELU", both=(_IMAGE, _CHANNELS), constant="b")),
    (4.7, elementwise_cases.broadcast(_RNG, "MUL", both=(_CHANNELS, _IMAGE), constant="a")),
    (10.1, elementwise_cases.broadcast(_RNG, "SQUARED_DIFFERENCE", both=(_IMAGE, _CHANNELS))),
]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("seed", range(10))
def test_every_pair_of_elements_equals_the_reference(host_kernels: HostKernels, operator: str, seed: int) -> None:
    assert_equals_reference(host_kernels, elementwise_cases.every_pair(np.random.default_rng(seed), operator))


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_pair_of_elements_equals_the_plain_twin(
    operator: str,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    calls = [Call(elementwise_cases.every_pair(np.random.default_rng(seed), operator)) for seed in range(5)]
    assert_equals_twins(host_kernels, machine, runners["-O2"], calls, tmp_path)


def test_kernels_of_two_elements_keep_their_instruction_budgets(
    host_kernels: HostKernels, machine: cortex_m55.Machine, runners: dict[str, Path], tmp_path: Path
) -> None:
    calls = [Call(case) for _, case in BUDGETS]
    exceeded = []
    for (budget, case), result in zip(
        BUDGETS, cortex_m55.run(machine, runners["-O2"], calls, tmp_path, REPEATS), strict=True
    ):
        assert result.output == host_kernels.run(case).tobytes(), str(case)
        each = result.instructions / case.work
        print(f"{result.instructions:9d} {each:8.3f} {case}")
        if each > budget:
            exceeded.append(f"{case}: {each:.3f}, budget {budget}")
    assert exceeded == []
