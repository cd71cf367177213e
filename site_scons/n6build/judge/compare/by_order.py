"""Join of buffers with tensors by the order in which they are made.

Buffers and tensors with the same size and quantisation are joined in their order. This needs the same
number of both, and a model that makes them in that order, each from the one before.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

from n6build.compile.artifacts.made_buffers import MadeBuffer
from n6build.judge.compare.model_graph import Key, ModelGraph, key_of_buffer, key_of_tensor
from n6build.judge.compare.nodes import NODE_KIND, READ_BY, letters
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
