"""Join of a compiled network's buffers with the tensors of its model.

The join uses the graphs of both, names and order; size, scale, zero point and shape have to confirm
it. It never uses similar values. All other buffers are listed with the reason.

Join of buffers with tensors by the order in which they are made. Buffers and tensors with the same
size and quantisation are joined in their order. This needs the same number of both, and a model
that makes them in that order, each from the one before.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from n6build.compile.artifacts.made_buffers import MadeBuffer, MadeBuffers
from n6build.judge.compare.by_graph import join_by_graph
from n6build.judge.compare.model_graph import Key, ModelGraph, fits, key_of_buffer, key_of_tensor
from n6build.judge.compare.nodes import NODE_KIND, READ_BY, inner_steps, letters, node_number, original_name
from n6build.judge.compare.tensors import ReferenceTensor

NO_TENSOR = "the model has no tensor of its size, scale and zero point"
# Operators that keep the order of values: their output is equal to the tensor before.
_VIEWS = frozenset({"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"})


def join_by_order(
    buffers: Sequence[MadeBuffer], graph: ModelGraph
) -> tuple[list[dict[str, ReferenceTensor]], dict[str, str]]:
    """Return groups of joined buffers, by name, and the reason for each other buffer.

    Args:
        buffers: Buffers of the network by epoch, without copies.
        graph: The model.
    """
    by_key: defaultdict[Key, list[ReferenceTensor]] = defaultdict(list)
    for tensor in _without_views(graph):
        by_key[key_of_tensor(tensor)].append(tensor)
    groups: defaultdict[Key, list[MadeBuffer]] = defaultdict(list)
    for buffer in buffers:
        groups[key_of_buffer(buffer)].append(buffer)
    joined: list[dict[str, ReferenceTensor]] = []
    reasons: dict[str, str] = {}
    for key, group in groups.items():
        for some, candidates in _by_operator(group, by_key[key]):
            why = _objection(some, candidates, graph)
            if why:
                reasons |= {buffer.name: why for buffer in some}
            else:
                joined.append({buffer.name: tensor for buffer, tensor in zip(some, candidates, strict=True)})
    return joined, reasons


def _without_views(graph: ModelGraph) -> list[ReferenceTensor]:
    """Return the tensors without the model's inputs, and without equal ones.

    A reshape and similar operators make a tensor that is equal to the one before.
    """
    return [
        tensor
        for tensor in graph.tensors
        if tensor.inputs
        and not (
            _VIEWS.issuperset(tensor.operator.split("+"))
            and len(tensor.inputs) == 1
            and (source := graph.by_name.get(tensor.inputs[0])) is not None
            and key_of_tensor(source) == key_of_tensor(tensor)
        )
    ]


def _by_operator(
    buffers: Sequence[MadeBuffer], tensors: Sequence[ReferenceTensor]
) -> list[tuple[list[MadeBuffer], list[ReferenceTensor]]]:
    """Return all buffers with all tensors, or those of each operator if counts differ.

    An epoch may run several operators: only the last one's tensor gets to memory. It may also make
    tensors that the model does not have.
    """
    if len(buffers) == len(tensors):
        return [(list(buffers), list(tensors))]
    groups: defaultdict[str, list[MadeBuffer]] = defaultdict(list)
    for buffer in buffers:
        groups[_operator(buffer)].append(buffer)
    return [
        (group, [tensor for tensor in tensors if operator in letters(tensor.operator)])
        for operator, group in groups.items()
    ]


def _operator(buffer: MadeBuffer) -> str:
    """Return the operator that made a buffer, empty if the name does not show it.

    Some buffers are named after the operator that reads them.
    """
    match = NODE_KIND.match(buffer.name)
    return letters(match[1]) if match and READ_BY not in buffer.name else ""


def _objection(buffers: Sequence[MadeBuffer], tensors: Sequence[ReferenceTensor], graph: ModelGraph) -> str:
    if not tensors:
        return NO_TENSOR
    if len(tensors) != len(buffers):
        return f"{len(buffers)} of its size, scale and zero point in the network, {len(tensors)} in the model"
    epochs = [buffer.epoch for buffer in buffers]
    if len(set(epochs)) != len(epochs):
        return f"epoch {max(epochs, key=epochs.count)} makes several of its size, scale and zero point"
    if any(not graph.is_before(before.name, after.name) for before, after in itertools.pairwise(tensors)):
        return f"the model makes {len(tensors)} of its size, scale and zero point side by side, in no order"
    return ""


# Step of a softmax: TFLite gives its quantised output this scale.
_PROBABILITY = 1 / 256
NO_QUANTISATION = "it holds partial sums or working memory, which the model does not have"


@dataclass(frozen=True)
class JoinedBuffer:
    """A buffer with the model's tensor that it holds.

    Attributes:
        buffer: The buffer.
        tensor: The tensor.
        step: Difference that counts as 1: 1 for integers; for real numbers, the scale of the quantised
            tensor that they come from.
    """

    buffer: MadeBuffer
    tensor: ReferenceTensor
    step: float = 1.0


@dataclass(frozen=True)
class UnjoinedBuffer:
    """A buffer that is not compared, with the reason in words.

    Attributes:
        buffer: The buffer.
        why: The reason.
        is_explained: True if the model has no tensor for it; false if the tensor is not known.
    """

    buffer: MadeBuffer
    why: str
    is_explained: bool = False


def join_buffers(
    made: MadeBuffers, tensors: Sequence[ReferenceTensor]
) -> tuple[list[JoinedBuffer], list[UnjoinedBuffer]]:
    """Join buffers with tensors, and return the joined and the other buffers.

    Both lists are sorted by epoch.

    Args:
        made: Buffers and weights of the network.
        tensors: Tensors of the model, in the order in which its interpreter makes them.
    """
    graph = ModelGraph(tensors)
    typed = [buffer for buffer in made.buffers if buffer.type]
    hidden = _hidden(typed)
    seen = [buffer for buffer in typed if buffer.name not in hidden]
    copies = _copies(seen)
    own = [buffer for buffer in seen if buffer.name not in copies]
    named = {buffer.name: buffer for buffer in seen}
    joined = join_by_graph(own, made.kernels, graph)
    groups, reasons = join_by_order(own, graph)
    for group in groups:
        if _contradicts(group, joined):
            reasons |= dict.fromkeys(group, "several tensors of the model have its size, scale and zero point")
        else:
            joined = {name: tensor for name, tensor in group.items() if fits(named[name], tensor)} | joined
    _join_copies(joined, copies, named)
    inner = inner_steps(typed)
    others = []
    for buffer in made.buffers:
        if buffer.name not in joined:
            why, is_explained = _reason(buffer, hidden, copies, inner, reasons)
            others.append(UnjoinedBuffer(buffer, why, is_explained))
    pairs = [(each, joined[each.name]) for each in made.buffers if each.name in joined]
    return [JoinedBuffer(buffer, tensor, _step(tensor, graph)) for buffer, tensor in pairs], others


def _contradicts(group: Mapping[str, ReferenceTensor], joined: Mapping[str, ReferenceTensor]) -> bool:
    """Return whether a group that is joined by order contradicts the graph.

    The order is worth less than the graph: such a group has another order.
    """
    return any(joined.get(name, tensor).name != tensor.name for name, tensor in group.items())


def _join_copies(
    joined: dict[str, ReferenceTensor], copies: Mapping[str, str], buffers: Mapping[str, MadeBuffer]
) -> None:
    """Join each copy with the tensor of its source, in place.

    Args:
        joined: Tensors by the name of their buffer.
        copies: Names of copies and of their sources, in the order of execution.
        buffers: Buffers by name.
    """
    for copy, source in copies.items():
        if source in joined and fits(buffers[copy], joined[source]):
            joined[copy] = joined[source]


def _step(tensor: ReferenceTensor, graph: ModelGraph) -> float:
    if tensor.type != "float32":
        return 1.0
    if "softmax" in letters(tensor.operator):
        return _PROBABILITY
    before = (each for source in graph.sources(tensor) for each in source if each.type != "float32")
    return next((each.scale for each in before if each.scale > 0), 1.0)


def _hidden(buffers: Sequence[MadeBuffer]) -> dict[str, str]:
    """Return the buffers with a second name for their memory, and that name.

    Of two nodes, the later one is in memory: the epoch writes the values in its order.
    """
    last: dict[tuple[int, int, Key], MadeBuffer] = {}
    hidden: dict[str, str] = {}
    for buffer in buffers:
        if buffer.address is None:
            continue
        place = (buffer.epoch, buffer.address, key_of_buffer(buffer))
        other = last.get(place)
        if other and node_number(other.name) > node_number(buffer.name):
            hidden[buffer.name] = other.name
        else:
            last[place] = buffer
            if other:
                hidden[other.name] = buffer.name
    return hidden


def _copies(buffers: Sequence[MadeBuffer]) -> dict[str, str]:
    """Return the copies with the names of their sources."""
    by_name = {buffer.name: buffer for buffer in buffers}
    found: dict[str, str] = {}
    for buffer in buffers:
        source = by_name.get(original_name(buffer.name))
        if source and source.name != buffer.name and key_of_buffer(source) == key_of_buffer(buffer):
            found[buffer.name] = source.name
    return found


def _reason(
    buffer: MadeBuffer,
    hidden: Mapping[str, str],
    copies: Mapping[str, str],
    inner: Mapping[str, str],
    reasons: Mapping[str, str],
) -> tuple[str, bool]:
    """Return why a buffer is not joined, and whether no tensor belongs to it."""
    if not buffer.type:
        return NO_QUANTISATION, True
    if buffer.name in inner:
        return f"it is a step inside {inner[buffer.name]}, which the model does not have", True
    if buffer.name in hidden:
        return f"its memory is that of {hidden[buffer.name]}, in the order of that node", True
    if buffer.name in copies:
        return f"it is a copy of {copies[buffer.name]}, which is not compared", False
    why = reasons.get(buffer.name, "its shape is not that of the model's tensor")
    return why, why == NO_TENSOR
