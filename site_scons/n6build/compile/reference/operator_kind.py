"""Kinds of operators: the tuple OPERATORS of each module in operators/."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from n6build.compile.reference.descriptors import Kernel
from n6build.compile.reference.graph import DType, Tensor
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, Padding
from n6build.compile.reference.reference_options import CustomOptionsReader, OptionsReader
from n6build.compile.reference.rules import CONVERT, Problem, Rule, shown


@dataclass(frozen=True)
class OperatorKind:
    """A kind of operator.

    Attributes:
        name: Name in the schema of .tflite files.
        label: Name in reports and in the names of nodes.
        rule: Requirements for its tensors.
        lower: Function called for operators that have passed `rule`. It gives one call, or several
            that together make the output. It raises ScaleError.
        kernels: Kernels that it may call.
        options: Reader of its options; None if the file's options change nothing.
        takes_over: Function that returns, for a padded tensor, the value of a PAD in front that the
            kernel assumes outside its input.
        padding: Function that returns the padding of a PAD, so that an operator after it may take
            it over, or None.
        view: Function that returns the output's offset in the memory of the input at position
            `viewed` in bytes, or None if `lower` has to make the output.
        several_outputs: True if `lower` is called for each `part`.
        viewed: Position of the input that `view` refers to.
        parts: Function that returns, for each input, its offset as a whole in the output's memory
            in bytes, or None. `lower` then gives one call for each input, in their order.
        fold: Function that returns the output if it does not depend on the network's inputs, or
            None; it is called before `rule` is checked.
        doubt: Function that returns a warning about an operator that is computed as the reference
            does although the model can hardly mean it, or None.
    """

    name: str
    label: str
    rule: Rule
    lower: Callable[[Operands], KernelCall | Sequence[KernelCall]]
    kernels: tuple[Kernel, ...]
    options: OptionsReader | CustomOptionsReader | None = None
    takes_over: Callable[[Tensor], int] | None = None
    padding: Callable[[Operands], Padding | None] | None = None
    view: Callable[[Operands], int | None] | None = None
    several_outputs: bool = False
    viewed: int = 0
    parts: Callable[[Operands], Sequence[int | None]] | None = None
    fold: Callable[[Operands], NDArray[Any] | None] | None = None
    doubt: Callable[[Operands], str | None] | None = None


def also_of(kind: OperatorKind, *others: OperatorKind) -> OperatorKind:
    """Return an operator that also supports the element types of other operators.

    All its inputs and its output must have one type.

    Args:
        kind: The operator of int8 or another type, whose name and options the result keeps.
        others: Operators that compute the same for other types.
    """
    by_type = {dtype: each for each in (kind, *others) for dtype in each.rule.output}

    def of(operands: Operands) -> OperatorKind:
        return by_type[operands.output.dtype]

    def check(operands: Operands) -> Iterator[Problem]:
        yield from _check_one_type(operands)
        yield from of(operands).rule.check(operands)

    def lower(operands: Operands) -> KernelCall | Sequence[KernelCall]:
        return of(operands).lower(operands)

    def fold(operands: Operands) -> NDArray[Any] | None:
        found = of(operands).fold
        return found(operands) if found else None

    types: tuple[DType, ...] = tuple(by_type)
    kernels = tuple(dict.fromkeys(kernel for each in (kind, *others) for kernel in each.kernels))
    rule = replace(kind.rule, inputs=(types,) * len(kind.rule.inputs), output=types, check=check)
    return replace(kind, rule=rule, lower=lower, kernels=kernels, fold=fold)


def _check_one_type(operands: Operands) -> Iterator[Problem]:
    for tensor in operands.inputs:
        if tensor is not None and tensor.dtype != operands.output.dtype:
            yield Problem(
                "N6-NET-004", f"tensor {shown(tensor)} has another type than {shown(operands.output)}", CONVERT
            )
