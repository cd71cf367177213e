"""Kernels that reduce, normalise, search or keep a state.

Here are the cases that random operators would miss.
"""

from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

from kernels import sequence_cases
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import Case
from kernels.test_plain_kernels import assert_equals_reference


@pytest.mark.parametrize("seed", range(100))
def test_a_sum_equals_the_reference_where_that_reads_its_elements_right(host_kernels: HostKernels, seed: int) -> None:
    """LiteRT 2.3.0's reference resolver reads a SUM's int8 elements as uint8.

    Its other resolvers do not.
    """
    assert_equals_reference(host_kernels, sequence_cases.sum_within_bytes(np.random.default_rng(seed)))


def _other_resolver(case: Case) -> NDArray[Any]:
    interpreter = Interpreter(
        model_content=case.model, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    )
    interpreter.allocate_tensors()
    (given,) = interpreter.get_input_details()
    interpreter.set_tensor(given["index"], case.inputs[0].reshape(given["shape"]))
    interpreter.invoke()
    return np.asarray(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))


@pytest.mark.parametrize("seed", range(100))
def test_any_sum_is_that_of_the_other_resolver_up_to_its_rounding(host_kernels: HostKernels, seed: int) -> None:
    case = sequence_cases.sum_of(np.random.default_rng(seed))
    difference = host_kernels.run(case).astype(int) - _other_resolver(case).astype(int)
    assert np.abs(difference).max() <= 1, str(case)
