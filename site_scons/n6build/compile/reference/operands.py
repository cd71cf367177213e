"""An operator together with its tensors, for the operators' modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from n6build.compile.reference.graph import Graph, Operator, Quantisation, Tensor

_Options = TypeVar("_Options")


@dataclass(frozen=True)
class Padding:
    """Padding that a PAD adds.

    Attributes:
        operator: Index of the PAD.
        source: Tensor that it pads.
        top: Rows added above.
        left: Columns added at the left.
        front: Channels added in front.
        value: Value of the added elements.
        pads_channels: True if it adds channels before or behind.
    """

    operator: int
    source: Tensor
    top: int
    left: int
    front: int
    value: int
    pads_channels: bool


@dataclass(frozen=True)
class Operands:
    """An operator and its tensors.

    Attributes:
        operator: The operator.
        inputs: Input tensors; None for an absent one.
        output: Output tensor.
        padding: A PAD before the operator that the operator takes over, or None.
    """

    operator: Operator
    inputs: tuple[Tensor | None, ...]
    output: Tensor
    padding: Padding | None = None

    def optional(self, position: int) -> Tensor | None:
        """Return the input at a position, or None if it is absent."""
        return self.inputs[position] if position < len(self.inputs) else None

    def required(self, position: int) -> Tensor:
        """Return the input at a position that a rule has checked."""
        tensor = self.inputs[position]
        assert tensor is not None
        return tensor

    def options(self, kind: type[_Options]) -> _Options:
        """Return the options of the operator.

        Args:
            kind: Type of the options that the operator's module reads.
        """
        assert isinstance(self.operator.options, kind)
        return self.operator.options

    @property
    def first(self) -> Tensor:
        """Return the input at position 0."""
        return self.required(0)

    @property
    def source(self) -> Tensor:
        """Return the activation that the kernel reads.

        It is the first input, or the source of a PAD that the operator takes over.
        """
        return self.padding.source if self.padding else self.first


def operands_of(graph: Graph, operator: Operator, padding: Padding | None = None) -> Operands:
    """Return an operator together with its tensors.

    Args:
        graph: Graph of the operator.
        operator: The operator.
        padding: A PAD that the operator takes over, or None.
    """
    inputs = tuple(None if index is None else graph.tensors[index] for index in operator.inputs)
    return Operands(operator, inputs, graph.tensors[operator.output], padding)


def required_quantisation(tensor: Tensor) -> Quantisation:
    """Return the quantisation of a tensor, which a rule has checked."""
    assert tensor.quantisation is not None
    return tensor.quantisation


def zero_point_of(tensor: Tensor) -> int:
    """Return the zero point of a tensor whose quantisation a rule has checked."""
    return required_quantisation(tensor).zero_point
