"""An operator together with its tensors, as the operators' modules see it."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.network.reference.graph import Graph, Operator, Quantisation, Tensor


@dataclass(frozen=True)
class Padding:
    """What a PAD adds. operator: its index. source: the tensor that it pads."""

    operator: int
    source: Tensor
    top: int
    left: int
    front: int
    value: int
    pads_channels: bool


@dataclass(frozen=True)
class Operands:
    """padding: a PAD before the operator, which the operator takes over. intermediates: as of the operator."""

    operator: Operator
    inputs: tuple[Tensor | None, ...]
    output: Tensor
    padding: Padding | None = None
    intermediates: tuple[Tensor | None, ...] = ()

    def optional(self, position: int) -> Tensor | None:
        """The input at a position, None where it is absent."""
        return self.inputs[position] if position < len(self.inputs) else None

    def required(self, position: int) -> Tensor:
        """The input at a position that a rule has checked."""
        tensor = self.inputs[position]
        assert tensor is not None
        return tensor

    @property
    def first(self) -> Tensor:
        """The input at position 0."""
        return self.required(0)

    @property
    def source(self) -> Tensor:
        """The activation that the kernel reads: the first input, or what a PAD before the operator would have padded."""
        return self.padding.source if self.padding else self.first


def operands_of(graph: Graph, operator: Operator, padding: Padding | None = None) -> Operands:
    """padding: a PAD that the operator takes over."""
    inputs = tuple(None if index is None else graph.tensors[index] for index in operator.inputs)
    intermediates = tuple(None if index is None else graph.tensors[index] for index in operator.intermediates)
    return Operands(operator, inputs, graph.tensors[operator.output], padding, intermediates)


def required_quantisation(tensor: Tensor) -> Quantisation:
    """Of a tensor whose quantisation a rule has checked."""
    assert tensor.quantisation is not None
    return tensor.quantisation


def zero_point_of(tensor: Tensor) -> int:
    """Of a tensor whose quantisation a rule has checked."""
    return required_quantisation(tensor).zero_point
