"""The plain twins give the bits of the reference interpreter."""

import cases
import numpy as np
import pytest
import reference_interpreter
from conftest import HostKernels
from descriptors import KERNELS, Case

BATCHES = 10
CASES_PER_BATCH = 30


def assert_equals_reference(host_kernels: HostKernels, case: Case) -> None:
    expected = reference_interpreter.outputs(case.model, *case.inputs)[0]
    computed = host_kernels.run(case).reshape(expected.shape)
    differing = int(np.sum(computed != expected))
    assert differing == 0, f"{case}: {differing} of {expected.size} differ"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_operators_equal_the_reference(host_kernels: HostKernels, kernel: str, batch: int) -> None:
    for index in range(CASES_PER_BATCH):
        rng = np.random.default_rng([KERNELS.index(kernel), batch, index])
        assert_equals_reference(host_kernels, cases.random_case(kernel, rng))
