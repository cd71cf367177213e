"""A kernel's output is the same in the memory of an input as elsewhere."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from n6build.compile.reference.kinds import all_kernels
from slow_rows import slow_rows

from kernels import kernel_cases, onnx_cases
from kernels.helium import Helium
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import KERNELS, Case

# CASES such cases are chosen from AMONG random operators.
CASES, AMONG = 40, 200
IN_PLACE = [(kernel.name, member) for kernel in all_kernels() for member in kernel.in_place]


def telling_pairs() -> list[ParameterSet]:
    """Return all pairs; two of three are slow."""
    return [pytest.param(*pair, marks=() if pair in IN_PLACE[::3] else pytest.mark.slow) for pair in IN_PLACE]


def cases(kernel: str, member: str) -> list[Case]:
    """Return cases whose output is as large as that input."""

    def found() -> Iterator[Case]:
        for index in range(AMONG):
            case = _random_case(kernel, index)
            shape, dtype = case.output
            if member in case.buffers and case.buffers[member].nbytes == np.dtype(dtype).itemsize * np.prod(shape):
                yield replace(case, in_place=member)

    made = list(islice(found(), CASES))
    assert len(made) >= 10, f"random cases of {kernel} hardly ever have an output of the size of {member}"
    return made


def _random_case(kernel: str, index: int) -> Case:
    if kernel in KERNELS:
        return kernel_cases.random_case(kernel, np.random.default_rng([KERNELS.index(kernel), 7, index]))
    return onnx_cases.random_case(kernel, np.random.default_rng([7, index]))


def test_additions_work_in_place() -> None:
    assert {("add", "a"), ("add", "b"), ("requantize", "input")} <= set(IN_PLACE)


@pytest.mark.parametrize(("kernel", "member"), telling_pairs())
def test_plain_twins_in_place(host_kernels: HostKernels, kernel: str, member: str) -> None:
    for case in cases(kernel, member):
        elsewhere = host_kernels.run(replace(case, in_place=""))
        assert host_kernels.run(case).tobytes() == elsewhere.tobytes(), f"{case} in the place of {member}"


# The plain twins test all kernels. Of the Helium paths, these kernels cover each way to walk over a row.
_ALWAYS = ("add", "mul", "requantize", "lookup", "prelu", "sub_int32", "mul_int16", "real_add", "qlinear_add")


@pytest.mark.parametrize("optimisation", ["-O3", *slow_rows("-O2")])
@pytest.mark.parametrize(
    ("kernel", "member"),
    [pytest.param(*row, marks=() if row[0] in _ALWAYS else pytest.mark.slow) for row in IN_PLACE],
)
def test_helium_kernels_in_place(helium: Helium, kernel: str, member: str, optimisation: str) -> None:
    made = cases(kernel, member)
    for case, result in zip(made, helium.run(made, optimisation), strict=True):
        elsewhere = helium.twins.run(replace(case, in_place=""))
        assert result.output == elsewhere.tobytes(), f"{case} in the place of {member}"
