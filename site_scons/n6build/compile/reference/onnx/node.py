"""Nodes of an ONNX graph, and families of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from n6build.base.errors import N6Error
from n6build.compile.reference.onnx.values import Constant, Held, Value, is_quantised

if TYPE_CHECKING:
    from n6build.compile.reference.onnx.building import Building

_QDQ = "quantise the model with QuantizeLinear and DequantizeLinear around every operator (quant_format=QDQ)"


@dataclass(frozen=True)
class Node:
    """A node of an ONNX graph.

    Attributes:
        place: Position in the file's list of nodes.
        type: Type of the node in ONNX.
        name: Name of the node, for errors.
        attributes: Attributes as Python values.
        inputs: Values of the inputs, None for one that is left out.
        names: Names of the inputs.
        outputs: Names of the outputs.
        where: Name of the file, for errors.
        version: Version of the operator set.
    """

    place: int
    type: str
    name: str
    attributes: Mapping[str, Any]
    inputs: tuple[Value | None, ...]
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    where: str
    version: int

    def __str__(self) -> str:
        return f"node {self.place} ({self.type}) {self.name!a}"

    def error(self, number: str, what: str, hint: str) -> N6Error:
        """Return an error of this node.

        Args:
            number: Id of the error, N6-NET-00x.
            what: Text behind the node's name.
            hint: Remedy.
        """
        return N6Error(number, f"{self}: {what}", where=self.where, hint=hint)

    def given(self, position: int) -> Value | None:
        """Return an input, or None if it is absent."""
        return self.inputs[position] if position < len(self.inputs) else None

    def value(self, position: int) -> Value:
        """Return an input that has to be present.

        Raises:
            N6Error: N6-NET-007 if it is absent.
        """
        value = self.given(position)
        if value is None:
            raise self.error("N6-NET-007", f"has no input {position}", "export the model again")
        return value

    def quantised(self, position: int) -> Held:
        """Return an input that is the real numbers of an int8 tensor in memory.

        Raises:
            N6Error: N6-NET-004 if it is not quantised; N6-NET-007 if it is absent.
        """
        value = self.value(position)
        if not isinstance(value, Held) or not is_quantised(value):
            kind = "a constant" if isinstance(value, Constant) else "not quantised"
            raise self.error("N6-NET-004", f"its input {position} is {kind}; this backend computes int8", _QDQ)
        return value

    def constant(self, position: int) -> Constant:
        """Return an input that has to be a constant.

        Raises:
            N6Error: N6-NET-007 if it is absent or no constant.
        """
        value = self.value(position)
        if not isinstance(value, Constant):
            hint = "fold constants before converting (onnxsim, or onnxruntime's basic optimisations)"
            raise self.error("N6-NET-007", f"its input {position} has to be a constant", hint)
        return value

    def optional_constant(self, position: int) -> Constant | None:
        """Return a constant input, or None if it is absent.

        Raises:
            N6Error: N6-NET-007 if it is no constant.
        """
        return None if self.given(position) is None else self.constant(position)

    def integers(self, attribute: str, position: int) -> list[int] | None:
        """Return integers of an attribute or an input, or None if both are absent.

        Older versions of an operator have an attribute where newer ones have an input.

        Raises:
            N6Error: N6-NET-007 if the input is no constant.
        """
        if attribute in self.attributes:
            found = self.attributes[attribute]
            return [int(each) for each in (found if isinstance(found, list | tuple) else [found])]
        constant = self.optional_constant(position)
        return None if constant is None else [int(each) for each in constant.array.reshape(-1).tolist()]

    def axis(self, axis: int, rank: int) -> int:
        """Return a dimension counted from 0 on; a negative one counts from the end.

        Raises:
            N6Error: N6-NET-007 if there is no such dimension.
        """
        if not -rank <= axis < rank:
            raise self.error("N6-NET-007", f"has no dimension {axis} of {rank}", "export the model again")
        return axis % rank


# It returns the values of a node's outputs.
Translate = Callable[[Node, "Building"], Value | Sequence[Value]]


@dataclass(frozen=True)
class NodeFamily:
    """A family of nodes that one module translates.

    Attributes:
        translate: Translation of each type of node. It raises N6Error N6-NET-00x if the node cannot
            be computed.
        in_float32: Translation of each type of node whose inputs or outputs are not quantised. It
            returns tensors of float32 in memory, and raises N6Error as `translate`.
    """

    translate: Mapping[str, Translate] = field(default_factory=dict)
    in_float32: Mapping[str, Translate] = field(default_factory=dict)
