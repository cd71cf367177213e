"""What an operator's module says of it: the value OPERATOR of each module in operators/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    passed `rule`; raises ScaleError. kernels: that it may call. options: None where the file's options change nothing.
    takes_over: the value of a PAD in front, given the padded tensor, that the kernel assumes outside its input.
    padding: what a PAD does, so that an operator after it may take it over. is_view: the output is the input's memory.
    """

    name: str
    label: str
    rule: Rule
    lower: Callable[[Operands], KernelCall]
    kernels: tuple[Kernel, ...]
    options: OptionsReader | None = None
    takes_over: Callable[[Tensor], int] | None = None
    padding: Callable[[Operands], Padding] | None = None
    is_view: bool = False
