"""Calls of kernels, with tensors and constants in place of addresses.

Each operator becomes one or more calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import Kernel, Structure
from n6build.compile.reference.epochs import ConstantType, Fields, Value
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.operands import Operands


@dataclass(frozen=True)
class Parameter:
    """A constant as it is in the model file.

    Operators that share a constant share its memory.

    Attributes:
        tensor: The constant.
        role: Word for its purpose, used in its name.
    """

    tensor: Tensor
    role: str


@dataclass(frozen=True)
class Constant:
    """A constant that is computed for one operator.

    It is named after the member that points to it.
    """

    dtype: ConstantType
    data: NDArray[np.generic]


@dataclass(frozen=True)
class Scratch:
    """Memory that only one call uses.

    Attributes:
        bytes: Size of the memory.
        least: Size that the kernel needs, as in `epochs.ScratchBuffer`.
    """

    bytes: int
    least: str


# A tensor represents the address of its buffer.
Argument = int | float | Fields | Tensor | Parameter | Constant | Scratch


@dataclass(frozen=True)
class KernelCall:
    """A call of a kernel.

    Attributes:
        kernel: The kernel.
        arguments: Values by the members of the kernel's descriptor, in their order.
        macs: Number of multiply-accumulates.
    """

    kernel: Kernel
    arguments: Mapping[str, Argument]
    macs: int = 0

    def __post_init__(self) -> None:
        _check_names(self.kernel.descriptor, list(self.arguments))


def operand(tensor: Tensor) -> Tensor | Parameter:
    """Return an activation as it is, or a constant of the model file as a parameter."""
    return tensor if tensor.data is None else Parameter(tensor, "constant")


def ends(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for the members input and output."""
    return {"input": operands.source, "output": operands.output}


def element_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for the members input, output and elements."""
    return {**ends(operands), "elements": operands.first.elements}


def row_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for the members ROWS."""
    depth = operands.first.shape[-1] if operands.first.shape else 1
    return {**ends(operands), "rows": operands.first.elements // depth, "depth": depth}


def recast(calls: KernelCall | Sequence[KernelCall], kernel: Kernel, changed: Mapping[str, Argument]) -> KernelCall:
    """Return the only call of `calls` with another kernel.

    Args:
        calls: One call.
        kernel: The other kernel.
        changed: Arguments of the other kernel that replace or extend those of the call.
    """
    assert isinstance(calls, KernelCall)
    names = [member.name for member in kernel.descriptor.members]
    arguments = {name: changed[name] if name in changed else calls.arguments[name] for name in names}
    return KernelCall(kernel, arguments, calls.macs)


def fields_of(structure: Structure, values: Mapping[str, Value]) -> Fields:
    """Return the fields of a structure inside a descriptor.

    Args:
        structure: The structure.
        values: Values of all members, in their order.
    """
    _check_names(structure, list(values))
    return Fields(tuple(values.items()))


def _check_names(structure: Structure, names: list[str]) -> None:
    expected = [member.name for member in structure.members]
    assert names == expected, f"{structure.name} has the members {expected}, not {names}"
