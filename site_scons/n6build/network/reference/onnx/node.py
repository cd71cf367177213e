"""A node of an ONNX graph, and what a family of them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from n6build.base.errors import N6Error
from n6build.network.reference.onnx.values import Constant, Held, Value, is_quantised

if TYPE_CHECKING:
    from n6build.network.reference.onnx.building import Building

_QDQ = "quantise the model with QuantizeLinear and DequantizeLinear around every operator (quant_format=QDQ)"


@dataclass(frozen=True)
class Node:
    """place: in the file's list of nodes. attributes: as Python has them. inputs: None where one is left out. where: the file.
    version: of the operator set."""

    place: int
    type: str
    name: str
    attributes: Mapping[str, Any]
    inputs: tuple[Value | None, ...]
    outputs: tuple[str, ...]
    where: str
    version: int

    def __str__(self) -> str:
        return f"node {self.place} ({self.type}) {self.name!a}"

    def error(self, number: str, what: str, hint: str) -> N6Error:
        """number: N6-NET-00x."""
        return N6Error(number, f"{self}: {what}", where=self.where, hint=hint)

    def given(self, position: int) -> Value | None:
        """An input, None where it is absent."""
        return self.inputs[position] if position < len(self.inputs) else None

    def value(self, position: int) -> Value:
        """An input that has to be there. Raises N6-NET-007."""
        value = self.given(position)
        if value is None:
            raise self.error("N6-NET-007", f"has no input {position}", "export the model again")
        return value

    def quantised(self, position: int) -> Held:
        """An input that stands for the real numbers behind an int8 tensor in memory. Raises N6-NET-004 and N6-NET-007."""
        value = self.value(position)
        if not isinstance(value, Held) or not is_quantised(value):
            kind = "a constant" if isinstance(value, Constant) else "not quantised"
            raise self.error("N6-NET-004", f"its input {position} is {kind}; this backend computes int8", _QDQ)
        return value

    def constant(self, position: int) -> Constant:
        """An input that has to be a constant. Raises N6-NET-007."""
        value = self.value(position)
        if not isinstance(value, Constant):
            hint = "fold constants before converting (onnxsim, or onnxruntime's basic optimisations)"
            raise self.error("N6-NET-007", f"its input {position} has to be a constant", hint)
        return value

    def optional_constant(self, position: int) -> Constant | None:
        """As `constant`, None where the input is absent."""
        return None if self.given(position) is None else self.constant(position)

    def integers(self, attribute: str, position: int) -> list[int] | None:
        """What newer versions have as an input, older ones as an attribute; None where it is absent. Raises N6-NET-007."""
        if attribute in self.attributes:
            found = self.attributes[attribute]
            return [int(each) for each in (found if isinstance(found, list | tuple) else [found])]
        constant = self.optional_constant(position)
        return None if constant is None else [int(each) for each in constant.array.reshape(-1).tolist()]

    def axis(self, axis: int, rank: int) -> int:
        """From 0 on. Raises N6-NET-007."""
        if not -rank <= axis < rank:
            raise self.error("N6-NET-007", f"has no dimension {axis} of {rank}", "export the model again")
        return axis % rank


# The values of a node's outputs.
Translate = Callable[[Node, "Building"], Value | Sequence[Value]]


@dataclass(frozen=True)
class NodeFamily:
    """translate: by type of the node. Raises N6Error N6-NET-00x where it cannot be computed."""

    translate: Mapping[str, Translate]
