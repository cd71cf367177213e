"""Elements gathered from anywhere in a tensor by constant tables.

The tables are computed when the model is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from n6build.compile.reference.descriptors import Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Constant, KernelCall, operand

GATHER = kernel_with(
    "gather",
    Member("input", reads("void")),
    Member("output", writes("void")),
    *of_type(reads("uint32_t"), "row_offsets", "column_offsets"),
    Member("blocks", "uint32_t"),
    Member("block_bytes", "uint32_t", note="of the input"),
    *of_type("uint32_t", "rows", "columns", "bytes"),
    doc="For each block of the input, row and column: `bytes` adjacent bytes, row_offsets[row] + column_offsets[column] "
    "bytes behind the block's start.",
)


def gather(
    source: Tensor, output: Tensor, rows: Sequence[int], columns: Sequence[int], *, row_bytes: int, bytes_each: int
) -> KernelCall:
    """Return a call that gathers elements of a tensor.

    The output's size determines the number of blocks.

    Args:
        source: Tensor whose elements are gathered.
        output: Tensor that takes them.
        rows: Indices of the source's rows.
        columns: Indices of elements in a row of the source.
        row_bytes: Bytes of a row of the source.
        bytes_each: Bytes of an element of a row.
    """
    blocks = output.bytes // (len(rows) * len(columns) * bytes_each)
    return KernelCall(
        GATHER,
        {
            "input": operand(source),
            "output": output,
            "row_offsets": _offsets(rows, row_bytes),
            "column_offsets": _offsets(columns, bytes_each),
            "blocks": blocks,
            "block_bytes": source.bytes // blocks,
            "rows": len(rows),
            "columns": len(columns),
            "bytes": bytes_each,
        },
    )


def _offsets(indices: Sequence[int], each: int) -> Constant:
    return Constant("int32", np.array(indices, np.int64) * each)
