"""Join of a compiled network's buffers with the tensors of its model.

The join uses the graphs of both, names and order; size, scale, zero point and shape have to confirm it.
It never uses similar values. All other buffers are listed with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from n6build.compile.artifacts.made_buffers import MadeBuffer, MadeBuffers
from n6build.judge.compare.by_graph import join_by_graph
from n6build.judge.compare.by_order import NO_TENSOR, join_by_order
from n6build.judge.compare.model_graph import Key, ModelGraph, fits, key_of_buffer
from n6build.judge.compare.nodes import inner_steps, letters, node_number, original_name
from n6build.judge.compare.tensors import ReferenceTensor

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
        # The order is worth less than the graph: a group that contradicts it has another order.
        if all(joined.get(name, tensor).name == tensor.name for name, tensor in group.items()):
            joined = {name: tensor for name, tensor in group.items() if fits(named[name], tensor)} | joined
        else:
            reasons |= dict.fromkeys(group, "several tensors of the model have its size, scale and zero point")
    for copy, source in copies.items():
        if source in joined and fits(named[copy], joined[source]):
            joined[copy] = joined[source]
    inner = inner_steps(typed)
    others = []
    for buffer in made.buffers:
        if buffer.name not in joined:
            why, is_explained = _reason(buffer, hidden, copies, inner, reasons)
            others.append(UnjoinedBuffer(buffer, why, is_explained))
    pairs = [(each, joined[each.name]) for each in made.buffers if each.name in joined]
    return [JoinedBuffer(buffer, tensor, _step(tensor, graph)) for buffer, tensor in pairs], others


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
