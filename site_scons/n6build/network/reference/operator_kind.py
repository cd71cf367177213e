"""What an operator's module says of it: the value OPERATOR of each module in operators/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from n6build.network.reference.descriptors import Kernel
from n6build.network.reference.graph import Tensor
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, Padding
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.rules import Rule


@dataclass(frozen=True)
class OperatorKind:
    """A kind of operator.

    name: in the schema of .tflite files. label: in reports, and in the names of nodes. lower: called for operators that have
    passed `rule`, gives one call or several that together make the output; raises ScaleError. kernels: that it may call.
    options: None where the file's options change nothing. takes_over: the value of a PAD in front, given the padded tensor,
    that the kernel assumes outside its input. padding: what a PAD does, so that an operator after it may take it over, or
    None. view: where in the memory of an input, the one at position `viewed`, the output lies, in bytes, None where it has to
    be made by `lower`. several_outputs: `lower` is called for each `part`. parts: for each input where in the output's memory
    it lies as a whole, in bytes, None where it does not; `lower` then gives one call for each input, in their order. fold:
    the output where it does not depend on what the network is given, None where it does; called before `rule` is checked.
    """

    name: str
    label: str
    rule: Rule
    lower: Callable[[Operands], KernelCall | Sequence[KernelCall]]
    kernels: tuple[Kernel, ...]
    options: OptionsReader | None = None
    takes_over: Callable[[Tensor], int] | None = None
    padding: Callable[[Operands], Padding | None] | None = None
    view: Callable[[Operands], int | None] | None = None
    several_outputs: bool = False
    viewed: int = 0
    parts: Callable[[Operands], Sequence[int | None]] | None = None
    fold: Callable[[Operands], NDArray[Any] | None] | None = None
