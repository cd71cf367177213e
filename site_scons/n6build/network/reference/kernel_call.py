"""What an operator becomes: one call of a kernel, with tensors and constants in place of addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.network.reference.descriptors import Kernel, Structure
from n6build.network.reference.epochs import ConstantType, Fields, Value
from n6build.network.reference.graph import Tensor


@dataclass(frozen=True)
class Parameter:
    """A constant as it is in the model file; operators that share it share its memory. role: in its name."""

    tensor: Tensor
    role: str


@dataclass(frozen=True)
class Constant:
    """A constant that is computed for one operator, and named after the member that points to it."""

    dtype: ConstantType
    data: NDArray[np.generic]


@dataclass(frozen=True)
class Scratch:
    """Memory that the call alone uses. least: as in `epochs.ScratchBuffer`."""

    bytes: int
    least: str


# A tensor stands for the address of its buffer.
Argument = int | float | Fields | Tensor | Parameter | Constant | Scratch


@dataclass(frozen=True)
class KernelCall:
    """arguments: by the members of the kernel's descriptor, in their order. macs: multiply-accumulates."""

    kernel: Kernel
    arguments: Mapping[str, Argument]
    macs: int = 0

    def __post_init__(self) -> None:
        _check_names(self.kernel.descriptor, list(self.arguments))


def operand(tensor: Tensor) -> Tensor | Parameter:
    """An activation, or a constant of the model file."""
    return tensor if tensor.data is None else Parameter(tensor, "constant")


def row_arguments(given: Tensor, output: Tensor) -> dict[str, Argument]:
    """The members ROWS."""
    depth = given.shape[-1] if given.shape else 1
    return {"input": given, "output": output, "rows": given.elements // depth, "depth": depth}


def recast(calls: KernelCall | Sequence[KernelCall], kernel: Kernel, changed: Mapping[str, Argument]) -> KernelCall:
    """The one call of `calls` with another kernel, whose members are those of `changed` and otherwise the same."""
    assert isinstance(calls, KernelCall)
    names = [member.name for member in kernel.descriptor.members]
    arguments = {name: changed[name] if name in changed else calls.arguments[name] for name in names}
    return KernelCall(kernel, arguments, calls.macs)


def fields_of(structure: Structure, values: Mapping[str, Value]) -> Fields:
    """A structure inside a descriptor. values: of all its members, in their order."""
    _check_names(structure, list(values))
    return Fields(tuple(values.items()))


def _check_names(structure: Structure, names: list[str]) -> None:
    expected = [member.name for member in structure.members]
    assert names == expected, f"{structure.name} has the members {expected}, not {names}"
