"""Elements taken by indices that the network computes, or from several batches.

Other indices are in `gathering`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.graph import ELEMENT_BYTES
from n6build.compile.reference.kernel_call import Constant, KernelCall, operand
from n6build.compile.reference.movement import MOVABLE
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64, Problem, Rule

INDICES = 1

TAKE = Kernel(
    "take",
    Structure(
        "n6k_take_t",
        (
            Member("input", reads("void")),
            Member("indices", reads("void")),
            Member("output", writes("void")),
            Member("sizes", reads("uint32_t")),
            Member("depth", "uint32_t"),
            Member("batches", "uint32_t"),
            Member("blocks", "uint32_t"),
            Member("block_bytes", "uint32_t"),
            Member("count", "uint32_t"),
            Member("bytes", "uint32_t"),
            Member("wide", "uint8_t"),
        ),
        doc="input [batches][blocks][sizes...][bytes]; indices [batches][count][depth], int32 or, if `wide`, int64, one for each "
        "of the `depth` sizes; output [batches][blocks][count][bytes]. Indices outside are the nearest one inside.",
    ),
)


def rule_of_indices(check: Callable[[Operands], Iterator[Problem]]) -> Rule:
    """Return the rule of an operator whose second input indexes the first.

    Either input may be a constant.
    """
    inputs = (MOVABLE, (*INT32, *INT64))
    return Rule(inputs, 2, (), MOVABLE, check, first_may_be_constant=True, quantised=False)


def take(operands: Operands, sizes: Sequence[int], *, batches: int = 1, blocks: int = 1) -> KernelCall:
    """Return a call that takes elements of the first input by the second.

    Args:
        operands: Tensors of the operator.
        sizes: Sizes of the dimensions that are indexed.
        batches: Number of batches, each with indices of its own.
        blocks: Number of blocks in a batch, which share the indices.
    """
    source, indices = operands.first, operands.required(INDICES)
    block = source.bytes // (batches * blocks)
    return KernelCall(
        TAKE,
        {
            "input": operand(source),
            "indices": operand(indices),
            "output": operands.output,
            "sizes": Constant("int32", np.array(sizes, np.int32)),
            "depth": len(sizes),
            "batches": batches,
            "blocks": blocks,
            "block_bytes": block,
            "count": indices.elements // (batches * len(sizes)),
            "bytes": block // math.prod(sizes),
            "wide": int(ELEMENT_BYTES[indices.dtype] == ELEMENT_BYTES["int64"]),
        },
    )
