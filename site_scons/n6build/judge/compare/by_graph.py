"""Join of buffers with tensors by the graphs of the compiler and of the model.

A node is found in the model by its weights, by the tensors that its buffers may hold, and by the node
in front of it. Size, scale, zero point and shape have to confirm each pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from n6build.compile.artifacts.made_buffers import MadeBuffer
from n6build.judge.compare.model_graph import ModelGraph, fits, key_of_buffer, key_of_tensor
from n6build.judge.compare.nodes import Node, NodeBuffer, inner_steps, nodes_of
from n6build.judge.compare.tensors import ReferenceTensor

# Nodes that only move values: the model may have no operator for them.
_MOVING = ("transpose", "reshape", "identity", "flatten", "squeeze", "unsqueeze", "dequantize", "quantize")


def join_by_graph(
    buffers: Sequence[MadeBuffer], kernels: Mapping[str, tuple[float, ...]], graph: ModelGraph
) -> dict[str, ReferenceTensor]:
    """Return the tensors that the graphs determine, by name of the buffer.

    Args:
        buffers: All buffers of the network.
        kernels: Scales of weights, by node.
        graph: The model.
    """
    nodes = nodes_of(buffers, kernels)
    found = _Search(nodes, graph).operators()
    joined: dict[str, ReferenceTensor] = {}
    # Only the last step of a node makes the node's output.
    inner = inner_steps(buffers)
    for node in nodes:
        for each in node.buffers:
            if each.buffer.name in inner:
                continue
            held = [_held(each, operator, graph) for operator in found[node.name]]
            names = {tensor.name if tensor else None for tensor in held}
            # Operators that were not told apart may still have the same tensor here.
            if held and held[0] and len(names) == 1:
                joined[each.buffer.name] = held[0]
    return joined


def _held(at: NodeBuffer, operator: ReferenceTensor, graph: ModelGraph) -> ReferenceTensor | None:
    """Return the tensor that a buffer holds if its node is an operator, or None.

    Args:
        at: The buffer at its node.
        operator: Output of the operator.
        graph: The model.
    """
    if at.side != "input":
        return next((each for each in graph.after(operator) if fits(at.buffer, each)), None)
    found = {
        tensor.name: tensor
        for source in graph.sources(operator)
        if (tensor := next((each for each in source if fits(at.buffer, each)), None)) is not None
    }
    return next(iter(found.values())) if len(found) == 1 else None


class _Search:
    """The operators that each node may be, fewer with each fact."""

    def __init__(self, nodes: Sequence[Node], graph: ModelGraph) -> None:
        self._nodes = nodes
        self._graph = graph
        self._keys = {key_of_tensor(each) for each in graph.tensors}
        by_kernel: dict[str, list[ReferenceTensor]] = {}
        for tensor in graph.tensors:
            by_kernel.setdefault(tensor.kernel, []).append(tensor)
        self._found: dict[str, list[ReferenceTensor]] = {}
        for node in nodes:
            alike = by_kernel.get(node.kernel, []) if node.kernel else list(graph.tensors)
            made = [each for each in alike if each.inputs and node.may_be(each.operator)]
            self._found[node.name] = self._best(node, made)

    def operators(self) -> Mapping[str, Sequence[ReferenceTensor]]:
        """Return the output of each operator that a node may be, by the node's name."""
        changed = True
        while changed:
            changed = False
            taken = {found[0].name for found in self._found.values() if len(found) == 1}
            before: Node | None = None
            for node in self._nodes:
                found = self._found[node.name]
                if len(found) != 1:
                    fewer = self._fewer(node, found, before, taken)
                    if len(fewer) != len(found):
                        self._found[node.name], changed = fewer, True
                        taken |= {fewer[0].name} if len(fewer) == 1 else set()
                before = node
        return self._found

    def _best(self, node: Node, operators: list[ReferenceTensor]) -> list[ReferenceTensor]:
        """Return the operators whose tensors fit most buffers of a node.

        The compiler makes some buffers on the way that the model does not have.
        """
        known = [each for each in node.buffers if key_of_buffer(each.buffer) in self._keys]
        counts = [sum(_held(each, operator, self._graph) is not None for each in known) for operator in operators]
        most = max(counts, default=0)
        if known and not most:
            return []
        return [each for each, count in zip(operators, counts, strict=True) if count == most]

    def _fewer(
        self, node: Node, found: list[ReferenceTensor], before: Node | None, taken: set[str]
    ) -> list[ReferenceTensor]:
        """Return the operators that remain, all of them if nothing is known."""
        left = [each for each in found if each.name not in taken] or found
        left = [each for each in left if not self._is_too_early(node, each)] or left
        known = self._found[before.name] if before else []
        if len(left) == 1 or len(known) != 1:
            return left
        # The compiler numbers a node right behind the one that it reads, but for nodes without operands.
        reading = self._readers(left, known[0])
        if len(reading) == 1:
            # Nodes without a name may be between both. They have no weights, since every node with weights has a name.
            behind = self._graph.behind(known[0])
            is_unclear = any(each.name in behind for each in left if each.name != reading[0].name)
            return left if is_unclear else reading
        return self._best(node, known) if not found and node.kind in _MOVING and node.buffers else left

    def _readers(self, operators: Sequence[ReferenceTensor], source: ReferenceTensor) -> list[ReferenceTensor]:
        """Return the operators that read the result of another one."""
        made = {each.name for each in self._graph.after(source)}
        return [
            each for each in operators if any(one.name in made for read in self._graph.sources(each) for one in read)
        ]

    def _is_too_early(self, node: Node, operator: ReferenceTensor) -> bool:
        """Return true if the operator's result is needed by a node in front of this one."""
        return any(
            len(found) == 1 and self._graph.is_before(operator.name, found[0].name)
            for one in self._nodes
            if one.number < node.number and (found := self._found[one.name])
        )
