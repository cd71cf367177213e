"""Operators on two elements: every pair of elements, and instruction budgets."""

import numpy as np
import pytest

from kernels import elementwise_cases
from kernels.helium import Helium
from kernels.host_kernels import HostKernels
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
def test_every_pair_of_elements_equals_the_plain_twin(operator: str, helium: Helium) -> None:
    helium.assert_equals_twins(
        [elementwise_cases.every_pair(np.random.default_rng(seed), operator) for seed in range(5)]
    )


def test_kernels_of_two_elements_keep_their_instruction_budgets(helium: Helium) -> None:
    helium.assert_within(BUDGETS)
